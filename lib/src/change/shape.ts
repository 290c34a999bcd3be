// Whether all messages of one schema are taken by another, by their JSON Schemas. Pure. What cannot be compared is said to be so:
// a message that is let through by mistake becomes poison in production.
import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "../core/schema.ts";

const list = (value: unknown): readonly JsonSchema[] | undefined =>
  Array.isArray(value) ? (value as JsonSchema[]) : undefined;
const optionsOf = ({ anyOf, oneOf }: JsonSchema) => list(anyOf) ?? list(oneOf);
const typesOf = ({ type }: JsonSchema): readonly string[] =>
  (Array.isArray(type) ? type : type === undefined ? [] : [type]) as string[];
const fieldsOf = ({ properties }: JsonSchema) => (properties ?? {}) as Readonly<Record<string, JsonSchema>>;
const requiredOf = ({ required }: JsonSchema): readonly string[] => (required ?? []) as string[];
const valuesOf = (schema: JsonSchema): readonly unknown[] | undefined =>
  "const" in schema ? [schema.const] : (schema.enum as unknown[] | undefined);

/** Bounds of the taker that the giver must keep, and which of two is the narrower one; the others must be the same. */
const narrower: Readonly<Record<string, (giver: number, taker: number) => boolean>> = {
  minimum: (giver, taker) => giver >= taker,
  exclusiveMinimum: (giver, taker) => giver >= taker,
  minLength: (giver, taker) => giver >= taker,
  minItems: (giver, taker) => giver >= taker,
  maximum: (giver, taker) => giver <= taker,
  exclusiveMaximum: (giver, taker) => giver <= taker,
  maxLength: (giver, taker) => giver <= taker,
  maxItems: (giver, taker) => giver <= taker,
};
const equal = ["pattern", "format", "multipleOf", "allOf", "not", "$ref", "propertyNames", "uniqueItems"];

interface Pair {
  readonly taker: JsonSchema;
  readonly giver: JsonSchema;
  readonly at: string;
}

const placeOf = (at: string): string => (at === "" ? "the message" : at);

function* limitsOf({ taker, giver, at }: Pair): Generator<string> {
  for (const [word, isKept] of Object.entries(narrower)) {
    const [wanted, given] = [taker[word], giver[word]] as [number | undefined, number | undefined];
    if (wanted !== undefined && (given === undefined || !isKept(given, wanted)))
      yield `${placeOf(at)}: ${word} ${wanted} is asked for, ${given ?? "none"} is kept`;
  }
  for (const word of equal)
    if (taker[word] !== undefined && !isDeepStrictEqual(taker[word], giver[word]))
      yield `${placeOf(at)}: ${word} is asked for and not known to be kept`;
}

function* fieldFaults({ taker, giver, at }: Pair): Generator<string> {
  const [taken, given] = [fieldsOf(taker), fieldsOf(giver)];
  const path = (name: string) => (at === "" ? name : `${at}.${name}`);
  for (const name of requiredOf(taker))
    if (!requiredOf(giver).includes(name)) yield `${path(name)}: is required, and may be missing`;
  for (const [name, schema] of Object.entries(given)) {
    if (taken[name]) yield* faults({ taker: taken[name], giver: schema, at: path(name) });
    else if (taker.additionalProperties === false) yield `${path(name)}: is given, and not allowed`;
  }
}

function* ownFaults({ taker, giver, at }: Pair): Generator<string> {
  const [wanted, given] = [valuesOf(taker), valuesOf(giver)];
  if (wanted && !given?.every((value) => wanted.some((each) => isDeepStrictEqual(each, value))))
    yield `${placeOf(at)}: expected ${wanted.map((each) => JSON.stringify(each)).join(", ")}`;
  const types = typesOf(taker);
  const takes = (type: string) => types.includes(type) || (type === "integer" && types.includes("number"));
  if (types.length > 0 && (typesOf(giver).length === 0 || !typesOf(giver).every(takes)))
    return yield `${placeOf(at)}: expected ${types.join(" or ")}, is ${typesOf(giver).join(" or ") || "anything"}`;
  yield* limitsOf({ taker, giver, at });
  yield* fieldFaults({ taker, giver, at });
  if (taker.items)
    yield* faults({
      taker: taker.items as JsonSchema,
      giver: (giver.items ?? {}) as JsonSchema,
      at: `${at}[]`,
    });
}

function* faults({ taker, giver, at }: Pair): Generator<string> {
  if (isDeepStrictEqual(taker, giver)) return;
  const given = optionsOf(giver);
  if (given) {
    for (const each of given) yield* faults({ taker, giver: each, at });
    return;
  }
  const taken = optionsOf(taker)?.map((each) => [...faults({ taker: each, giver, at })]);
  if (taken) yield* taken.toSorted((a, b) => a.length - b.length)[0] ?? [];
  else yield* ownFaults({ taker, giver, at });
}

/** What of a message of `giver` is not taken by `taker`; nothing where each of them is. */
export const unfit = (taker: JsonSchema, giver: JsonSchema): string[] => [
  ...faults({ taker, giver, at: "" }),
];

export const isSameShape = (one: JsonSchema, other: JsonSchema): boolean =>
  unfit(one, other).length === 0 && unfit(other, one).length === 0;

/** Which fields come and go, for a person. */
export function difference(from: JsonSchema, to: JsonSchema): string {
  const [before, after] = [from, to].map((each) => Object.keys(fieldsOf(each))) as [string[], string[]];
  const come = after.filter((name) => !before.includes(name));
  const gone = before.filter((name) => !after.includes(name));
  const said = [...come.map((name) => `+${name}`), ...gone.map((name) => `-${name}`)];
  return said.length === 0 ? "the same fields" : said.join(" ");
}
