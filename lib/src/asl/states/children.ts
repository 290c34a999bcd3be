// Parallel, and what it has in common with an inline Map: a state that waits for branches of its own.
import type { ChildrenWait, Iteration, Json } from "../contract.ts";
import { argumentsOf, asking, leaveWithResult } from "../flow.ts";
import { limits } from "../limits.ts";
import type { Asking } from "../query/query.ts";
import {
  type DraftBranch,
  emit,
  parentOf,
  type Place,
  type Run,
  serial,
  setWait,
  specOf,
  type Visit,
} from "../run.ts";

export function* enterParallel(visit: Visit): Asking<void> {
  const { run, branch, spec } = visit;
  const input = yield* argumentsOf(visit);
  emit(visit, "ParallelStateStarted");
  setWait(branch, {
    for: "children",
    total: spec.branches.length,
    started: spec.branches.length,
    done: 0,
    results: spec.branches.map(() => null),
  });
  spec.branches.forEach((machine, index) =>
    addBranch(run, branch, { index, startAt: machine.startAt, input }),
  );
}

interface NewBranch {
  readonly index: number;
  readonly startAt: string;
  readonly input: Json;
  readonly item?: Json | undefined;
}

function addBranch(run: Run, parent: DraftBranch, { index, startAt, input, item }: NewBranch): DraftBranch {
  const branch: DraftBranch = {
    id: serial(run),
    parent: parent.id,
    index,
    state: startAt,
    input,
    enteredEventId: 0,
    enteredMs: 0,
    lastEventId: parent.lastEventId,
    ...(item === undefined ? {} : { item }),
  };
  run.state.branches.push(branch);
  run.ready.push(branch);
  return branch;
}

/** Runs the iterations of an inline Map, at most `maxConcurrency` at a time (0 = as many as may be). */
export function startIterations(
  place: Place,
  iterations: readonly Iteration[],
  maxConcurrency: number,
): void {
  const { run, branch } = place;
  const total = iterations.length;
  const atOnce = Math.min(maxConcurrency || total, total, limits.inlineConcurrency);
  const waiting = iterations.slice(atOnce);
  setWait(branch, {
    for: "children",
    total,
    started: 0,
    done: 0,
    results: iterations.map(() => null),
    ...(waiting.length > 0 ? { waiting } : {}),
  });
  for (const iteration of iterations.slice(0, atOnce)) startIteration(run, branch, iteration);
}

function startIteration(run: Run, parent: DraftBranch, { input, item }: Iteration): void {
  const wait = parent.wait as ChildrenWait;
  const spec = specOf(run, parent);
  const branch = addBranch(run, parent, {
    index: wait.started,
    startAt: spec.map!.processor.startAt,
    input,
    item,
  });
  parent.wait = { ...wait, started: wait.started + 1 };
  emit({ run, branch }, "MapIterationStarted", { name: parent.state, index: branch.index });
}

/** A child has come to its end: its output is a result, and the next iteration or the parent goes on. */
export function* endChild(run: Run, branch: DraftBranch): Asking<void> {
  const parent = parentOf(run, branch)!;
  const spec = specOf(run, parent);
  if (spec.map) emit({ run, branch }, "MapIterationSucceeded", { name: parent.state, index: branch.index });
  run.state.branches = run.state.branches.filter((each) => each !== branch);
  parent.lastEventId = branch.lastEventId;
  keepResult(parent, branch);
  startNext(run, parent);
  const { done, total, results } = parent.wait as ChildrenWait;
  if (done === total) yield* endChildren({ run, branch: parent, spec }, results);
}

/** `next` copied the results when it began, so that they may be written in place. */
function keepResult(parent: DraftBranch, branch: DraftBranch): void {
  const wait = parent.wait as ChildrenWait;
  (wait.results as Json[])[branch.index!] = branch.input;
  parent.wait = { ...wait, done: wait.done + 1 };
}

function startNext(run: Run, parent: DraftBranch): void {
  const { waiting, ...wait } = parent.wait as ChildrenWait;
  const [first, ...rest] = waiting ?? [];
  if (!first) return;
  parent.wait = rest.length > 0 ? { ...wait, waiting: rest } : wait;
  startIteration(run, parent, first);
}

export function* endChildren(visit: Visit, results: readonly Json[]): Asking<void> {
  const { branch, spec } = visit;
  setWait(branch, undefined);
  emit(visit, `${spec.type}StateSucceeded`);
  yield* asking(leaveWithResult(visit, results));
}
