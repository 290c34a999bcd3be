// The name of new work, in the forms in which it stands in code, in SQL and in paths.
import { Script } from "node:vm";

const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const lengthMax = 40;

/** What PostgreSQL takes for a word of its own where a schema is named, and what has a meaning there. */
const sqlWords = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross default deferrable desc distinct do else end except false fetch for foreign freeze from full
  grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp
  natural not notnull null offset on only or order outer overlaps placing primary public references returning right select similar some
  symmetric table tablesample then to trailing true tuntas union unique user using variadic verbose when where window with`.split(
    /\s+/,
  ),
);

export interface Forms {
  /** `parcel-label` */
  readonly words: string;
  /** `parcelLabel` */
  readonly value: string;
  /** `parcel_label` */
  readonly schema: string;
}

export const formsOf = (words: string): Forms => ({
  words,
  value: words.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  schema: words.replaceAll("-", "_"),
});

/** Whether code may declare a value of this name. It is read, never run. */
function mayBeDeclared(value: string): boolean {
  try {
    return Boolean(new Script(`"use strict"; async () => { let ${value}; }`));
  } catch {
    return false;
  }
}

const strings = /\/\/.*|"(?:[^"\\]|\\.)*"|`[^`]*`/g;

/** Why work cannot be called so, where this code is to be written; undefined where it can. */
export function objectionTo(name: string, code: readonly string[]): string | undefined {
  if (!form.test(name) || name.length > lengthMax)
    return `expected a name such as parcel-label (small letters, digits, hyphens between words, at most ${lengthMax}), got ${JSON.stringify(name)}`;
  const { value, schema } = formsOf(name);
  if (sqlWords.has(schema) || /^(pg|current)_|_user$/.test(schema))
    return `${name} is a word of PostgreSQL's; expected a name such as ${name}-work`;
  const taken = code.some((text) => new RegExp(`\\b${value}\\b`).test(text.replaceAll(strings, "")));
  if (taken || !mayBeDeclared(value))
    return `${value} means something else in this code; expected a name such as ${name}-work`;
  return undefined;
}

/** The text with one name in place of another, in all forms. */
export function renamed(text: string, from: string, to: string): string {
  const [before, after] = [formsOf(from), formsOf(to)];
  return text
    .replaceAll(before.words, after.words)
    .replaceAll(before.value, after.value)
    .replaceAll(before.schema, after.schema);
}
