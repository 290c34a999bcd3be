// One decision in the making: a private copy of the state, the events and commands so far, and the few things that
// every state does with them. Nothing of it outlives the call of `next`.
import type {
  Branch,
  Command,
  Event,
  ExecutionState,
  HistoryEvent,
  Json,
  JsonObject,
  MapRun,
  Wait,
} from "./contract.ts";
import { runtimeFailure, StateFailure } from "./failure.ts";
import { detailsKey } from "./history.ts";
import { exceedsBytes, isTooDeep, limits, utf8Bytes } from "./limits.ts";
import type { Machine, StateSpec } from "./parse.ts";
import type { Scope } from "./query/query.ts";
import { type Random } from "./random.ts";
import { formatTimestamp } from "../core/timestamp.ts";

type Draft<T> = { -readonly [K in keyof T]: T[K] };
export type DraftBranch = Draft<Branch>;
export type DraftState = Draft<Omit<ExecutionState, "branches">> & { branches: DraftBranch[] };

export interface Run {
  readonly machine: Machine;
  readonly event: Event;
  readonly random: Random;
  readonly state: DraftState;
  readonly events: HistoryEvent[];
  readonly commands: Command[];
  /** Branches that stand before a state which has not been entered yet. */
  readonly ready: DraftBranch[];
  readonly keepHistory: boolean;
  readonly tokenOf: ((reference: string) => string) | undefined;
  readonly isOwn: ((resource: string, input: Json) => boolean) | undefined;
  readonly texts: TextCache;
  /** TestState looks at what each step of the data flow gives. */
  readonly inspect?: (name: string, value: Json) => void;
  /** TestState may bring a context object of its own. */
  readonly context?: JsonObject;
}

/** Where a decision is at work: a branch. */
export interface Place {
  readonly run: Run;
  readonly branch: DraftBranch;
}

/** A branch in the state that it has entered. */
export interface Visit extends Place {
  readonly spec: StateSpec;
}

/** The output of a state is the input of the next, so a value is turned into text once. */
interface TextCache {
  value: Json | undefined;
  text: string;
}

export function textOf(run: Run, value: Json): string {
  if (run.texts.value === value && typeof value === "object" && value !== null) return run.texts.text;
  run.texts.value = value;
  run.texts.text = written(value);
  return run.texts.text;
}

/** Whatever is deeper could not be written with the state around it. */
function written(value: Json): string {
  const text = JSON.stringify(value);
  if (isTooDeep(text)) throw tooDeep();
  return text;
}

/** Data nested so deeply that it exhausts the stack is the execution's own fault, not the engine's. */
export const tooDeep = (): StateFailure => runtimeFailure("The data is nested too deeply.");

/** Starts a timer, which the calendar of the database must be able to hold. */
export function startTimer(run: Run, dueMs: number): number {
  const timer = serial(run);
  const { nowMs } = run.event;
  const waitMs = Math.min(Math.max(0, dueMs - nowMs) || 0, waitMsMax);
  run.commands.push({ type: "startTimer", timer, dueMs: nowMs + waitMs });
  return timer;
}

/** The year 9999 can be waited for, but not much more. */
const waitMsMax = 8000 * 366 * 86_400_000;

export const serial = (run: Run): number => ++run.state.serial;

/** Appends an event that follows the branch's latest; two places are kept for how an execution ends. */
export function emit(place: Place, type: string, details?: object): number {
  const { run } = place;
  if (run.state.lastEventId >= limits.historyEvents - 1 && run.keepHistory) throw historyFull();
  return append(place, type, details);
}

export function append(place: Place, type: string, details?: object): number {
  const { run, branch } = place;
  const id = ++run.state.lastEventId;
  if (run.keepHistory)
    run.events.push(historyEvent(run, { id, previousEventId: branch.lastEventId, type }, details));
  branch.lastEventId = id;
  return id;
}

interface EventHead {
  readonly id: number;
  readonly previousEventId: number;
  readonly type: string;
}

function historyEvent(
  run: Run,
  { id, previousEventId, type }: EventHead,
  details: object | undefined,
): HistoryEvent {
  const event = { id, previousEventId, timestamp: run.event.nowMs / 1000, type };
  if (details) (event as Record<string, unknown>)[detailsKey(type)] = details;
  return event;
}

/** Why an execution ended that used up its history; it cannot be redriven. */
export const historyFullCause = `The execution reached the maximum number of history events (${limits.historyEvents}).`;

const historyFull = (): StateFailure =>
  new StateFailure({ error: "States.Runtime", cause: historyFullCause }, { terminal: true });

/** `text` of a value that must fit the data limit; `what` is named where it does not. */
export function fittingText(run: Run, value: Json, what: string): string {
  const text = textOf(run, value);
  if (exceedsBytes(text, limits.dataBytes)) throw dataLimit(what);
  noteSize(run, text);
  return text;
}

/** Remembers the first data of the execution that has come half-way to the limit. */
export function noteSize({ state }: Run, text: string): void {
  if (state.nearData === undefined && exceedsBytes(text, limits.dataBytes / 2))
    state.nearData = utf8Bytes(text);
}

export const dataLimit = (what: string): StateFailure =>
  new StateFailure({
    error: "States.DataLimitExceeded",
    cause: `The state/task '${what}' returned a result with a size exceeding the maximum number of bytes service limit.`,
  });

