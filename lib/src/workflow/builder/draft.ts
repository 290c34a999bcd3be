// A machine that is being built, as plain data that is never changed: states, handlers, and the places where the name of
// the next state is still to be written.
import type { JsonObject } from "../../asl/contract.ts";
import { toSeconds, type Duration } from "../../core/duration.ts";
import { workflowErrors } from "../contract.ts";
import type { Task } from "../declaration.ts";
import type { ErrorName, Retrier } from "./options.ts";

export interface Draft {
  readonly machine: { readonly StartAt?: string; readonly States: Readonly<Record<string, JsonObject>> };
  readonly tasks: Readonly<Record<string, Task>>;
}

/** The machine with its language: said of the whole, or of each state where one of them is in JSONPath. */
export function inJsonata(machine: Draft["machine"]): JsonObject {
  const states = Object.entries(machine.States);
  const isMixed = states.some(([, { QueryLanguage }]) => QueryLanguage === "JSONPath");
  if (!isMixed) return { QueryLanguage: "JSONata", ...machine };
  const States = Object.fromEntries(
    states.map(([name, state]) => [name, { QueryLanguage: "JSONata", ...state }]),
  );
  return { ...machine, States };
}

/** Where a name is to be written: ["StartAt"], ["States", "A", "Next"], ["States", "C", "Choices", 0, "Next"]. */
export type Exit = readonly (string | number)[];

export const emptyDraft = (tasks: Draft["tasks"] = {}): Draft => ({ machine: { States: {} }, tasks });

export const wrong = (message: string): Error =>
  workflowErrors.error("TUNTAS_WORKFLOW_DEFINITION", `builder: ${message}`);

function put(into: any, [first, ...rest]: Exit, value: unknown): any {
  const inner = rest.length === 0 ? value : put(into[first!], rest, value);
  if (Array.isArray(into)) return into.with(first as number, inner);
  return { ...into, [first!]: inner };
}

const write = (draft: Draft, exit: Exit, value: unknown): Draft => ({
  ...draft,
  machine: put(draft.machine, exit, value) as Draft["machine"],
});

/** All exits lead to the state of that name. */
export const connect = (draft: Draft, exits: readonly Exit[], name: string): Draft =>
  exits.reduce((each, exit) => write(each, exit, name), draft);

/** Adds a state that all exits lead to. Errors: TUNTAS_WORKFLOW_DEFINITION where the name is taken. */
export function enter(draft: Draft, exits: readonly Exit[], name: string, state: JsonObject): Draft {
  if (Object.hasOwn(draft.machine.States, name))
    throw wrong(`expected a name for each state, got ${JSON.stringify(name)} twice`);
  return connect(write(draft, ["States", name], state), exits, name);
}

/** Changes a state that is there. */
export const amend = (draft: Draft, name: string, more: JsonObject): Draft =>
  write(draft, ["States", name], { ...draft.machine.States[name], ...more });

const isState = (exit: Exit): boolean => exit.length === 3 && exit[2] === "Next";

/** Ends at the states themselves; where a rule or a Catch leads to the end, a Succeed state is its target. */
export function end(draft: Draft, exits: readonly Exit[], name: string): Draft {
  const ended = exits
    .filter(isState)
    .reduce((each, [, state]) => amend(each, String(state), { End: true }), draft);
  const rules = exits.filter((exit) => !isState(exit));
  return rules.length === 0 ? ended : enter(ended, rules, name, { Type: "Succeed" });
}

const functionName = (state: string): string => state.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 64);

/** The function that stands for the handler: the one it has already, else one with the state's name. */
export function hire(
  draft: Draft,
  state: string,
  task: Task,
): { readonly draft: Draft; readonly called: string } {
  const there = Object.entries(draft.tasks).find(([, each]) => each === task)?.[0];
  if (there !== undefined) return { draft, called: there };
  const called = functionName(state);
  if (Object.hasOwn(draft.tasks, called))
    throw wrong(
      `state ${state}: another handler has the function name ${called}; give the state another name`,
    );
  return { draft: { ...draft, tasks: { ...draft.tasks, [called]: task } }, called };
}

export const errorNames = (errors: readonly ErrorName[]): readonly string[] =>
  errors.map((error) => (typeof error === "string" ? error : error.name));

/** Only what is given. */
export const given = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

export const secondsOf = (duration: Duration | undefined): number | undefined =>
  duration === undefined ? undefined : toSeconds(duration);

export const retriers = (retry: readonly Retrier[] | undefined): readonly JsonObject[] | undefined =>
  retry?.map(({ errors, interval, attempts, backoffRate, intervalMax, jitter }) =>
    given({
      ErrorEquals: errorNames(errors),
      IntervalSeconds: secondsOf(interval),
      MaxAttempts: attempts,
      BackoffRate: backoffRate,
      MaxDelaySeconds: secondsOf(intervalMax),
      JitterStrategy: jitter,
    }),
  );
