// The decision: (machine, state, event) -> {state, events, commands}. Pure, and the only way that an execution moves.
// States that wait for nothing are run through in one call. Where no JSONata has to be evaluated the answer is there
// at once; else it is a promise.
import type { Branch, Decision, Event, ExecutionState, NextOptions } from "./contract.ts";
import { StateFailure, runtimeFailure } from "./failure.ts";
import { asking, leaveUnchanged, type Work } from "./flow.ts";
import { limits } from "./limits.ts";
import type { Machine, StateSpec, StateType } from "./parse.ts";
import { evaluateHere } from "./query/evaluator.ts";
import type { Asking } from "./query/query.ts";
import { randomFrom } from "./random.ts";
import { endExecution, fail, succeedExecution } from "./retry.ts";
import {
  append,
  type DraftBranch,
  type DraftState,
  emit,
  machineOf,
  parentOf,
  type Run,
  setWait,
  specOf,
  startTimer,
  textOf,
  tooDeep,
  type Visit,
} from "./run.ts";
import { endChild, enterParallel } from "./states/children.ts";
import { enterMap, redriveMap, resumeMap } from "./states/map.ts";
import { enterChoice, enterFail, enterPass, enterSucceed, enterWait } from "./states/simple.ts";
import { enterTask, resumeTask } from "./states/task.ts";
import { formatTimestamp } from "../core/timestamp.ts";

type Enter = (visit: Visit) => Work;

const enter: Readonly<Record<StateType, Enter>> = {
  Pass: enterPass,
  Task: enterTask,
  Choice: enterChoice,
  Wait: enterWait,
  Succeed: enterSucceed,
  Fail: enterFail,
  Parallel: enterParallel,
  Map: enterMap,
};

/** After so many states in one call the engine gets its turn back, by a timer that is due at once. */
const statesPerTurn = 10_000;

/** Decides what an event means. `state` is undefined for the event `started` only; an event that comes too late changes nothing. */
export function next(
  machine: Machine,
  state: ExecutionState | undefined,
  event: Event,
  options: NextOptions = {},
): Decision | Promise<Decision> {
  const run = begin(machine, state, event, options);
  const work = advance(run);
  if (!work) return decisionOf(run);
  const step = work.next();
  return step.done ? decisionOf(run) : answer(work, step.value, run, options);
}