const branchById = (run: Run, id: number): DraftBranch | undefined =>
  run.state.branches.find((branch) => branch.id === id);

export const parentOf = (run: Run, branch: DraftBranch): DraftBranch | undefined =>
  branch.parent === undefined ? undefined : branchById(run, branch.parent);

/** The machine whose states the branch walks through. */
export function machineOf(run: Run, branch: DraftBranch): Machine {
  const parent = parentOf(run, branch);
  if (!parent) return run.machine;
  const spec = specOf(run, parent);
  return spec.map ? spec.map.processor : spec.branches[branch.index!]!;
}

export const specOf = (run: Run, branch: DraftBranch): StateSpec =>
  machineOf(run, branch).states.get(branch.state)!;

/** The state that a branch of a stored execution is in. */
export const specAt = (machine: Machine, state: ExecutionState, branch: Branch): StateSpec =>
  specOf({ machine, state } as unknown as Run, branch);

/** Remembers the map run that the branch waited for, for a redrive. */
export function keepMapRun(branch: DraftBranch, { mapRunArn, children, tolerance, redrives }: MapRun): void {
  branch.mapRun = {
    mapRunArn,
    children,
    tolerance,
    ...(redrives === undefined ? {} : { redrives }),
  };
}

export function setWait(branch: DraftBranch, wait: Wait | undefined): void {
  branch.wait = wait;
}

export interface ScopeExtras {
  readonly result?: Json;
  readonly errorOutput?: Json;
  readonly taskToken?: string;
  readonly item?: { readonly index: number; readonly value: Json };
}

/** What the expressions of the branch's state see, with `input` as their `$`. */
export const scopeOf = ({ run, branch }: Place, input: Json, extras?: ScopeExtras): Scope =>
  new BranchScope(run, branch, input, extras);

/** A class, because one is made for every field that is read. */
class BranchScope implements Scope {
  readonly input: Json;
  readonly #run: Run;
  readonly #branch: DraftBranch;
  readonly #extras: ScopeExtras | undefined;

  constructor(run: Run, branch: DraftBranch, input: Json, extras: ScopeExtras | undefined) {
    this.#run = run;
    this.#branch = branch;
    this.input = input;
    this.#extras = extras;
  }

  get result(): Json | undefined {
    return this.#extras?.result;
  }

  get errorOutput(): Json | undefined {
    return this.#extras?.errorOutput;
  }

  get nowMs(): number {
    return this.#run.event.nowMs;
  }

  get random(): Random {
    return this.#run.random;
  }

  context(): JsonObject {
    return contextOf(this.#run, this.#branch, this.#extras ?? {});
  }

  variable(name: string): Json | undefined {
    return variableOf(this.#run, this.#branch, name);
  }

  variables(): Readonly<Record<string, Json>> {
    return variablesOf(this.#run, this.#branch);
  }
}

function variableOf(run: Run, branch: DraftBranch, name: string): Json | undefined {
  for (let at: DraftBranch | undefined = branch; at; at = parentOf(run, at)) {
    if (at.variables && Object.hasOwn(at.variables, name)) return at.variables[name];
  }
  return undefined;
}

function variablesOf(run: Run, branch: DraftBranch): Readonly<Record<string, Json>> {
  const parent = parentOf(run, branch);
  return parent ? { ...variablesOf(run, parent), ...branch.variables } : (branch.variables ?? {});
}

/** The context object: $$ and $states.context. */
function contextOf(run: Run, branch: DraftBranch, extras: ScopeExtras): JsonObject {
  if (run.context) return { ...run.context, ...itemContext(run, branch, extras) };
  const { execution, input } = run.state;
  return {
    Execution: {
      Id: execution.id,
      Input: input ?? null,
      StartTime: execution.startTime,
      Name: execution.name,
      RoleArn: execution.roleArn,
      ...(execution.redriveCount === undefined ? {} : { RedriveCount: execution.redriveCount }),
      ...(execution.redriveTime === undefined ? {} : { RedriveTime: execution.redriveTime }),
    },
    StateMachine: { Id: execution.machineId, Name: execution.machineName },
    State: stateContext(run, branch),
    ...(extras.taskToken === undefined ? {} : { Task: { Token: extras.taskToken } }),
    ...itemContext(run, branch, extras),
  };
}

const isRetriable: Readonly<Partial<Record<string, boolean>>> = { Task: true, Map: true, Parallel: true };

function stateContext(run: Run, branch: DraftBranch): JsonObject {
  const context = { Name: branch.state, EnteredTime: formatTimestamp(branch.enteredMs) };
  return isRetriable[specOf(run, branch).type] ? { ...context, RetryCount: retryCount(branch) } : context;
}

export const retryCount = (branch: DraftBranch): number =>
  (branch.retries ?? []).reduce((sum, each) => sum + each, 0);

function itemContext(run: Run, branch: DraftBranch, extras: ScopeExtras): JsonObject {
  if (extras.item) return { Map: { Item: { Index: extras.item.index, Value: extras.item.value } } };
  for (let at: DraftBranch | undefined = branch; at; at = parentOf(run, at)) {
    if (at.item !== undefined) return { Map: { Item: { Index: at.index!, Value: at.item } } };
  }
  return {};
}
