// JSONata states: every string `{% … %}` is an expression, anything else a literal. Plain paths over objects are read
// here at once; everything else is asked of the evaluator.
import type { Json, JsonObject } from "../contract.ts";
import { queryFailure, StateFailure } from "../failure.ts";
import { isObject } from "../path/evaluate.ts";
import { isBounded } from "./evaluator.ts";
import { type Asking, literal, type Query, type QueryLanguage, type Scope, setField } from "./query.ts";

const marked = /^\{%([\s\S]*)%\}$/;

/** The text between the marks, or undefined where the string is a literal. */
export const expressionOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? marked.exec(value)?.[1]?.trim() : undefined;

export const jsonata: QueryLanguage = {
  name: "JSONata",
  template: (value, location) => compileTemplate(value, location),
};

function compileTemplate(value: Json, location: string): Query {
  if (Array.isArray(value)) return arrayTemplate(value as readonly Json[], location);
  if (isObject(value)) return objectTemplate(value, location);
  const expression = expressionOf(value);
  return expression === undefined ? literal(value) : expressionQuery(expression, location);
}

function arrayTemplate(items: readonly Json[], location: string): Query {
  const compiled = items.map((item, i) => compileTemplate(item, `${location}[${i}]`));
  if (compiled.every((item) => item.literal)) return literal(items);
  return {
    *later(scope) {
      const result: Json[] = [];
      for (const item of compiled) result.push(item.now ? item.now(scope) : yield* item.later!(scope));
      return result;
    },
  };
}

function objectTemplate(template: JsonObject, location: string): Query {
  const fields = Object.entries(template).map(([key, value]) => ({
    key,
    query: compileTemplate(value, `${location}/${key}`),
  }));
  if (fields.every(({ query }) => query.literal)) return literal(template);
  return {
    *later(scope) {
      const result: Record<string, Json> = {};
      for (const { key, query } of fields)
        setField(result, key, query.now ? query.now(scope) : yield* query.later!(scope));
      return result;
    },
  };
}

function expressionQuery(expression: string, location: string): Query {
  const steps = plainPath(expression);
  const bounded = isBounded(expression);
  return {
    *later(scope) {
      const found = steps && readPlain(steps, scope);
      return found ?? (yield* evaluate({ expression, location, bounded }, scope));
    },
  };
}

interface Expression {
  readonly expression: string;
  readonly location: string;
  readonly bounded: boolean;
}

function* evaluate({ expression, location, bounded }: Expression, scope: Scope): Asking<Json> {
  const prefix = `The JSONata expression '${expression}' specified for the field '${location}'`;
  let value: unknown;
  try {
    value = yield {
      expression,
      bounded,
      bindings: bindingsOf(scope),
      nowMs: scope.nowMs,
      seed: scope.random.uuid(),
    };
  } catch (error) {
    if (error instanceof StateFailure) throw error;
    throw queryFailure(`${prefix} threw an error during evaluation. ${describe(error)}`, location);
  }
  if (value === undefined) throw queryFailure(`${prefix} returned nothing (undefined).`, location);
  const json = asJson(value);
  if (json === undefined) throw queryFailure(`${prefix} returned an unsupported result type.`, location);
  return json;
}

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code === undefined ? String(message) : `${code}: ${message}`;
}

function bindingsOf(scope: Scope): Record<string, unknown> {
  return { ...scope.variables(), states: statesOf(scope) };
}

function statesOf(scope: Scope): JsonObject {
  const states: Record<string, Json> = { input: scope.input, context: scope.context() };
  if (scope.result !== undefined) states.result = scope.result;
  if (scope.errorOutput !== undefined) states.errorOutput = scope.errorOutput;
  return states;
}

/** Plain data out of a result, or undefined where it holds what JSON cannot, a function say. */
function asJson(value: unknown): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (Array.isArray(value)) return asArray(value);
  if (
    typeof value !== "object" ||
    value === null ||
    "_jsonata_function" in value ||
    "_jsonata_lambda" in value
  )
    return undefined;
  return asObject(value);
}

function asArray(value: readonly unknown[]): Json | undefined {
  const items: Json[] = [];
  for (const each of value) {
    const item = asJson(each);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function asObject(value: object): Json | undefined {
  const result: Record<string, Json> = {};
  for (const [key, each] of Object.entries(value)) {
    const item = asJson(each);
    if (item === undefined) return undefined;
    setField(result, key, item);
  }
  return result;
}

const plain = /^\$[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;
const keywords = new Set(["and", "or", "in"]);

/** The names of `$a.b.c`, or undefined for anything richer. */
function plainPath(expression: string): readonly string[] | undefined {
  if (!plain.test(expression)) return undefined;
  const steps = expression.slice(1).split(".");
  return steps.some((step) => keywords.has(step)) ? undefined : steps;
}

/** Follows a plain path through objects; arrays on the way, and whatever is missing, are left to JSONata. */
function readPlain([first, ...rest]: readonly string[], scope: Scope): Json | undefined {
  if (first === "states") return readStates(rest, scope);
  return follow(scope.variable(first!), rest);
}

function readStates([field, ...rest]: readonly string[], scope: Scope): Json | undefined {
  if (field === undefined) return statesOf(scope);
  if (field === "input") return follow(scope.input, rest);
  if (field === "result") return follow(scope.result, rest);
  if (field === "errorOutput") return follow(scope.errorOutput, rest);
  return field === "context" ? follow(scope.context(), rest) : undefined;
}

function follow(start: Json | undefined, steps: readonly string[]): Json | undefined {
  let value = start;
  for (const step of steps) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
