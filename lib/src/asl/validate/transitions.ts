// Where a machine's states lead: to states that are there, from its first one to each of them, and to an end.
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import type { Report } from "./shape.ts";

/** Whether some state, wherever it stands, ends the machine. */
export const hasEnd = (states: JsonObject): boolean =>
  Object.values(states).some(
    (state) => isObject(state) && (state.End === true || state.Type === "Succeed" || state.Type === "Fail"),
  );

interface Target {
  readonly path: string;
  readonly target: string;
}

/** Where a branch may go from a state. */
function targetsOf(state: JsonObject): readonly Target[] {
  const own = ["Next", "Default"].map((path) => ({ path, target: state[path] }));
  const listed = ["Choices", "Catch"].flatMap((field) =>
    listOf(state[field]).map((each, i) => ({
      path: `${field}[${i}]/Next`,
      target: isObject(each) ? each.Next : undefined,
    })),
  );
  return [...own, ...listed].filter((each): each is Target => typeof each.target === "string");
}

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

interface Start {
  readonly startAt: string;
  readonly at: string;
  /** Nothing ends: then it is not told as well what nothing leads to. */
  readonly isEndless: boolean;
}

const code = "MISSING_TRANSITION_TARGET";

/** Whatever names the state that is missing, the words are the same. */
export function checkTransitions(
  states: JsonObject,
  { startAt, at, isEndless }: Start,
  report: Report,
): void {
  const missing = (path: string, target: string): void =>
    report(`${at}/${path}`, `Missing 'Next' target: ${target}`, code);
  const reached = new Set<string>();
  const reach = (path: string, target: string): void => {
    if (Object.hasOwn(states, target)) reached.add(target);
    else missing(path, target);
  };
  reach("StartAt", startAt);
  for (const name of reached) {
    const state = states[name];
    for (const { path, target } of isObject(state) ? targetsOf(state) : [])
      reach(`States/${name}/${path}`, target);
  }
  if (isEndless) return;
  for (const name of Object.keys(states))
    if (!reached.has(name)) report(`${at}/States/${name}`, `State "${name}" is not reachable.`, code);
}
