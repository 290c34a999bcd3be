// Options that nobody knows would be ignored, and in plain JavaScript nothing else says so: they are refused, each with the one
// that was probably meant.
import { catalogue } from "./error.ts";
import { meantHint } from "./nearest.ts";

export const optionErrors = catalogue({
  TUNTAS_OPTION_UNKNOWN: {
    meaning: "A function was given an option that it does not know and would ignore.",
    remedy: "Correct its name as the message says, or leave it out.",
  },
});

type NameOf<T> = T extends object ? keyof T : never;
type Within<T, Name> = T extends { readonly [N in Name & string]?: infer V }
  ? Element<NonNullable<V>>
  : never;
type Element<V> = V extends readonly (infer E)[] ? E : V;

/**
 * The names of the options of a declaration or function: true, or the names within. Held against the type of the options by
 * the compiler, both ways: what is left out of it and what is too much in it does not compile.
 */
export type NamesOf<T> = {
  readonly [Name in NameOf<T> & string]: true | NamesOf<Within<T, Name>>;
};

type Names = { readonly [name: string]: true | Names };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const unknownName = (field: string, name: string, known: readonly string[]): string =>
  `${field}: there is no such option${meantHint(name, known) || `; known are ${known.join(", ")}`}`;

/** Options that the declaration does not know, which would be ignored: each with the one that was probably meant. */
export function* unknownOptions(options: unknown, names: Names, at = ""): Generator<string> {
  if (Array.isArray(options)) for (const each of options) yield* unknownOptions(each, names, at);
  else if (isRecord(options))
    for (const [name, value] of Object.entries(options)) {
      const field = `${at}${name}`;
      const within = Object.hasOwn(names, name) ? names[name] : undefined;
      if (within === undefined) yield unknownName(field, name, Object.keys(names));
      else if (within !== true) yield* unknownOptions(value, within, `${field}.`);
    }
}

/** Whether there is nothing to look at more closely: this is asked at each send. */
function areKnown(options: object, names: Names): boolean {
  for (const name in options) if (!Object.hasOwn(names, name) || names[name] !== true) return false;
  return true;
}

/** Errors: TUNTAS_OPTION_UNKNOWN, which names all of them. */
export function refuseUnknown(what: string, options: object | undefined, names: Names): void {
  if (!options || areKnown(options, names)) return;
  const found = [...unknownOptions(options, names)];
  if (found.length > 0) throw optionErrors.error("TUNTAS_OPTION_UNKNOWN", `${what}: ${found.join("; ")}`);
}
