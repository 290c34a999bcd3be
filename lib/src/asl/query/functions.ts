// The functions that Step Functions adds to JSONata, and those that must not read this machine's clock or chance. Each has a
// signature, as JSONata's own have, so that what it is called with is checked and worded alike.
import jsonata from "jsonata";
import type { Json } from "../contract.ts";
import { hashHex, isHashAlgorithm } from "../hash.ts";
import { duplicateKey } from "../json.ts";
import { readJson } from "../limits.ts";
import { javaRandom, type Random, randomFrom } from "../random.ts";
import { memoryExceeded } from "./bounds.ts";

type Expression = ReturnType<typeof jsonata>;

interface Moment {
  readonly nowMs: number;
  readonly random: Random;
}

/** No expression can name it. */
const momentName = "the evaluation's own";

/** What the functions of one evaluation read; to be bound with its variables. */
export const momentOf = (nowMs: number, seed: string): Record<string, unknown> => ({
  // Its place is taken by $parse.
  eval: undefined,
  [momentName]: { nowMs, random: randomFrom(seed) } satisfies Moment,
});

interface Called {
  readonly environment: { lookup(name: string): unknown };
}

const momentIn = ({ environment }: Called): Moment => environment.lookup(momentName) as Moment;

export function register(expression: Expression): void {
  expression.registerFunction("now", now, "<s?s?:s>");
  expression.registerFunction("millis", millis, "<:n>");
  expression.registerFunction("random", random, "<n?:n>");
  expression.registerFunction("uuid", uuid, "<:s>");
  expression.registerFunction("partition", partition, "<an?:a>");
  expression.registerFunction("range", range, "<nnn?:a>");
  expression.registerFunction("hash", hash, "<ss?:s>");
  expression.registerFunction("parse", parse, "<s-:x>");
}

const inZone = jsonata("$fromMillis($ms, $picture, $zone)");

function now(this: Called, picture?: string, zone?: string): Promise<unknown> {
  return inZone.evaluate(undefined, { ms: momentIn(this).nowMs, picture, zone });
}

function millis(this: Called): number {
  return momentIn(this).nowMs;
}

function random(this: Called, seed?: number): number {
  return seed === undefined ? momentIn(this).random.next() : javaRandom(Math.trunc(seed));
}

function uuid(this: Called): string {
  return momentIn(this).random.uuid();
}

/** As what `$error` throws is told. */
const fail = (message: string): never => {
  throw Object.assign(new Error(message), { code: "D3137" });
};

/** Nothing where nothing comes of it: no items, or pieces of none. */
function partition(items: readonly unknown[] | undefined, size = items?.length ?? 0): unknown {
  const step = Math.trunc(size);
  if (step < 0) return fail("Second argument must be zero or greater");
  if (items === undefined || items.length === 0 || step === 0) return undefined;
  const chunks: unknown[][] = [];
  for (let i = 0; i < items.length; i += step) chunks.push(items.slice(i, i + step));
  return chunks;
}

const rangeMax = 360_145;

/** A single number is not a list here, as it is none in a path. */
function range(from?: number, to?: number, by?: number): unknown {
  if (from === undefined || to === undefined || by === undefined) return undefined;
  const [first, last, step] = [Math.trunc(from), Math.trunc(to), Math.trunc(by)];
  if (first === last) return first;
  if (step === 0 || step > 0 !== last > first) return undefined;
  const count = Math.floor((last - first) / step) + 1;
  if (count > rangeMax) throw memoryExceeded();
  return count === 1 ? first : Array.from({ length: count }, (_each, i) => first + i * step);
}

function hash(data: string | undefined, algorithm?: string): unknown {
  if (data === undefined || algorithm === undefined) return undefined;
  if (isHashAlgorithm(algorithm)) return hashHex(data, algorithm);
  return fail("The algorithm must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512");
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const value = readOrNothing(text);
  return value === undefined || duplicateKey(text) !== undefined ? fail("Invalid JSON") : value;
}

function readOrNothing(text: string): Json | undefined {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
