// What becomes of a failure: a retry after a while, a catcher, or the end of the branch and of what contains it.
import type { Failure, Json } from "./contract.ts";
import { matchesError, StateFailure } from "./failure.ts";
import { leave, maybe } from "./flow.ts";
import type { Catcher, Retrier, StateSpec } from "./parse.ts";
import type { Asking } from "./query/query.ts";
import {
  append,
  type DraftBranch,
  emit,
  keepMapRun,
  parentOf,
  type Place,
  type Run,
  setWait,
  specOf,
  startTimer,
  type Visit,
  scopeOf,
} from "./run.ts";

/** Handles what a state's work threw. Anything but a StateFailure is a fault of the program and goes on up. */
export function* fail(run: Run, branch: DraftBranch, thrown: unknown): Asking<void> {
  if (!(thrown instanceof StateFailure)) throw thrown;
  cancelWait(run, branch);
  const spec = specOf(run, branch);
  const failure = placed(thrown, branch, spec);
  if (failure.options.evaluation) noteEvaluation(run, branch, failure);
  if (failure.options.terminal) return endExecution(run, "FAILED", failure.failure);
  if (retry({ run, branch, spec }, failure)) return;
  if (spec.type === "Map" || spec.type === "Parallel") emit({ run, branch }, `${spec.type}StateFailed`);
  const catcher = spec.catchers.find(({ errors }) => matchesError(errors, failure));
  if (catcher) yield* caught({ run, branch, spec }, catcher, failure.failure);
  else yield* failBranch(run, branch, failure);
}

/** Names the state in the cause, once. */
function placed({ failure, options }: StateFailure, branch: DraftBranch, spec: StateSpec): StateFailure {
  if (!options.placed) return new StateFailure(failure, options);
  const where = `An error occurred while executing the state '${spec.name}' (entered at the event id #${branch.enteredEventId}). `;
  return new StateFailure({ ...failure, cause: where + failure.cause }, { ...options, placed: false });
}

function noteEvaluation(run: Run, branch: DraftBranch, { failure, options }: StateFailure): void {
  const location = options.location === undefined ? {} : { location: options.location };
  emit({ run, branch }, "EvaluationFailed", { ...failure, ...location, state: branch.state });
}

/** Starts the wait for another attempt, if a retrier has one left. */
function retry(visit: Visit, failure: StateFailure): boolean {
  const { run, branch, spec } = visit;
  if (failure.options.final) return false;
  const index = spec.retriers.findIndex(({ errors }) => matchesError(errors, failure));
  const retrier = spec.retriers[index];
  const used = branch.retries?.[index] ?? 0;
  if (!retrier || used >= retrier.maxAttempts) return false;
  branch.retries = spec.retriers.map((_each, i) => (branch.retries?.[i] ?? 0) + (i === index ? 1 : 0));
  // Another attempt is another map run.
  branch.mapRun = undefined;
  const timer = startTimer(run, run.event.nowMs + retryDelayMs(retrier, used, run.random.next()));
  setWait(branch, { for: "timer", timer, reason: "retry" });
  return true;
}

/** The wait after `used` retries: exponential, capped, and with full jitter anything up to that. */
export function retryDelayMs(retrier: Retrier, used: number, random: number): number {
  const seconds = Math.min(
    retrier.intervalSeconds * retrier.backoffRate ** used,
    retrier.maxDelaySeconds ?? 31_622_400,
  );
  return Math.round(seconds * 1000 * (retrier.fullJitter ? random : 1));
}

function* caught(visit: Visit, catcher: Catcher, failure: Failure): Asking<void> {
  const { run, branch, spec } = visit;
  const errorOutput: Json = { Error: failure.error ?? null, Cause: failure.cause ?? null };
  try {
    const isPath = spec.language === "JSONPath";
    const scopeInput = isPath ? errorOutput : branch.input;
    const extras = { errorOutput };
    const assigned = yield* maybe(catcher.assign, scopeOf(visit, scopeInput, extras));
    const output = isPath
      ? catcher.resultPath(branch.input, errorOutput)
      : ((yield* maybe(catcher.output, scopeOf(visit, branch.input, extras))) ?? errorOutput);
    leave(visit, { output, next: catcher.next, assigned });
  } catch (thrown) {
    if (!(thrown instanceof StateFailure)) throw thrown;
    const second = placed(thrown, branch, spec);
    if (second.options.evaluation) noteEvaluation(run, branch, second);
    yield* failBranch(run, branch, second);
  }
}

