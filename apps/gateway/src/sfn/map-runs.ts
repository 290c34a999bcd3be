// Map runs over the wire.
import type { MapRunRecord } from "tuntas/workflow";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { checkArn, cut, pageOf, seconds } from "./checks.ts";
import { sfnError } from "./errors.ts";
import { findExecution } from "./executions.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

async function findMapRun({ workflows }: Rooms, arn: string): Promise<MapRunRecord> {
  const text = checkArn(arn, "mapRun");
  const run = await workflows.executions.mapRun(text);
  if (!run) throw sfnError("ResourceNotFound", `Map Run Does Not Exist: '${text}'`);
  return run;
}

function countsOf(
  { exhausted, resultsWritten }: MapRunRecord,
  counts: MapRunRecord["counts"],
  total: number,
) {
  const count = (status: string) => counts[status] ?? 0;
  const started = Object.values(counts);
  const ended = ["ABORTED", "FAILED", "SUCCEEDED", "TIMED_OUT"];
  return {
    aborted: count("ABORTED"),
    failed: count("FAILED"),
    failuresNotRedrivable: exhausted,
    pending: Math.max(0, total - started.reduce((sum, each) => sum + each, 0)),
    pendingRedrive: count("PENDING_REDRIVE"),
    resultsWritten: resultsWritten ? ended.reduce((sum, status) => sum + count(status), 0) : 0,
    running: count("RUNNING"),
    succeeded: count("SUCCEEDED"),
    timedOut: count("TIMED_OUT"),
    total,
  };
}

const timesOf = ({ startedAtMs, stoppedAtMs }: MapRunRecord) => ({
  startDate: seconds(startedAtMs),
  ...(stoppedAtMs === null ? {} : { stopDate: seconds(stoppedAtMs) }),
});

export async function describeMapRun(rooms: Rooms, _call: Call, input: Input<"mapRun">) {
  const run = await findMapRun(rooms, input.mapRunArn);
  return {
    executionArn: run.executionArn,
    executionCounts: countsOf(run, run.counts, run.childCount),
    itemCounts: countsOf(run, run.itemCounts, run.itemCount),
    mapRunArn: run.arn,
    maxConcurrency: run.concurrency,
    redriveCount: run.redriveCount,
    ...(run.redrivenAtMs === null ? {} : { redriveDate: seconds(run.redrivenAtMs) }),
    ...timesOf(run),
    status: run.status,
    toleratedFailureCount: run.failureCount ?? 0,
    toleratedFailurePercentage: run.failurePercentage ?? 0,
  };
}

export async function listMapRuns(rooms: Rooms, _call: Call, input: Input<"listMapRuns">) {
  const page = pageOf(input);
  const execution = await findExecution(rooms, input.executionArn);
  const { items, nextToken } = cut(await rooms.workflows.executions.mapRuns(execution, page), page);
  const mapRuns = items.map((run) => ({
    executionArn: run.executionArn,
    mapRunArn: run.arn,
    ...timesOf(run),
    stateMachineArn: run.machineArn,
  }));
  return { mapRuns, ...(nextToken === undefined ? {} : { nextToken }) };
}

export async function updateMapRun(rooms: Rooms, _call: Call, input: Input<"updateMapRun">) {
  const run = await findMapRun(rooms, input.mapRunArn);
  const { maxConcurrency, toleratedFailureCount, toleratedFailurePercentage } = input;
  const changed = await rooms.workflows.executions.updateMapRun(run.arn, {
    ...(maxConcurrency === undefined ? {} : { concurrency: maxConcurrency }),
    ...(toleratedFailureCount === undefined ? {} : { failureCount: toleratedFailureCount }),
    ...(toleratedFailurePercentage === undefined ? {} : { failurePercentage: toleratedFailurePercentage }),
  });
  if (!changed) throw sfnError("ValidationException", `Map Run is not running: '${run.arn}'`);
  return {};
}
