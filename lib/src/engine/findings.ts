// What can be wrong with a declaration, said so that it can be mended.
import { inspect } from "node:util";
import { durationText, toMs, type Duration } from "../core/duration.ts";
import { isTuntasError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";

export const dayMs = 86_400_000;

/** What is wrong with a declaration; nothing otherwise. */
export type Finding = string | false | undefined;

export const got = (value: unknown): string => `got ${inspect(value, { depth: 1 })}`;
export const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

export function wrongTime(
  field: string,
  value: unknown,
  [minMs, maxMs]: readonly [number, number],
  example: Duration = "5m",
): Finding {
  const fail = `${field}: expected a duration from ${durationText(minMs)} to ${durationText(maxMs)} such as "${example}", ${got(value)}`;
  try {
    const ms = toMs(value as Duration);
    return (ms < minMs || ms > maxMs) && fail;
  } catch (cause) {
    if (isTuntasError(cause)) return fail;
    throw cause;
  }
}

export const wrongNumber = (field: string, value: unknown, [min, max]: readonly [number, number]): Finding =>
  (!Number.isInteger(value) || (value as number) < min || (value as number) > max) &&
  `${field}: expected a whole number from ${min} to ${max}, ${got(value)}`;

type NameOf<T> = T extends object ? keyof T : never;
type Within<T, Name> = T extends { readonly [N in Name & string]?: infer V }
  ? Element<NonNullable<V>>
  : never;
type Element<V> = V extends readonly (infer E)[] ? E : V;

/**
 * The names of the options of a declaration: true, or the names within. Held against the type of the options by the
 * compiler, both ways: what is left out of it and what is too much in it does not compile.
 */
export type NamesOf<T> = {
  readonly [Name in NameOf<T> & string]: true | NamesOf<Within<T, Name>>;
};

type Names = { readonly [name: string]: true | Names };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function unknownName(field: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `${field}: there is no such option; ${meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

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