/** Nothing caught it: the branch ends, and with it the state that contains the branch fails. */
function* failBranch(run: Run, branch: DraftBranch, { failure }: StateFailure): Asking<void> {
  const parent = parentOf(run, branch);
  if (!parent) return endExecution(run, "FAILED", failure);
  const { type } = specOf(run, branch);
  halt(run, branch);
  if (specOf(run, parent).map)
    emit({ run, branch }, "MapIterationFailed", { name: parent.state, index: branch.index });
  if (type !== "Fail") emit({ run, branch }, `${type}StateAborted`);
  for (const sibling of childrenOf(run, parent)) if (!sibling.halted) stop(run, sibling, true);
  parent.lastEventId = branch.lastEventId;
  yield* fail(run, parent, new StateFailure(failure));
  if (parent.wait?.for !== "children") dropChildren(run, parent);
}

const childrenOf = (run: Run, parent: DraftBranch): DraftBranch[] =>
  run.state.branches.filter((branch) => branch.parent === parent.id);

/** Forgets the branches below; done when their state goes on without them. */
function dropChildren(run: Run, parent: DraftBranch): void {
  if (run.state.status !== "RUNNING") return;
  for (const child of childrenOf(run, parent)) dropChildren(run, child);
  run.state.branches = run.state.branches.filter((branch) => branch.parent !== parent.id);
}

/** Keeps the branch for a redrive, with nothing under way. */
function halt(run: Run, branch: DraftBranch): void {
  const position = run.ready.indexOf(branch);
  if (position >= 0) run.ready.splice(position, 1);
  cancelWait(run, branch);
  branch.halted = true;
}

/** Stops a branch and all below it; `recorded` writes the Aborted events. */
export function stop(run: Run, branch: DraftBranch, recorded: boolean): void {
  for (const child of childrenOf(run, branch)) if (!child.halted) stop(run, child, recorded);
  const entered = branch.wait !== undefined;
  halt(run, branch);
  if (!recorded) return;
  const parent = parentOf(run, branch);
  if (entered) emit({ run, branch }, `${specOf(run, branch).type}StateAborted`);
  if (parent && specOf(run, parent).map)
    emit({ run, branch }, "MapIterationAborted", { name: parent.state, index: branch.index });
}

const own = (wait: { readonly own?: true }) => (wait.own ? { own: true as const } : {});

function cancelWait(run: Run, branch: DraftBranch): void {
  const { wait } = branch;
  if (!wait || wait.for === "children") return;
  branch.wait = undefined;
  if (wait.for === "mapRun" || wait.for === "results") keepMapRun(branch, wait);
  if (wait.for === "task")
    run.commands.push({ type: "cancelTask", task: wait.task, branch: branch.id, ...own(wait) });
  if (wait.for === "timer") run.commands.push({ type: "cancelTimer", timer: wait.timer });
  if (wait.for === "mapRun") run.commands.push({ type: "cancelMapRun", mapRun: wait.mapRun });
}

const endings = {
  SUCCEEDED: "ExecutionSucceeded",
  FAILED: "ExecutionFailed",
  TIMED_OUT: "ExecutionTimedOut",
  ABORTED: "ExecutionAborted",
} as const;

const timedOut: Failure = { error: "States.Timeout" };

/** Ends the execution other than with an output; what was under way is stopped, the branches stay for a redrive. */
export function endExecution(run: Run, status: "FAILED" | "TIMED_OUT" | "ABORTED", failure: Failure): void {
  const root = run.state.branches[0]!;
  for (const branch of run.state.branches) if (!branch.halted) halt(run, branch);
  // The clock of an execution follows upon no event, and only its own event names the error.
  const isTimedOut = status === "TIMED_OUT";
  if (isTimedOut) root.lastEventId = 0;
  append({ run, branch: root }, endings[status], isTimedOut ? timedOut : withoutEmpty(failure));
  finish(run, status);
  run.commands.push({ type: "end", status, ...withoutEmpty(failure) });
}

/** A missing cause is no field, but a caught timeout shows it as an empty text. */
function withoutEmpty({ error, cause }: Failure): Failure {
  return {
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined || cause === "" ? {} : { cause }),
  };
}

export function succeedExecution(place: Place, output: Json, text: string): void {
  const { run } = place;
  append(place, endings.SUCCEEDED, { output: text });
  finish(run, "SUCCEEDED");
  run.state.branches = [];
  run.commands.push({ type: "end", status: "SUCCEEDED", output });
}

function finish(run: Run, status: "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED"): void {
  run.state.status = status;
  run.ready.length = 0;
  if (run.state.timer === undefined) return;
  run.commands.push({ type: "cancelTimer", timer: run.state.timer });
  delete run.state.timer;
}