/** Evaluates what the work asks for, one question after another. */
async function answer(
  work: Asking<void>,
  first: unknown,
  run: Run,
  { evaluator = evaluateHere }: NextOptions,
): Promise<Decision> {
  let step: IteratorResult<unknown, void> = { done: false, value: first };
  while (!step.done) {
    let value: unknown;
    try {
      value = await evaluator(step.value as Parameters<typeof evaluator>[0]);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(value);
  }
  return decisionOf(run);
}

const decisionOf = ({ state, events, commands }: Run): Decision => ({ state, events, commands });

function begin(machine: Machine, state: ExecutionState | undefined, event: Event, options: NextOptions): Run {
  return {
    machine,
    event,
    random: randomFrom(event.seed),
    state: state ? { ...state, branches: state.branches.map(copyBranch) } : newState(machine, event),
    events: [],
    commands: [],
    ready: [],
    keepHistory: options.history ?? true,
    isOwn: options.isOwn,
    tokenOf: options.tokenOf,
    texts: knownText(event),
  };
}

const knownText = (event: Event): Run["texts"] =>
  event.type === "taskSucceeded" && event.text !== undefined
    ? { value: event.output, text: event.text }
    : { value: undefined, text: "" };

/**
 * A private copy. All branches have the same fields in the same order, none is ever deleted, so that what V8 has compiled for
 * one serves for all (copying whatever was there took a tenth of a step's time).
 */
function copyBranch(branch: Branch): DraftBranch {
  const { wait } = branch;
  return {
    id: branch.id,
    parent: branch.parent,
    index: branch.index,
    item: branch.item,
    state: branch.state,
    input: branch.input,
    enteredEventId: branch.enteredEventId,
    enteredMs: branch.enteredMs,
    lastEventId: branch.lastEventId,
    variables: branch.variables,
    retries: branch.retries,
    wait: wait?.for === "children" ? { ...wait, results: [...wait.results] } : wait,
    halted: branch.halted,
    mapRun: branch.mapRun,
  };
}

function newState(machine: Machine, event: Event): DraftState {
  if (event.type !== "started")
    throw new TypeError(`An execution begins with the event "started", but "${event.type}" came.`);
  const { execution, input, nowMs } = event;
  return {
    execution,
    status: "RUNNING",
    ...(machine.readsContext ? { input } : {}),
    lastEventId: 0,
    serial: 0,
    branches: [
      copyBranch({
        id: 0,
        state: machine.startAt,
        input,
        enteredEventId: 0,
        enteredMs: nowMs,
        lastEventId: 0,
      }),
    ],
  };
}

/** Takes the event and goes on until every branch waits; answers what is left, where something has to be asked for. */
function advance(run: Run): Work {
  if (run.state.status !== "RUNNING" && run.event.type !== "redriven") return undefined;
  const taking = take(run, run.event);
  return taking ? enterAsking(run, taking, 0) : enterAll(run);
}

function enterAll(run: Run): Work {
  for (let states = 0; run.ready.length > 0; states++) {
    if (states >= statesPerTurn) return giveTurn(run);
    const work = enterNext(run);
    if (work) return enterAsking(run, work, states + 1);
  }
}

/** The same from there on, once something had to be asked for. */
function* enterAsking(run: Run, first: Asking<void>, before: number): Asking<void> {
  let work: Work = first;
  for (let states = before; ; states++) {
    if (work) yield* work;
    if (run.ready.length === 0) return;
    if (states >= statesPerTurn) return giveTurn(run);
    work = enterNext(run);
  }
}

function enterNext(run: Run): Work {
  const branch = run.ready.shift()!;
  return guarded(run, branch, () => step(run, branch));
}

function giveTurn(run: Run): void {
  for (const branch of run.ready) {
    const timer = startTimer(run, run.event.nowMs);
    setWait(branch, { for: "timer", timer, reason: "turn" });
  }
}

/** Enters the state that the branch stands before, or ends the branch. */
function step(run: Run, branch: DraftBranch): Work {
  if (branch.state === "") return endBranch(run, branch);
  const spec = machineOf(run, branch).states.get(branch.state);
  if (!spec) throw runtimeFailure(`There is no state '${branch.state}'.`);
  branch.enteredMs = run.event.nowMs;
  const input = textOf(run, branch.input);
  const visit = { run, branch, spec };
  branch.enteredEventId = emit(visit, spec.enteredEvent, { name: spec.name, input });
  return enter[spec.type](visit);
}

/** What goes wrong as a child ends is a matter of the state that contains it. */
function endBranch(run: Run, branch: DraftBranch): Work {
  const parent = parentOf(run, branch);
  if (parent) return guarded(run, parent, () => endChild(run, branch));
  succeedExecution({ run, branch }, branch.input, textOf(run, branch.input));
}

/** Whatever a state's work throws is a matter of its Retry and Catch; what they throw ends the execution. */
function guarded(run: Run, branch: DraftBranch, work: () => Work): Work {
  try {
    const rest = work();
    return rest && guardedAsking(run, branch, rest);
  } catch (thrown) {
    return recover(run, branch, thrown);
  }
}

function* guardedAsking(run: Run, branch: DraftBranch, rest: Asking<void>): Asking<void> {
  try {
    yield* rest;
  } catch (thrown) {
    yield* recover(run, branch, thrown);
  }
}

function* recover(run: Run, branch: DraftBranch, thrown: unknown): Asking<void> {
  try {
    yield* fail(run, branch, thrown instanceof RangeError ? tooDeep() : thrown);
  } catch (second) {
    if (!(second instanceof StateFailure)) throw second;
    endExecution(run, "FAILED", second.failure);
  }
}

function take(run: Run, event: Event): Work {
  switch (event.type) {
    case "started":
      return guarded(run, run.state.branches[0]!, () => start(run, event));
    case "stopped":
      return endExecution(run, "ABORTED", event);
    case "redriven":
      return redrive(run);
    case "timerFired":
      return timerFired(run, event.timer);
    case "itemsRead":
    case "itemsFailed":
    case "mapRunEnded":
    case "resultsWritten":
    case "resultsFailed":
      return resume(run, event, (branch, spec) => resumeMap({ run, branch, spec }, event));
    default:
      return resume(run, event, (branch, spec) => resumeTask({ run, branch, spec }, event));
  }
}

function start(run: Run, event: Extract<Event, { type: "started" }>): void {
  const { input, execution, aliasArn, versionArn } = event;
  const root = run.state.branches[0]!;
  append({ run, branch: root }, "ExecutionStarted", {
    input: textOf(run, input),
    roleArn: execution.roleArn,
    ...(aliasArn ? { stateMachineAliasArn: aliasArn } : {}),
    ...(versionArn ? { stateMachineVersionArn: versionArn } : {}),
  });
  root.lastEventId = 0;
  startTimeout(run);
  run.ready.push(root);
}

/** Only Express executions have no history. */
function timeoutOf({ machine, keepHistory }: Run): number | undefined {
  if (keepHistory) return machine.timeoutSeconds;
  return Math.min(machine.timeoutSeconds ?? limits.expressSeconds, limits.expressSeconds);
}

function startTimeout(run: Run): void {
  const timeoutSeconds = timeoutOf(run);
  if (timeoutSeconds === undefined) return;
  run.state.timer = startTimer(run, run.event.nowMs + timeoutSeconds * 1000);
}

/** Finds the branch that waits for what the event is about. An event that nobody waits for came too late. */
function resume(run: Run, event: Event, work: (branch: DraftBranch, spec: StateSpec) => Work): Work {
  const branch = run.state.branches.find(({ wait }) => isAbout(event, wait));
  return branch && guarded(run, branch, () => work(branch, specOf(run, branch)));
}

function isAbout(event: Event, wait: Branch["wait"]): boolean {
  if (!wait) return false;
  if ("task" in event) return wait.for === "task" && wait.task === event.task;
  if ("reader" in event) return wait.for === "items" && wait.reader === event.reader;
  if (!("mapRun" in event)) return false;
  return wait.for === (event.type === "mapRunEnded" ? "mapRun" : "results") && wait.mapRun === event.mapRun;
}

function timerFired(run: Run, timer: number): Work {
  if (run.state.timer === timer) {
    delete run.state.timer;
    return endExecution(run, "TIMED_OUT", {});
  }
  const branch = run.state.branches.find(({ wait }) => wait?.for === "timer" && wait.timer === timer);
  if (branch?.wait?.for !== "timer") return;
  const { reason } = branch.wait;
  setWait(branch, undefined);
  if (reason === "turn") run.ready.push(branch);
  else return reason === "retry" ? again(run, branch) : afterWait(run, branch);
}

function afterWait(run: Run, branch: DraftBranch): Work {
  const spec = specOf(run, branch);
  return guarded(run, branch, () => leaveUnchanged({ run, branch, spec }, spec.next));
}

/** Another attempt at the state that the branch is in: it was entered already. */
function again(run: Run, branch: DraftBranch): Work {
  const spec = specOf(run, branch);
  return guarded(run, branch, () => enter[spec.type]({ run, branch, spec }));
}

/** What a redrive does at the state that the branch is in: a map run that had begun goes on. */
function onceMore(run: Run, branch: DraftBranch): Work {
  const { mapRun } = branch;
  if (!mapRun) return again(run, branch);
  return guarded(run, branch, () => redriveMap({ run, branch, spec: specOf(run, branch) }, mapRun));
}

/** Runs again what failed or was stopped, with fresh retries; what had succeeded is kept. */
function* redrive(run: Run): Asking<void> {
  const { state } = run;
  if (state.status === "RUNNING" || state.status === "SUCCEEDED") return;
  // Nothing more could be told of it.
  if (run.keepHistory && state.lastEventId >= limits.historyEvents - 1) return;
  state.status = "RUNNING";
  const redriveCount = (state.execution.redriveCount ?? 0) + 1;
  state.execution = { ...state.execution, redriveCount, redriveTime: formatTimestamp(run.event.nowMs) };
  append({ run, branch: state.branches[0]! }, "ExecutionRedriven", { redriveCount });
  startTimeout(run);
  for (const branch of state.branches.slice()) {
    branch.halted = undefined;
    branch.retries = undefined;
    if (branch.wait) continue;
    if (branch.enteredEventId === 0) run.ready.push(branch);
    else yield* asking(onceMore(run, branch));
  }
}
