// What can be wrong with a declaration, said so that it can be mended.
import { inspect } from "node:util";
import { durationText, toMs, type Duration } from "../core/duration.ts";
import { isTuntasError } from "../core/error.ts";

export const dayMs = 86_400_000;

/** What is wrong with a declaration; nothing otherwise. */
export type Finding = string | false | undefined;

export const got = (value: unknown): string => `got ${inspect(value, { depth: 1 })}`;
export const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** `expected` is what a name may be: "up to 48 letters, digits and hyphens". */
export const wrongName = (name: unknown, form: RegExp, expected: string): Finding =>
  (typeof name !== "string" || !form.test(name)) &&
  `expected a name of ${expected}, got ${JSON.stringify(name)}`;

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
