// JSONata states: every string `{% … %}` is an expression, anything else a literal. Plain paths over objects are read
// here at once; everything else is asked of the evaluator.
import type { Json, JsonObject } from "../contract.ts";
import { queryFailure, StateFailure } from "../failure.ts";
import { isObject } from "../path/evaluate.ts";
import { isBounded } from "./evaluator.ts";
import { asJson } from "./plain.ts";
import { setField } from "../json.ts";
import { type Asking, literal, type Query, type QueryLanguage, type Scope } from "./query.ts";
import { Room } from "./room.ts";

const marked = /^\{%([\s\S]*)%\}$/;

/** The text between the marks, or undefined where the string is a literal. */
export const expressionOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? marked.exec(value)?.[1]?.trim() : undefined;

/** A part of a template: a literal, or what fills it in. */
interface Part {
  readonly literal?: { readonly value: Json };
  readonly fill: (scope: Scope, room: Room) => Asking<Json>;
}

export const jsonata: QueryLanguage = { name: "JSONata", template };

function template(value: Json, location: string): Query {
  const part = compilePart(value, location);
  if (part.literal) return literal(value);
  return { later: (scope) => part.fill(scope, new Room()) };
}

function compilePart(value: Json, location: string): Part {
  if (Array.isArray(value)) return arrayPart(value as readonly Json[], location);
  if (isObject(value)) return objectPart(value, location);
  const expression = expressionOf(value);
  return expression === undefined ? literalPart(value) : expressionPart(expression, location);
}

const literalPart = (value: Json): Part => ({
  literal: { value },
  // eslint-disable-next-line require-yield
  *fill() {
    return value;
  },
});

function arrayPart(items: readonly Json[], location: string): Part {
  const parts = items.map((item, i) => compilePart(item, `${location}[${i}]`));
  if (parts.every((part) => part.literal)) return literalPart(items);
  return {
    *fill(scope, room) {
      const result: Json[] = [];
      for (const part of parts) result.push(yield* part.fill(scope, room));
      return result;
    },
  };
}

function objectPart(from: JsonObject, location: string): Part {
  const fields = Object.entries(from).map(([key, value]) => ({
    key,
    part: compilePart(value, `${location}/${key}`),
  }));
  if (fields.every(({ part }) => part.literal)) return literalPart(from);
  return {
    *fill(scope, room) {
      const result: Record<string, Json> = {};
      for (const { key, part } of fields) setField(result, key, yield* part.fill(scope, room));
      return result;
    },
  };
}

function expressionPart(expression: string, location: string): Part {
  const steps = plainPath(expression);
  const asked = { expression, location, bounded: isBounded(expression) };
  return {
    *fill(scope, room) {
      const found = steps && readPlain(steps, scope);
      if (found === undefined) return yield* evaluate(asked, scope, room);
      room.take(found);
      return found;
    },
  };
}

interface Expression {
  readonly expression: string;
  readonly location: string;
  readonly bounded: boolean;
}

function* evaluate({ expression, location, bounded }: Expression, scope: Scope, room: Room): Asking<Json> {
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
    throw queryFailure(`${prefix} threw an error during evaluation${describe(error)}`, location);
  }
  if (value === undefined) throw queryFailure(`${prefix} returned nothing (undefined).`, location);
  const json = asJson(value, room);
  if (json === undefined) throw queryFailure(`${prefix} returned an unsupported result type.`, location);
  return json;
}

/** A coded error is a sentence of its own, a bound that was exceeded is not. */
function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code === undefined ? `: ${message}` : `. ${code}: ${message}`;
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
