// Runs the children of a distributed Map: executions of their own, so many at a time. Everything that has happened
// stands in the database, so that a process that takes the run over goes on where the dead one was. How many run at once
// and how many may fail is read there too: both may be changed while the run runs.
import { setMaxListeners } from "node:events";
import { exceedsTolerance, historyFullCause } from "../../asl/index.ts";
import type {
  ChildResult,
  Happening,
  Json,
  PendingChild,
  RedriveMapRun,
  StartMapRun,
  Tolerance,
} from "../../asl/contract.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Sql } from "../../pg/contract.ts";
import { nameOf } from "../token.ts";
import type { Ended } from "../store/executions.ts";
import * as store from "../store/map-runs.ts";
import type { Held, NewRun } from "./engine/index.ts";
import { makeLanes } from "./lanes.ts";

export interface MapRunOptions {
  readonly database: Pick<Sql, "run">;
  readonly waker: Waker;
  readonly nowMs: () => number;
  readonly begin: (run: NewRun) => Promise<string | undefined>;
  readonly idOf: (arn: string) => Promise<string | undefined>;
  readonly waitEnd: (id: string, signal: AbortSignal) => Promise<Ended>;
  readonly stop: (id: string) => Promise<void>;
  /** Runs a child again from where it failed; false where it cannot be. */
  readonly redrive: (id: string) => Promise<boolean>;
}

export interface Parent extends Pick<Held, "id" | "revision" | "processor" | "state"> {
  readonly machineId: string;
}

export interface MapRuns {
  /** Runs to the end of all children; the event that tells the parent, or nothing where it waits no more. */
  run(parent: Parent, command: StartMapRun, signal: AbortSignal): Promise<Happening | undefined>;
  redrive(parent: Parent, command: RedriveMapRun, signal: AbortSignal): Promise<Happening | undefined>;
  /** Ends runs that nobody waits for, and whose process is gone. */
  endAbandoned(): Promise<void>;
}

const concurrencyMax = 1000;
const prefix = "map:";

/** Woken where a run was changed, or is not waited for any more. */
export const mapRunKey = (arn: string): string => `${prefix}${arn}`;

/** The runs that this process runs. */
export const runningMapRuns = (waker: Waker): string[] => waker.asleep(prefix);

const resultOf = (index: number, ended: Ended, input: Json | undefined): ChildResult => ({
  index,
  status: ended.status as ChildResult["status"],
  executionArn: ended.arn,
  name: ended.name,
  ...(input === undefined ? {} : { input }),
  redriveCount: ended.redriveCount,
  startMs: ended.startedAtMs,
  stopMs: ended.stoppedAtMs,
  ...(ended.output === null
    ? {}
    : { output: JSON.parse(ended.output) as NonNullable<ChildResult["output"]> }),
  ...(ended.error === null ? {} : { error: ended.error }),
  ...(ended.cause === null ? {} : { cause: ended.cause }),
});

/** What a child is called, the same in each attempt to start it. */
function namesOf(mapRunArn: string, index: number) {
  const name = nameOf(`${mapRunArn}/${index}`);
  // arn:…:mapRun:Machine/Label:UUID
  const parts = mapRunArn.split(":");
  const label = parts[6]!;
  const scope = parts.slice(0, 5).join(":");
  return {
    name,
    label,
    machineArn: `${scope}:stateMachine:${label}`,
    arn: `${scope}:execution:${label}:${name}`,
  };
}

/** Those that never ran. */
function pendingOf({ arn, inputs }: StartMapRun, children: readonly ChildResult[]): PendingChild[] {
  const ran = new Set(children.map(({ index }) => index));
  return inputs.flatMap((input, index) => {
    if (ran.has(index)) return [];
    const { name, arn: executionArn } = namesOf(arn, index);
    return [{ executionArn, name, input }];
  });
}

/** The child that runs one item, as it will stand in the database. */
function childOf(
  parent: Parent,
  command: StartMapRun,
  at: { runId: string; index: number; nowMs: number },
): NewRun {
  const { execution } = parent.state;
  const { name, label, machineArn, arn } = namesOf(command.arn, at.index);
  const path = parent.processor === null ? [] : (JSON.parse(parent.processor) as string[]);
  return {
    arn,
    name,
    machineId: parent.machineId,
    machineArn,
    revision: parent.revision,
    type: command.executionType,
    versionArn: null,
    aliasArn: null,
    traceHeader: null,
    mapRunId: at.runId,
    itemIndex: at.index,
    processor: JSON.stringify([...path, command.stateName]),
    input: JSON.stringify(command.inputs[at.index]),
    startedAtMs: at.nowMs,
    execution: {
      id: arn,
      name,
      roleArn: execution.roleArn,
      startTime: new Date(at.nowMs).toISOString(),
      redriveCount: 0,
      machineId: machineArn,
      machineName: label,
    },
  };
}

const toleranceOf = ({ failureCount, failurePercentage }: store.MapRunControl): Tolerance => ({
  ...(failureCount === null ? {} : { failureCount }),
  ...(failurePercentage === null ? {} : { failurePercentage }),
});

/** A run under way in this process. */
interface Work {
  readonly arn: string;
  readonly parent: Parent;
  /** What the run began with; undefined where all children have succeeded, so that none has to begin. */
  readonly first: StartMapRun | undefined;
  control: store.MapRunControl;
  changed?: () => void;
}

