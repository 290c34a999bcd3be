// JSONPath states: reference paths into the input ($), the context object ($$) and variables ($name), intrinsic calls,
// and templates whose keys end in `.$`.
import type { Json, JsonObject } from "../contract.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { type Argument, type Call, callIntrinsic, parseCall } from "../intrinsics.ts";
import { findPath, isObject, PathMissing, readPath } from "../path/evaluate.ts";
import { parseSegments, type Path } from "../path/parse.ts";
import { setField } from "../json.ts";
import { literal, type Query, type QueryLanguage, type Scope } from "./query.ts";
import { Room } from "./room.ts";

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
  const evaluate = compileCall(parseCall(text.trim()), text.length > unmeasuredMax);
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

/** A call of so many characters cannot name its input often enough to make too much of it. */
const unmeasuredMax = 100;

function compileCall(call: Call, measured: boolean): (scope: Scope) => Json {
  const args = call.args.map((arg) => compileArgument(arg, measured));
  return (scope) => {
    const room = measured ? new Room() : undefined;
    const values = args.map((arg) => {
      const value = arg(scope);
      room?.take(value);
      return value;
    });
    return callIntrinsic(call.name, values, scope.random);
  };
}

function compileArgument(argument: Argument, measured: boolean): (scope: Scope) => Json {
  if (argument.kind === "literal") return () => argument.value;
  if (argument.kind === "call") return compileCall(argument.call, measured);
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

/** A part of a template: a literal, or what fills it in. */
interface Part {
  readonly literal?: { readonly value: Json };
  readonly fill: (scope: Scope, room: Room | undefined) => Json;
  /** How many references stand in it. */
  readonly references: number;
}

export const jsonPath: QueryLanguage = { name: "JSONPath", template };

/** So many references cannot make more than some megabytes, which need not be measured. */
const referencesUnmeasured = 16;

function template(value: Json): Query {
  const { literal: known, fill, references } = compilePart(value);
  if (known) return literal(value);
  if (references <= referencesUnmeasured) return { now: (scope) => fill(scope, undefined) };
  return { now: (scope) => fill(scope, new Room()) };
}

function compilePart(value: Json): Part {
  if (Array.isArray(value)) return arrayPart(value as readonly Json[]);
  return isObject(value) ? objectPart(value) : literalPart(value);
}

const literalPart = (value: Json): Part => ({ literal: { value }, fill: () => value, references: 0 });

const sum = (parts: readonly Part[]): number => parts.reduce((total, part) => total + part.references, 0);

function arrayPart(items: readonly Json[]): Part {
  const parts = items.map(compilePart);
  if (parts.every((part) => part.literal)) return literalPart(items);
  return { fill: (scope, room) => parts.map((part) => part.fill(scope, room)), references: sum(parts) };
}

function referencePart(text: string, key: string): Part {
  const query = namedPath(text, key);
  return {
    references: 1,
    fill(scope, room) {
      const value = query.now!(scope);
      room?.take(value);
      return value;
    },
  };
}

function objectPart(from: JsonObject): Part {
  const fields = Object.entries(from).map(([key, value]) => {
    const dynamic = key.endsWith(".$") && typeof value === "string";
    return dynamic
      ? { key: key.slice(0, -2), part: referencePart(value, key) }
      : { key, part: compilePart(value) };
  });
  const parts = fields.map(({ part }) => part);
  if (parts.every((part) => part.literal)) return literalPart(from);
  return {
    references: sum(parts),
    fill: (scope, room) => {
      const result: Record<string, Json> = {};
      for (const { key, part } of fields) setField(result, key, part.fill(scope, room));
      return result;
    },
  };
}
