// JSONPath states: reference paths into the input ($), the context object ($$) and variables ($name), intrinsic calls,
// and templates whose keys end in `.$`.
import type { Json, JsonObject } from "../contract.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { type Argument, type Call, callIntrinsic, parseCall } from "../intrinsics.ts";
import { findPath, isObject, PathMissing, readPath } from "../path/evaluate.ts";
import { parseSegments, type Path } from "../path/parse.ts";
import { literal, type Query, type QueryLanguage, type Scope, setField } from "./query.ts";

/** A path or an intrinsic call, ready to be read. */
export interface Reference {
  readonly text: string;
  /** Throws PathMissing where a definite path finds nothing. */
  read(scope: Scope): Json;
  /** Undefined there instead. */
  find(scope: Scope): Json | undefined;
}

type Root = (scope: Scope) => Json | undefined;

/** Compiles a path ($…, $$…, $name…) or a call (States.…). Throws PathSyntaxError or CallSyntaxError. */
export function compileReference(text: string): Reference {
  return text.startsWith("$") ? pathReference(text) : callReference(text);
}

function pathReference(text: string): Reference {
  const { root, path } = rooted(text);
  return {
    text,
    read: (scope) => readPath(path, present(root(scope), path)),
    find: (scope) => {
      const value = root(scope);
      return value === undefined ? undefined : findPath(path, value);
    },
  };
}

function present(value: Json | undefined, path: Path): Json {
  if (value === undefined) throw new PathMissing(`No results for path: ${path.text}`);
  return value;
}

function rooted(text: string): { root: Root; path: Path } {
  if (text.startsWith("$$")) return { root: (scope) => scope.context(), path: parseSegments(text, 2) };
  const name = /^\$([\p{L}_][\p{L}\p{N}_]*)/u.exec(text)?.[1];
  if (name === undefined) return { root: (scope) => scope.input, path: parseSegments(text, 1) };
  return {
    root: (scope) => scope.variable(name),
    path: parseSegments(text, 1 + name.length),
  };
}

function callReference(text: string): Reference {
  const evaluate = compileCall(parseCall(text.trim()));
  const named = (scope: Scope): Json => {
    try {
      return evaluate(scope);
    } catch (error) {
      throw error instanceof StateFailure ? inFunction(text, error) : error;
    }
  };
  return { text, read: named, find: named };
}

const inFunction = (text: string, { failure, options }: StateFailure): StateFailure =>
  new StateFailure(
    { ...failure, cause: `The function '${text}' had the following error: ${failure.cause}` },
    options,
  );

function compileCall(call: Call): (scope: Scope) => Json {
  const args = call.args.map(compileArgument);
  return (scope) =>
    callIntrinsic(
      call.name,
      args.map((arg) => arg(scope)),
      scope.random,
    );
}

function compileArgument(argument: Argument): (scope: Scope) => Json {
  if (argument.kind === "literal") return () => argument.value;
  if (argument.kind === "call") return compileCall(argument.call);
  const { text, find } = pathReference(argument.text);
  return (scope) => {
    const value = find(scope);
    if (value !== undefined) return value;
    const input = JSON.stringify(scope.input);
    throw runtimeFailure(
      `The JsonPath argument for the field '${text}' could not be found in the input '${input}'`,
    );
  };
}

const read = (reference: Reference, scope: Scope): Json => {
  try {
    return reference.read(scope);
  } catch (error) {
    if (!(error instanceof PathMissing)) throw error;
    throw runtimeFailure(`Invalid path '${reference.text}' : ${error.message}`);
  }
};

/** A path field such as InputPath: null means an empty object, absence means the whole. */
export function pathField(value: Json | undefined): Query | undefined {
  if (value === undefined || value === "$") return undefined;
  if (value === null) return { now: () => ({}) };
  const reference = compileReference(value as string);
  return { now: (scope) => read(reference, scope) };
}

/** A field whose path must lead somewhere; the message names field, path and input. */
export function namedPath(text: string, fieldName: string): Query {
  const reference = compileReference(text);
  return { now: (scope) => readNamed(reference, scope, fieldName) };
}

function readNamed(reference: Reference, scope: Scope, fieldName: string): Json {
  try {
    return reference.read(scope);
  } catch (error) {
    if (!(error instanceof PathMissing)) throw error;
    const { text } = reference;
    throw runtimeFailure(
      `The JSONPath '${text}' specified for the field '${fieldName}' could not be found in the input '${JSON.stringify(scope.input)}'`,
    );
  }
}

export const jsonPath: QueryLanguage = {
  name: "JSONPath",
  template: (value) => compileTemplate(value),
};

function compileTemplate(value: Json): Query {
  if (Array.isArray(value)) return arrayTemplate(value as readonly Json[]);
  return isObject(value) ? objectTemplate(value) : literal(value);
}

function arrayTemplate(items: readonly Json[]): Query {
  const compiled = items.map(compileTemplate);
  if (compiled.every((item) => item.literal)) return literal(items);
  return { now: (scope) => compiled.map((item) => item.now!(scope)) };
}

function objectTemplate(template: JsonObject): Query {
  const fields = Object.entries(template).map(([key, value]) => {
    const dynamic = key.endsWith(".$") && typeof value === "string";
    return dynamic
      ? { key: key.slice(0, -2), query: namedPath(value, key) }
      : { key, query: compileTemplate(value) };
  });
  if (fields.every(({ query }) => query.literal)) return literal(template);
  return {
    now: (scope) => {
      const result: Record<string, Json> = {};
      for (const { key, query } of fields) setField(result, key, query.now!(scope));
      return result;
    },
  };
}
