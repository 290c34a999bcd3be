// Choice rules. A rule is compiled into a question about the scope; in JSONPath a path that finds nothing fails the
// state, unless IsPresent asked for it, and a value of another type is simply no match.
import type { Json, JsonObject } from "./contract.ts";
import { queryFailure, runtimeFailure } from "./failure.ts";
import { PathMissing } from "./path/evaluate.ts";
import { compileReference, type Reference } from "./query/jsonpath.ts";
import { expressionOf, jsonata } from "./query/jsonata.ts";
import { type Asking, type Query, type Scope, valueOf } from "./query/query.ts";
import { parseTimestamp } from "../core/timestamp.ts";

export type Condition = (scope: Scope) => boolean;

type Comparison = (left: Json, right: Json) => boolean;

const order: Readonly<Record<string, (left: number | string, right: number | string) => boolean>> = {
  Equals: (left, right) => left === right,
  LessThan: (left, right) => left < right,
  GreaterThan: (left, right) => left > right,
  LessThanEquals: (left, right) => left <= right,
  GreaterThanEquals: (left, right) => left >= right,
};

export type Kind = "String" | "Numeric" | "Timestamp" | "Boolean";

/** The comparable value of a kind, or undefined where the value is of another. */
const comparable: Readonly<Record<Kind, (value: Json) => number | string | undefined>> = {
  String: (value) => (typeof value === "string" ? value : undefined),
  Numeric: (value) => (typeof value === "number" ? value : undefined),
  Timestamp: (value) => (typeof value === "string" ? parseTimestamp(value) : undefined),
  Boolean: (value) => (typeof value === "boolean" ? Number(value) : undefined),
};

function comparison(kind: Kind, relation: string): Comparison {
  const [convert, holds] = [comparable[kind], order[relation]!];
  return (left, right) => {
    const [a, b] = [convert(left), convert(right)];
    return a !== undefined && b !== undefined && holds(a, b);
  };
}

/** Every operator that compares with a value; each but StringMatches also exists with `Path` at its end. */
const comparisons: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ...(["String", "Numeric", "Timestamp"] as const).flatMap((kind) =>
    Object.keys(order).map((relation): [string, Comparison] => [kind + relation, comparison(kind, relation)]),
  ),
  ["BooleanEquals", comparison("Boolean", "Equals")],
  ["StringMatches", (left, right) => typeof left === "string" && matchesWildcards(left, right as string)],
]);

/** Tests of what the variable is; `undefined` stands for a path that finds nothing. */
const typeTests: ReadonlyMap<string, (value: Json) => boolean> = new Map<string, (value: Json) => boolean>([
  ["IsNull", (value) => value === null],
  ["IsString", (value) => typeof value === "string"],
  ["IsNumeric", (value) => typeof value === "number"],
  ["IsBoolean", (value) => typeof value === "boolean"],
  ["IsTimestamp", (value) => typeof value === "string" && parseTimestamp(value) !== undefined],
]);

/** What an operator's operand must be; undefined where there is no such operator. */
export function operandOf(operator: string): Kind | "Path" | undefined {
  if (operator === "IsPresent" || typeTests.has(operator)) return "Boolean";
  if (comparisons.has(operator)) return /^(?:String|Numeric|Timestamp|Boolean)/.exec(operator)![0] as Kind;
  const byPath = operator.endsWith("Path") && operator !== "StringMatchesPath";
  return byPath && comparisons.has(operator.slice(0, -4)) ? "Path" : undefined;
}

export function compileRule(rule: JsonObject): Condition {
  if (rule.And) return every((rule.And as readonly JsonObject[]).map(compileRule));
  if (rule.Or) return some((rule.Or as readonly JsonObject[]).map(compileRule));
  if (rule.Not) {
    const inner = compileRule(rule.Not as JsonObject);
    return (scope) => !inner(scope);
  }
  return compileTest(rule, compileReference(rule.Variable as string));
}

const every =
  (rules: readonly Condition[]): Condition =>
  (scope) =>
    rules.every((rule) => rule(scope));
const some =
  (rules: readonly Condition[]): Condition =>
  (scope) =>
    rules.some((rule) => rule(scope));

function compileTest(rule: JsonObject, variable: Reference): Condition {
  for (const [operator, operand] of Object.entries(rule)) {
    if (operator === "IsPresent") return (scope) => (variable.find(scope) !== undefined) === operand;
    const typeTest = typeTests.get(operator);
    if (typeTest) return (scope) => typeTest(read(variable, scope)) === operand;
    const compare = comparisons.get(operator);
    if (compare) return (scope) => compare(read(variable, scope), operand);
    const byPath = operandOf(operator) === "Path" && comparisons.get(operator.slice(0, -4));
    if (byPath) return comparePaths(variable, compileReference(operand as string), byPath);
  }
  throw new Error(`A choice rule must have an operator: ${JSON.stringify(rule)}`);
}

const comparePaths =
  (left: Reference, right: Reference, compare: Comparison): Condition =>
  (scope) =>
    compare(read(left, scope), read(right, scope));

function read(reference: Reference, scope: Scope): Json {
  try {
    return reference.read(scope);
  } catch (error) {
    if (!(error instanceof PathMissing)) throw error;
    throw runtimeFailure(
      `Invalid path '${reference.text}': The choice state's condition path references an invalid value.`,
    );
  }
}

/** `*` stands for any text, a backslash takes the next character as it is. Two pointers, so that nothing backtracks far. */
export function matchesWildcards(text: string, pattern: string): boolean {
  const tokens = pattern.match(/\\[\s\S]|[\s\S]/g) ?? [];
  let [at, token, star, resume] = [0, 0, -1, 0];
  while (at < text.length) {
    const wanted = tokens[token];
    if (wanted === "*") [star, resume, token] = [token, at, token + 1];
    else if (wanted !== undefined && wanted.at(-1) === text[at]) [at, token] = [at + 1, token + 1];
    else if (star >= 0) [resume, at, token] = [resume + 1, resume + 1, star + 1];
    else return false;
  }
  return tokens.slice(token).every((rest) => rest === "*");
}

/** A JSONata Condition must come to a boolean. */
export function compileCondition(value: Json, location: string): (scope: Scope) => Asking<boolean> {
  const query: Query = jsonata.template(value, location);
  return function* (scope) {
    const result = yield* valueOf(query, scope);
    if (typeof result === "boolean") return result;
    throw queryFailure(unexpectedType(value, location, "boolean", result), location);
  };
}

/** How the service words a result of the wrong type. */
export function unexpectedType(field: Json, location: string, expected: string, value: Json): string {
  const expression = expressionOf(field) ?? (typeof field === "string" ? field : JSON.stringify(field));
  return `The JSONata expression '${expression}' specified for the field '${location}' returned an unexpected result type. Expected '${expected}', but was '${typeName(value)}' for value: ${JSON.stringify(value)}`;
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