const rowOf = (parent: Parent, command: StartMapRun): store.NewMapRun => ({
  arn: command.arn,
  executionId: parent.id,
  number: command.mapRun,
  machineArn: parent.state.execution.machineId,
  concurrency: command.maxConcurrency,
  failureCount: command.tolerance.failureCount,
  failurePercentage: command.tolerance.failurePercentage,
  itemCount: command.itemCount,
  childCount: command.inputs.length,
  batchSizes: command.batchSizes,
  command: JSON.stringify(command),
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const lastAttemptMs = 10_000;
const pauseMs = 200;

export function makeMapRuns(options: MapRunOptions): MapRuns {
  const { database, waker, nowMs, begin, idOf, waitEnd, stop } = options;

  async function stopChildren(runId: string): Promise<void> {
    const children = await store.listMapChildren(database, runId);
    await Promise.all(children.filter(({ status }) => status === "RUNNING").map(({ id }) => stop(id)));
  }

  async function abort({ arn, id }: { readonly arn: string; readonly id: string }): Promise<void> {
    await stopChildren(id);
    await store.endMapRun(database, arn, "ABORTED");
  }

  /** The child's execution, begun or redriven where need be. */
  async function beginChild(work: Work, index: number, known: store.MapChild | undefined): Promise<string> {
    if (known?.status === "PENDING_REDRIVE" && !(await options.redrive(known.id)))
      await store.leaveEnded(database, known.id);
    if (known) return known.id;
    const child = childOf(work.parent, work.first!, { runId: work.control.id, index, nowMs: nowMs() });
    return (await begin(child)) ?? (await idOf(child.arn))!;
  }

  /** Runs all children that are left; what became of each. */
  async function runAll(work: Work, signal: AbortSignal): Promise<ChildResult[]> {
    const { id: runId, childCount } = work.control;
    const children = await store.listMapChildren(database, runId);
    const known = new Map(children.map((child) => [child.index, child]));
    const results: ChildResult[] = [];
    let failed = 0;
    const isOver = () => exceedsTolerance(toleranceOf(work.control), childCount, failed);
    const lanes = makeLanes(childCount, {
      atOnce: () => Math.min(work.control.concurrency || concurrencyMax, concurrencyMax),
      isOver,
      async each(index) {
        signal.throwIfAborted();
        const id = await beginChild(work, index, known.get(index));
        const ended = await waitEnd(id, signal);
        results.push(resultOf(index, ended, work.first?.inputs[index]));
        if (ended.status === "SUCCEEDED" || isOver()) return;
        failed++;
        if (isOver()) await stopChildren(runId);
      },
    });
    work.changed = () => {
      if (isOver()) stopChildren(runId).catch(lanes.fail);
      lanes.look();
    };
    await lanes.run();
    return results;
  }

  /** Reads the run's row again whenever there is something to see; `gone` where nobody waits for the run. */
  function watch(work: Work, gone: () => void): () => void {
    const key = mapRunKey(work.arn);
    const awake = waker.sleep(key);
    const look = async () => {
      work.control = await store.readControl(database, work.arn);
      if (work.control.wanted) work.changed?.();
      else gone();
    };
    // What fails is tried at the next beat.
    const unsubscribe = waker.subscribe(key, () => void look().catch(() => undefined));
    return () => {
      awake();
      unsubscribe();
    };
  }

  async function runToEnd(work: Work, mapRun: number, given: AbortSignal): Promise<Happening | undefined> {
    const gone = new AbortController();
    const signal = AbortSignal.any([given, gone.signal]);
    setMaxListeners(0, signal); // All children that are under way listen to it.
    const unwatch = watch(work, () => gone.abort("cancelled"));
    try {
      const children = await runAll(work, signal);
      const failed = children.filter(({ status }) => status !== "SUCCEEDED").length;
      const tolerance = toleranceOf(work.control);
      const isFailed = exceedsTolerance(tolerance, work.control.childCount, failed);
      await store.endMapRun(database, work.arn, isFailed ? "FAILED" : "SUCCEEDED");
      const pending = isFailed && work.first ? { pending: pendingOf(work.first, children) } : {};
      return { type: "mapRunEnded", mapRun, children, ...pending, tolerance };
    } catch (cause) {
      if (signal.reason !== "cancelled") throw cause;
      await abort({ arn: work.arn, id: work.control.id });
      return undefined;
    } finally {
      unwatch();
    }
  }

  /** Begins the redrive once what is left of the last attempt has ended, or has had its time to. */
  async function beginRedrive(command: RedriveMapRun, signal: AbortSignal): Promise<store.MapRunControl> {
    const { arn, mapRun: number, redriveCount } = command;
    const patience = performance.now() + lastAttemptMs;
    for (;;) {
      signal.throwIfAborted();
      await store.beginRedrive(database, { arn, number, redriveCount }, historyFullCause);
      const control = await store.readControl(database, arn);
      if (control.redriveCount >= redriveCount) return control;
      if (performance.now() > patience) await abort({ arn, id: control.id });
      else await pause(pauseMs);
    }
  }

  return {
    async run(parent, command, signal) {
      await store.insertMapRun(database, rowOf(parent, command));
      const control = await store.readControl(database, command.arn);
      return runToEnd({ arn: command.arn, parent, first: command, control }, command.mapRun, signal);
    },
    async redrive(parent, command, signal) {
      const { arn, mapRun } = command;
      const control = await beginRedrive(command, signal);
      const first = control.command === null ? undefined : (JSON.parse(control.command) as StartMapRun);
      return runToEnd({ arn, parent, first, control }, mapRun, signal);
    },
    async endAbandoned() {
      for (const run of await store.findAbandoned(database)) await abort(run);
    },
  };
}
