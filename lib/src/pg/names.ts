// Names for statements that are not ours: a handler says the same few texts again and again, and a prepared one saves its
// parsing, which is two thirds of a short insert. A text gets its name when it comes a second time, so that what is made
// anew for each call takes no place.

const namedMax = 100;
const seenMax = 1000;
const lengthMax = 4000;

export interface Names {
  /** The name under which a session may keep the statement prepared; undefined where it should not. */
  of(text: string): string | undefined;
  /** From now on the text has another name: what sessions keep under the old one is of no use any more. */
  renew(text: string): void;
}

export function makeNames(): Names {
  const named = new Map<string, string>();
  const seen = new Set<string>();
  let made = 0;

  function add(text: string): string {
    const name = `given_${++made}`;
    named.set(text, name);
    return name;
  }

  return {
    of(text) {
      const known = named.get(text);
      if (known !== undefined || named.size >= namedMax || text.length > lengthMax) return known;
      if (seen.delete(text)) return add(text);
      if (seen.size >= seenMax) seen.clear();
      seen.add(text);
      return undefined;
    },
    renew: (text) => void (named.has(text) && add(text)),
  };
}
