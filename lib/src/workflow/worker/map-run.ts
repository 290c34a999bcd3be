// Runs the children of a distributed Map: executions of their own, so many at a time. Everything that has happened
// stands in the database, so that a process that takes the run over goes on where the dead one was.
import { exceedsTolerance } from "../../asl/index.ts";
import type { ChildResult, Happening, StartMapRun } from "../../asl/contract.ts";
import type { Sql } from "../../pg/contract.ts";
import { nameOf } from "../token.ts";
import type { Ended } from "../store/executions.ts";
import { endMapRun, insertMapRun, listMapChildren } from "../store/map-runs.ts";
import type { Held, NewRun } from "./engine.ts";

export interface MapRunOptions {
  readonly database: Pick<Sql, "run">;
  readonly nowMs: () => number;
  readonly begin: (run: NewRun) => Promise<string | undefined>;
  readonly idOf: (arn: string) => Promise<string | undefined>;
  readonly waitEnd: (id: string, signal: AbortSignal) => Promise<Ended>;
  readonly stop: (id: string) => Promise<void>;
}

export interface Parent extends Pick<Held, "id" | "revision" | "processor" | "state"> {
  readonly machineId: string;
}

const concurrencyMax = 1000;

const resultOf = (index: number, ended: Ended): ChildResult => ({
  index,
  status: ended.status as ChildResult["status"],
  executionArn: ended.arn,
  name: ended.name,
  startMs: ended.startedAtMs,
  stopMs: ended.stoppedAtMs,
  ...(ended.output === null
    ? {}
    : { output: JSON.parse(ended.output) as NonNullable<ChildResult["output"]> }),
  ...(ended.error === null ? {} : { error: ended.error }),
  ...(ended.cause === null ? {} : { cause: ended.cause }),
});

/** The child that runs one item, as it will stand in the database. */
function childOf(
  parent: Parent,
  command: StartMapRun,
  at: { runId: string; index: number; nowMs: number },
): NewRun {
  const { execution } = parent.state;
  // The same child has the same name in each attempt to start it.
  const name = nameOf(`${command.arn}/${at.index}`);
  // arn:…:mapRun:Machine/Label:UUID
  const parts = command.arn.split(":");
  const label = parts[6]!;
  const prefix = parts.slice(0, 5).join(":");
  const machineArn = `${prefix}:stateMachine:${label}`;
  const arn = `${prefix}:execution:${label}:${name}`;
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

export function makeMapRuns({ database, nowMs, begin, idOf, waitEnd, stop }: MapRunOptions) {
  const insert = (parent: Parent, command: StartMapRun) =>
    insertMapRun(database, {
      arn: command.arn,
      executionId: parent.id,
      number: command.mapRun,
      machineArn: parent.state.execution.machineId,
      concurrency: command.maxConcurrency,
      failureCount: command.tolerance.failureCount,
      failurePercentage: command.tolerance.failurePercentage,
      itemCount: command.itemCount,
    });

  async function stopChildren(runId: string): Promise<void> {
    const children = await listMapChildren(database, runId);
    await Promise.all(children.filter(({ status }) => status === "RUNNING").map(({ id }) => stop(id)));
  }

  async function runAll(
    parent: Parent,
    command: StartMapRun,
    { runId, signal }: { runId: string; signal: AbortSignal },
  ): Promise<ChildResult[]> {
    const { inputs, tolerance, maxConcurrency } = command;
    const known = new Map((await listMapChildren(database, runId)).map((child) => [child.index, child.id]));
    const results: ChildResult[] = [];
    let failed = 0;
    let next = 0;
    const isOver = () => exceedsTolerance(tolerance, inputs.length, failed);

    async function lane(): Promise<void> {
      while (next < inputs.length && !isOver()) {
        const index = next++;
        const child = childOf(parent, command, { runId, index, nowMs: nowMs() });
        const id = known.get(index) ?? (await begin(child)) ?? (await idOf(child.arn))!;
        const ended = await waitEnd(id, signal);
        results.push(resultOf(index, ended));
        if (ended.status === "SUCCEEDED" || isOver()) continue;
        failed++;
        if (isOver()) await stopChildren(runId);
      }
    }

    const lanes = Math.min(maxConcurrency || concurrencyMax, concurrencyMax, inputs.length);
    await Promise.all(Array.from({ length: lanes }, lane));
    return results;
  }

  /** Runs to the end of all children; the event that tells the parent. */
  return async (parent: Parent, command: StartMapRun, signal: AbortSignal): Promise<Happening> => {
    const runId = await insert(parent, command);
    try {
      const children = await runAll(parent, command, { runId, signal });
      const failed = children.filter(({ status }) => status !== "SUCCEEDED").length;
      const isFailed = exceedsTolerance(command.tolerance, command.inputs.length, failed);
      await endMapRun(database, command.arn, isFailed ? "FAILED" : "SUCCEEDED");
      return { type: "mapRunEnded", mapRun: command.mapRun, children };
    } catch (cause) {
      if (signal.reason !== "cancelled") throw cause;
      await stopChildren(runId);
      await endMapRun(database, command.arn, "ABORTED");
      throw cause;
    }
  };
}
