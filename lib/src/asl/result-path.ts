// ResultPath: where a result goes in a state's input. `$` replaces it, null drops the result, a path sets a field.
import type { Json, JsonObject } from "./contract.ts";
import { StateFailure } from "./failure.ts";
import { isObject } from "./path/evaluate.ts";
import { parseSegments, PathSyntaxError } from "./path/parse.ts";
import { setField } from "./json.ts";

/** Whether a path can name one place only: fields and indexes lead to it. */
export function namesOneNode(path: string): boolean {
  try {
    const start = /^\$(?:\$|[\p{L}_][\p{L}\p{N}_]*)?/u.exec(path)![0].length;
    return parseSegments(path, start).segments.every(({ kind }) => kind === "field" || kind === "index");
  } catch (error) {
    if (error instanceof PathSyntaxError) return false;
    throw error;
  }
}

export type ResultPath = (input: Json, result: Json) => Json;

export function compileResultPath(value: Json | undefined): ResultPath {
  if (value === undefined || value === "$") return (_input, result) => result;
  if (value === null) return (input) => input;
  const text = value as string;
  const { segments } = parseSegments(text, 1);
  const steps = segments.map((segment) => {
    if (segment.kind === "field") return segment.name;
    if (segment.kind === "index") return segment.index;
    throw new PathSyntaxError(`ResultPath '${text}' must be a reference path`);
  });
  return (input, result) => put(input, steps, result, text);
}

/** Copies what it changes, so that the input is left as it was. */
function put(
  target: Json | undefined,
  steps: readonly (string | number)[],
  result: Json,
  text: string,
): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return result;
  if (typeof step === "number") return putItem(target, step, rest, result, text);
  if (target !== undefined && !isObject(target)) throw mismatch(text, target);
  const copy: Record<string, Json> = { ...(target as JsonObject | undefined) };
  const inner =
    target !== undefined && Object.hasOwn(target, step) ? (target as JsonObject)[step] : undefined;
  setField(copy, step, put(inner, rest, result, text));
  return copy;
}

function putItem(
  target: Json | undefined,
  index: number,
  rest: readonly (string | number)[],
  result: Json,
  text: string,
): Json {
  if (!Array.isArray(target) || index < 0 || index >= target.length) throw mismatch(text, target ?? null);
  const copy = [...(target as readonly Json[])];
  copy[index] = put(copy[index], rest, result, text);
  return copy;
}

const mismatch = (path: string, target: Json): StateFailure =>
  new StateFailure(
    {
      error: "States.ResultPathMatchFailure",
      cause: `Unable to apply ReferencePath ${path} to input ${JSON.stringify(target)}`,
    },
    { placed: true },
  );
