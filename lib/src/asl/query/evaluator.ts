// Evaluates JSONata, with what Step Functions adds to it and without $eval. An expression that could run away is told
// from one that cannot, so that an engine can run the former in a process of its own and end it.
import jsonata from "jsonata";
import type { Evaluation, Evaluator } from "../contract.ts";
import { hashHex, isHashAlgorithm } from "../hash.ts";
import { readJson } from "../limits.ts";
import { javaRandom, randomFrom } from "../random.ts";

type Expression = ReturnType<typeof jsonata>;

const cacheMax = 2_000;
const cache = new Map<string, Expression>();

/** Parsed expressions are kept: a definition's few are evaluated again and again. */
function parsed(expression: string): Expression {
  const known = cache.get(expression);
  if (known) return known;
  if (cache.size >= cacheMax) cache.clear();
  const fresh = jsonata(expression);
  cache.set(expression, fresh);
  return fresh;
}

/** Why the expression cannot be parsed, or undefined. */
export function syntaxErrorOf(expression: string): string | undefined {
  try {
    parsed(expression);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A variable of the expression's own can be named twice in the next one, and so on: what is made doubles each time. */
const unboundedNodes = new Set(["lambda", "regex", "transform", "partial", "bind", "sort"]);
/** Those whose work grows with the square of a list, or with a number; JSONata's sort is one of them. */
const unboundedFunctions = new Set(["pad", "range", "eval", "sort", "distinct", "zip", "formatBase"]);

/**
 * Whether its work is bounded by its input: no functions or variables of its own, no patterns, no ranges, and nothing but
 * the item itself is looked at for each item of a list. `$states.input.($states.input.(…))` is a loop in a loop for each step.
 */
export function isBounded(expression: string): boolean {
  // Descendants of descendants are many more than there are values.
  if (expression.split("**").length > 2) return false;
  try {
    return isBoundedNode(parsed(expression).ast(), false);
  } catch {
    return true;
  }
}

/** Parts of a node that are evaluated once for each item. */
const perItem = new Set(["predicate", "stages", "group", "terms"]);

function isBoundedNode(node: unknown, inLoop: boolean): boolean {
  if (typeof node !== "object" || node === null) return true;
  if (node instanceof RegExp) return false;
  const { type, value } = node as { type?: string; value?: unknown };
  if (type !== undefined && unboundedNodes.has(type)) return false;
  if (type === "binary" && value === "..") return false;
  if (type === "variable") return isBoundedVariable(value as string, inLoop);
  return Object.entries(node).every(([part, inner]) => isBoundedPart(part, inner, inLoop));
}

// Named anywhere, not only called: a function can be kept in a variable or handed to another. `$` alone is the item.
const isBoundedVariable = (name: string, inLoop: boolean): boolean =>
  !unboundedFunctions.has(name) && (name === "" || !inLoop);

function isBoundedPart(part: string, inner: unknown, inLoop: boolean): boolean {
  if (part === "procedure") return isBoundedNode(inner, false);
  if (part === "steps" && Array.isArray(inner))
    return inner.every((step, index) => isBoundedNode(step, inLoop || index > 0));
  return isBoundedNode(inner, inLoop || perItem.has(part));
}

/** Evaluates in this thread, however long it takes. */
export const evaluateHere: Evaluator = ({ expression, bindings, nowMs, seed }: Evaluation) =>
  parsed(expression).evaluate(undefined, { ...additions(nowMs, seed), ...bindings });

const fail = (name: string, message: string): never => {
  throw Object.assign(new Error(`Invalid argument to $${name}: ${message}`), { code: "States.JSONata" });
};

const inZone = jsonata("$fromMillis($ms, $picture, $zone)");

/** The functions that Step Functions adds, and those that must not read this machine's clock or chance. */
function additions(nowMs: number, seed: string): Record<string, unknown> {
  const random = randomFrom(seed);
  return {
    eval: undefined,
    now: (picture?: string, zone?: string) => inZone.evaluate(undefined, { ms: nowMs, picture, zone }),
    millis: () => nowMs,
    random: (from?: number) => (from === undefined ? random.next() : javaRandom(from)),
    uuid: () => random.uuid(),
    partition,
    range,
    hash,
    parse,
  };
}

function partition(items: unknown, size: unknown): unknown {
  if (items === undefined || size === undefined) return undefined;
  if (!Array.isArray(items)) return fail("partition", "the first must be an array");
  if (typeof size !== "number" || Math.trunc(size) < 1)
    return fail("partition", "the chunk size must be a positive number");
  const step = Math.trunc(size);
  const chunks: unknown[][] = [];
  for (let i = 0; i < items.length; i += step) chunks.push(items.slice(i, i + step) as unknown[]);
  return chunks;
}

const rangeMax = 1_000_000;

function range(from: unknown, to: unknown, step: unknown): unknown {
  if ([from, to, step].some((each) => typeof each !== "number"))
    return fail("range", "three numbers are expected");
  const [first, last, by] = [from as number, to as number, step as number];
  if (by === 0) return fail("range", "the step must not be zero");
  const count = Math.max(0, Math.floor((last - first) / by) + 1);
  if (count > rangeMax) return fail("range", `at most ${rangeMax} elements are made`);
  return Array.from({ length: count }, (_each, i) => first + i * by);
}

function hash(data: unknown, algorithm: unknown): unknown {
  if (data === undefined) return undefined;
  if (!isHashAlgorithm(algorithm))
    return fail("hash", "the algorithm must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512");
  return hashHex(typeof data === "string" ? data : JSON.stringify(data), algorithm);
}

function parse(text: unknown): unknown {
  if (text === undefined) return undefined;
  if (typeof text !== "string") return fail("parse", "a string is expected");
  return text.trim() === "" ? null : readJson(text);
}
