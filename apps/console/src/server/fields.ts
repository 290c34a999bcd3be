// What came in a query string or a body, taken out field by field. Whatever does not fit is refused by name.
import type { Attribute } from "tuntas/queue";
import { consoleErrors } from "../contract.ts";

export interface Fields {
  /** A text that must be there. */
  text(name: string): string;
  /** A text, or undefined where it is missing or empty. */
  optional(name: string): string | undefined;
  oneOf<T extends string>(name: string, values: readonly T[]): T;
  /** The same, or undefined where it is missing or empty. */
  choice<T extends string>(name: string, values: readonly T[]): T | undefined;
  /** A whole number in the range, or undefined where it is missing or empty. */
  integer(name: string, range: Range): number | undefined;
  /** A whole number in the range, which must be there. */
  whole(name: string, range: Range): number;
  /** The number of a row, which must be there. As text, since it may be beyond 2^53. */
  id(name: string): string;
  /** The same, or undefined where it is missing or empty. */
  optionalId(name: string): string | undefined;
  /** The same of several. */
  ids(name: string): readonly string[] | undefined;
  flag(name: string): boolean;
  texts(name: string): readonly string[] | undefined;
  /** Texts by their names; nothing where it is missing. */
  named(name: string): Readonly<Record<string, string>>;
  /** Message attributes; undefined where it is missing. Whether each fits its type says the queue. */
  attributes(name: string): Readonly<Record<string, string | Attribute>> | undefined;
}

interface Range {
  readonly min: number;
  readonly max: number;
}

const textCharsMax = 2_000_000;
const idForm = /^\d{1,18}$/;

const wrong = (name: string, expected: string, got: unknown) =>
  consoleErrors.error(
    "TUNTAS_CONSOLE_REQUEST",
    `${name}: expected ${expected}, got ${(JSON.stringify(got) ?? "nothing").slice(0, 100)}`,
  );

export function makeFields(values: Readonly<Record<string, unknown>>): Fields {
  const read = (name: string): unknown => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === "" || value === null ? undefined : value;
  };

  function optional(name: string): string | undefined {
    const value = read(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string" || value.length > textCharsMax) throw wrong(name, "text", value);
    return value;
  }

  function text(name: string): string {
    const value = optional(name);
    if (value === undefined) throw wrong(name, "text", value);
    return value;
  }

  function record<T>(name: string, expected: string, fits: (each: unknown) => boolean) {
    const value = read(name);
    if (value === undefined) return undefined;
    const entries = typeof value === "object" && !Array.isArray(value) ? Object.entries(value!) : undefined;
    if (entries && entries.length <= 100 && entries.every(([, each]) => fits(each)))
      return Object.fromEntries(entries) as Record<string, T>;
    throw wrong(name, expected, value);
  }

  function oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = read(name);
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw wrong(name, `one of ${allowed.join(", ")}`, value);
    return found;
  }

  function whole(name: string, { min, max }: Range): number {
    const value = read(name);
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max)
      return number;
    throw wrong(name, `a whole number from ${min} to ${max}`, value);
  }

  function id(name: string): string {
    const value = text(name);
    if (idForm.test(value)) return value;
    throw wrong(name, "a number", value);
  }

  function texts(name: string): readonly string[] | undefined {
    const value = read(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length <= 10_000 && value.every((each) => typeof each === "string"))
      return value;
    throw wrong(name, "a list of texts", value);
  }

  return {
    text,
    optional,
    oneOf,
    choice: (name, values) => (read(name) === undefined ? undefined : oneOf(name, values)),
    integer: (name, range) => (read(name) === undefined ? undefined : whole(name, range)),
    whole,
    id,
    optionalId: (name) => (read(name) === undefined ? undefined : id(name)),
    ids(name) {
      const values = texts(name);
      if (values?.every((each) => idForm.test(each)) ?? true) return values;
      throw wrong(name, "a list of numbers", values);
    },
    flag(name) {
      const value = read(name);
      return value === true || value === "true";
    },
    texts,
    named: (name) => record(name, "texts by their names", (each) => typeof each === "string") ?? {},
    attributes: (name) =>
      record(name, "texts, or type and value, by their names", (each) => {
        if (typeof each === "string") return true;
        return typeof each === "object" && each !== null && !Array.isArray(each);
      }),
  };
}
