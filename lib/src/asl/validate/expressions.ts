// What AWS refuses of JSONata before it runs: what cannot be parsed, and names that stand for nothing there. An expression
// has no input of its own, so that a path must begin at $states or at a variable.
import type { Json } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { expressionOf } from "../query/jsonata.ts";
import { syntaxOf } from "../query/evaluator.ts";
import type { Report } from "./shape.ts";

/** Nested machines are checked as machines of their own. */
const machineFields = new Set(["ItemProcessor", "Iterator", "Branches"]);

/** Reports each expression of a JSONata state that AWS would not take. */
export function checkExpressions(value: Json, at: string, report: Report): void {
  if (typeof value === "string") return checkExpression(value, at, report);
  if (Array.isArray(value))
    return (value as readonly Json[]).forEach((each, i) => checkExpressions(each, `${at}[${i}]`, report));
  if (!isObject(value)) return;
  for (const [key, each] of Object.entries(value))
    if (!machineFields.has(key)) checkExpressions(each, `${at}/${key}`, report);
}

function checkExpression(text: string, at: string, report: Report): void {
  const expression = expressionOf(text);
  if (expression === undefined) {
    if (text.startsWith("{%")) report(at, "JSONata string must start with {% and end with %}");
    return;
  }
  const { fault, ast } = syntaxOf(expression);
  if (fault !== undefined) return report(at, fault, "INVALID_JSONATA_EXPRESSION");
  const isCatch = /\/Catch\[\d+\]/.test(at);
  for (const reference of new Set(unreachable(ast as Node, isCatch)))
    report(at, reference, "UNSUPPORTED_JSONATA_EXPRESSION");
}

interface Node {
  readonly type?: string;
  readonly value?: unknown;
  readonly steps?: readonly Node[];
}

/** What is looked at for the value that stands before it, and so has something to begin at. */
const relative = new Set(["predicate", "stages", "group", "terms", "pattern", "update", "delete"]);

/** Why each name that leads nowhere is refused, in the order in which they stand. */
function unreachable(node: unknown, isCatch: boolean): readonly string[] {
  if (typeof node !== "object" || node === null || node instanceof RegExp) return [];
  if (Array.isArray(node)) return node.flatMap((each) => unreachable(each, isCatch));
  const { type, value, steps } = node as Node;
  if (type === "name") return [`Reference to '${String(value)}' at the top level is not supported.`];
  if (type === "variable" && value === "$") return ["Reference to '$$' is not supported."];
  if (type === "path" && steps) return inPath(steps, isCatch);
  return Object.entries(node).flatMap(([part, inner]) =>
    relative.has(part) || (type === "lambda" && part === "arguments") ? [] : unreachable(inner, isCatch),
  );
}

function inPath([first, second]: readonly Node[], isCatch: boolean): readonly string[] {
  const isError = first?.value === "states" && first.type === "variable" && second?.value === "errorOutput";
  if (isError && !isCatch) return ["Field '$states.errorOutput' does not exist."];
  return unreachable(first, isCatch);
}
