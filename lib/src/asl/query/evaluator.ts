// Evaluates JSONata, with what Step Functions adds to it and without $eval. An expression that could run away is told
// from one that cannot, so that an engine can run the former in a process of its own and end it.
import jsonata from "jsonata";
import type { Evaluation, Evaluator } from "../contract.ts";
import { isTooNested, measureEach, nestingExceeded } from "./bounds.ts";
import { momentOf, register } from "./functions.ts";

interface Parsed {
  readonly ast: unknown;
  evaluate(input: undefined, bindings: Record<string, unknown>): Promise<unknown>;
}

const cacheMax = 2_000;
const cache = new Map<string, Parsed>();

/** Parsed expressions are kept: a definition's few are evaluated again and again. */
function parsed(expression: string): Parsed {
  const known = cache.get(expression);
  if (known) return known;
  if (cache.size >= cacheMax) cache.clear();
  const fresh = parse(expression);
  cache.set(expression, fresh);
  return fresh;
}

function parse(expression: string): Parsed {
  const ready = jsonata(expression);
  const ast: unknown = ready.ast();
  if (isTooNested(ast)) return { ast, evaluate: () => Promise.reject(nestingExceeded()) };
  register(ready);
  if (!isBoundedNode(ast, false)) measureEach(ready);
  return { ast, evaluate: ready.evaluate };
}

/** What the expression is made of, or why it cannot be parsed. */
export function syntaxOf(expression: string): { readonly ast?: unknown; readonly fault?: string } {
  try {
    return { ast: parsed(expression).ast };
  } catch (error) {
    return { fault: (error as Error).message };
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
    return isBoundedNode(parsed(expression).ast, false);
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
  parsed(expression).evaluate(undefined, { ...momentOf(nowMs, seed), ...bindings });
