// Which function a task calls, by its resource: how a document written for AWS names handlers that are written in
// TypeScript. Decided in docs/decisions/0012-workflow-handlers.md.
import type { Json, JsonObject } from "../../asl/contract.ts";

const invoke = /^arn:[^:]*:states:[^:]*:[^:]*:lambda:invoke(\.waitForTaskToken)?$/;
const activity = /^arn:[^:]*:states:[^:]*:[^:]*:activity:(.+)$/;
const service = /^arn:[^:]*:states:/;

/** The name in a Lambda function's name, partial ARN or ARN, each with or without a qualifier. */
export function bareName(given: string): string {
  const parts = given.split(":");
  const at = parts.indexOf("function");
  return at >= 0 ? (parts[at + 1] ?? "") : parts[0]!;
}

/** What a resource says by itself: a function's name, that the input names it, or that it calls none. */
type Called = { readonly name: string } | "by input" | "none";

const known = new Map<string, Called>();
const knownMax = 2_000;

function calledBy(resource: string): Called {
  if (invoke.test(resource)) return "by input";
  const name = activity.exec(resource)?.[1];
  if (name !== undefined) return { name };
  return service.test(resource) ? "none" : { name: bareName(resource) };
}

function lookUp(resource: string): Called {
  const before = known.get(resource);
  if (before) return before;
  if (known.size >= knownMax) known.clear();
  const called = calledBy(resource);
  known.set(resource, called);
  return called;
}

/** Whether it is `lambda:invoke`, whose input says what is called and with what. */
export const isInvoke = (resource: string): boolean => lookUp(resource) === "by input";

/** The function that a task calls; undefined where it calls none (a queue, another machine, …). */
export function functionOf(resource: string, input: Json): string | undefined {
  const called = lookUp(resource);
  if (called === "none") return undefined;
  if (called !== "by input") return called.name;
  const name = (input as JsonObject | null)?.FunctionName;
  return typeof name === "string" ? bareName(name) : undefined;
}

export interface TaskState {
  readonly name: string;
  readonly state: JsonObject;
  /** Undefined where it calls none, or where its name is only known at run time. */
  readonly function: string | undefined;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What stands in the place of Parameters or Arguments. */
export const parametersOf = (state: JsonObject): JsonObject => {
  const given = state.Parameters ?? state.Arguments;
  return isObject(given) ? given : {};
};

type NamedState = readonly [name: string, state: JsonObject];

function collect(definition: JsonObject, into: NamedState[]): NamedState[] {
  for (const [name, state] of Object.entries(isObject(definition.States) ? definition.States : {})) {
    if (!isObject(state)) continue;
    into.push([name, state]);
    const branches = Array.isArray(state.Branches) ? (state.Branches as readonly Json[]) : [];
    for (const inner of [...branches, state.ItemProcessor, state.Iterator])
      if (isObject(inner)) collect(inner, into);
  }
  return into;
}

/** All states of the definition, those of branches and item processors included. */
export const statesOf = (definition: JsonObject): NamedState[] => collect(definition, []);

export const tasksOf = (definition: JsonObject): TaskState[] =>
  statesOf(definition)
    .filter(([, state]) => state.Type === "Task" && typeof state.Resource === "string")
    .map(([name, state]) => ({
      name,
      state,
      function: functionOf(state.Resource as string, parametersOf(state)),
    }));
