// Whether the texts in a state that are more than texts can be read: paths and intrinsic calls, or JSONata expressions.
import type { Json, JsonObject } from "../contract.ts";
import { CallSyntaxError } from "../intrinsics.ts";
import { isObject } from "../path/evaluate.ts";
import { PathSyntaxError } from "../path/parse.ts";
import { syntaxErrorOf } from "../query/evaluator.ts";
import { expressionOf } from "../query/jsonata.ts";
import { compileReference } from "../query/jsonpath.ts";
import { readPaths } from "./fields.ts";

type Report = (location: string, message: string) => void;

const templates = ["Parameters", "ResultSelector", "ItemSelector", "Assign"];

/** Reports each path and intrinsic call of a JSONPath state that cannot be read. */
export function checkPaths(state: JsonObject, at: string, report: Report): void {
  for (const field of templates)
    if (state[field] !== undefined) checkTemplate(state[field], `${at}/${field}`, report);
  for (const field of readPaths) {
    const path = state[field];
    if (typeof path === "string" && !isReference(path))
      report(`${at}/${field}`, "Value is not a valid JSONPath");
  }
}

function checkTemplate(value: Json, at: string, report: Report): void {
  if (Array.isArray(value))
    return (value as readonly Json[]).forEach((each, i) => checkTemplate(each, `${at}[${i}]`, report));
  if (!isObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    if (!key.endsWith(".$")) checkTemplate(each, `${at}/${key}`, report);
    else if (typeof each !== "string" || !isReference(each)) {
      report(
        at,
        `The value for the field '${key}' must be a valid JSONPath or a valid intrinsic function call`,
      );
    }
  }
}

function isReference(text: string): boolean {
  try {
    compileReference(text);
    return true;
  } catch (error) {
    if (error instanceof PathSyntaxError || error instanceof CallSyntaxError) return false;
    throw error;
  }
}

/** Nested machines are checked as machines of their own. */
const machineFields = new Set(["ItemProcessor", "Iterator", "Branches"]);

/** Reports each expression of a JSONata state that cannot be read. */
export function checkExpressions(value: Json, at: string, report: Report): void {
  const expression = expressionOf(value);
  const fault = expression === undefined ? undefined : syntaxErrorOf(expression);
  if (fault !== undefined) report(at, `JSONata expression has a syntax error: ${fault}`);
  if (Array.isArray(value))
    (value as readonly Json[]).forEach((each, i) => checkExpressions(each, `${at}[${i}]`, report));
  else if (isObject(value)) {
    for (const [key, each] of Object.entries(value))
      if (!machineFields.has(key)) checkExpressions(each, `${at}/${key}`, report);
  }
}
