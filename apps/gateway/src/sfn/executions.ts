// Executions over the wire: started, described, listed, stopped, redriven, and their history.
import { randomUUID } from "node:crypto";
import { isTuntasError } from "tuntas";
import { historyFullCause, wireEvent } from "tuntas/asl";
import type { ExecutionRecord, Target } from "tuntas/workflow";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import {
  checkArn,
  checkInput,
  checkMachineArn,
  checkName,
  cut,
  failureOf,
  pageOf,
  seconds,
  wantsData,
} from "./checks.ts";
import { sfnError } from "./errors.ts";
import { machineMissing } from "./machines.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

async function findTarget({ workflows }: Rooms, arn: string): Promise<Target> {
  checkMachineArn(arn);
  const target = await workflows.machines.resolve(arn);
  if (!target) throw machineMissing(arn);
  return target;
}

const unsupported = () =>
  sfnError("StateMachineTypeNotSupported", "This operation is not supported by this type of state machine");

function requestOf(target: Target, input: Input<"start">) {
  return {
    target,
    name: input.name === undefined ? randomUUID() : checkName(input.name),
    input: checkInput(input.input ?? "{}"),
    traceHeader: input.traceHeader,
  };
}

export async function startExecution(rooms: Rooms, _call: Call, input: Input<"start">) {
  const target = await findTarget(rooms, input.stateMachineArn);
  const started = await rooms.workflows.executions.start(requestOf(target, input));
  if (started.status === "conflict") throw sfnError("ExecutionAlreadyExists", started.arn);
  return { executionArn: started.arn, startDate: seconds(started.startedAtMs) };
}

/** What flowed in or out, or that it was left out. */
function shown(name: "input" | "output", text: string | null | undefined, isWanted: boolean) {
  if (text === null || text === undefined) return {};
  return { ...(isWanted ? { [name]: text } : {}), [`${name}Details`]: { included: isWanted } };
}

export async function startSyncExecution(rooms: Rooms, _call: Call, input: Input<"startSync">) {
  const isWanted = wantsData(input);
  const target = await findTarget(rooms, input.stateMachineArn);
  if (target.machine.type !== "EXPRESS") throw unsupported();
  const request = requestOf(target, input);
  const ended = await rooms.workflows.executions.startSync(request);
  const { status, output, error, cause } = ended;
  const durationMs = ended.stoppedAtMs - ended.startedAtMs;
  return {
    billingDetails: {
      billedDurationInMilliseconds: Math.max(100, Math.ceil(durationMs / 100) * 100),
      billedMemoryUsedInMB: 64,
    },
    ...(cause === undefined ? {} : { cause }),
    ...(error === undefined ? {} : { error }),
    executionArn: ended.arn,
    ...shown("input", request.input, isWanted),
    name: request.name,
    ...shown("output", output, isWanted),
    startDate: seconds(ended.startedAtMs),
    stateMachineArn: target.machine.arn,
    status,
    stopDate: seconds(ended.stoppedAtMs),
  };
}

export async function findExecution({ workflows }: Rooms, given: string): Promise<ExecutionRecord> {
  const arn = checkArn(given, "execution");
  const execution = await workflows.executions.find(arn);
  if (!execution) throw sfnError("ExecutionDoesNotExist", arn);
  return execution;
}

const redriveDays = 14;

/** What AWS says of a redrive that would be asked for now. */
function redriveOf({ status, stoppedAtMs, mapRunArn, cause }: ExecutionRecord, nowMs: number) {
  const refused = (redriveStatusReason: string) => ({ redriveStatus: "NOT_REDRIVABLE", redriveStatusReason });
  if (status === "RUNNING" || status === "SUCCEEDED")
    return refused(`Execution is ${status} and cannot be redriven`);
  if (cause === historyFullCause)
    return refused("Execution has reached the maximum number of history events and cannot be redriven");
  if (mapRunArn !== null) return { redriveStatus: "REDRIVABLE_BY_MAP_RUN" };
  if (nowMs - (stoppedAtMs ?? nowMs) > redriveDays * 86_400_000)
    return refused("Execution is past its redrivable period and cannot be redriven");
  return { redriveStatus: "REDRIVABLE" };
}

const namedBy = ({ versionArn, aliasArn }: ExecutionRecord) => ({
  ...(aliasArn === null ? {} : { stateMachineAliasArn: aliasArn }),
  ...(versionArn === null ? {} : { stateMachineVersionArn: versionArn }),
});

const timesOf = (execution: ExecutionRecord) => ({
  redriveCount: execution.redriveCount,
  ...(execution.redrivenAtMs === null ? {} : { redriveDate: seconds(execution.redrivenAtMs) }),
  startDate: seconds(execution.startedAtMs),
  ...(execution.stoppedAtMs === null ? {} : { stopDate: seconds(execution.stoppedAtMs) }),
});

export async function describeExecution(rooms: Rooms, _call: Call, input: Input<"execution">) {
  const isWanted = wantsData(input);
  const execution = await findExecution(rooms, input.executionArn);
  const { cause, error, output, mapRunArn, traceHeader } = execution;
  return {
    ...(cause === undefined ? {} : { cause }),
    ...(error === undefined ? {} : { error }),
    executionArn: execution.arn,
    ...shown("input", execution.input, isWanted),
    ...(mapRunArn === null ? {} : { mapRunArn }),
    name: execution.name,
    ...shown("output", output, isWanted),
    ...redriveOf(execution, rooms.workflows.nowMs()),
    ...timesOf(execution),
    stateMachineArn: execution.machineArn,
    ...namedBy(execution),
    status: execution.status,
    ...(traceHeader === null ? {} : { traceHeader }),
  };
}

const listed = (execution: ExecutionRecord) => ({
  executionArn: execution.arn,
  ...(execution.mapRunArn === null ? {} : { mapRunArn: execution.mapRunArn }),
  ...(execution.itemCount === undefined ? {} : { itemCount: execution.itemCount }),
  name: execution.name,
  ...timesOf(execution),
  stateMachineArn: execution.machineArn,
  ...namedBy(execution),
  status: execution.status,
});

function checkRedriven({ redriveFilter, mapRunArn }: Input<"listExecutions">): boolean | undefined {
  if (redriveFilter === undefined) return undefined;
  if (mapRunArn === undefined)
    throw sfnError("ValidationException", "redriveFilter is only supported with mapRunArn");
  return redriveFilter === "REDRIVEN";
}

export async function listExecutions(rooms: Rooms, _call: Call, input: Input<"listExecutions">) {
  const page = pageOf(input);
  const found = await executionsOf(rooms, input, { status: input.statusFilter, page });
  const { items, nextToken } = cut(found, page);
  return { executions: items.map(listed), ...(nextToken === undefined ? {} : { nextToken }) };
}

async function executionsOf(
  { workflows }: Rooms,
  input: Input<"listExecutions">,
  { status, page }: { status: string | undefined; page: ReturnType<typeof pageOf> },
): Promise<ExecutionRecord[]> {
  const { stateMachineArn, mapRunArn } = input;
  const redriven = checkRedriven(input);
  if (mapRunArn !== undefined && stateMachineArn !== undefined)
    throw sfnError("ValidationException", "Either a stateMachineArn or a mapRunArn may be given, not both");
  if (mapRunArn !== undefined) {
    if (!(await workflows.executions.mapRun(checkArn(mapRunArn, "mapRun"))))
      throw sfnError("ResourceNotFound", `Map Run Does Not Exist: '${mapRunArn}'`);
    return workflows.executions.children(mapRunArn, { status, redriven }, page);
  }
  if (stateMachineArn === undefined)
    throw sfnError("ValidationException", "Either a stateMachineArn or a mapRunArn must be given");
  const { scope, name, qualifier } = checkMachineArn(stateMachineArn);
  const machine = await workflows.machines.find(scope, name);
  if (!machine) throw machineMissing(stateMachineArn);
  if (machine.type === "EXPRESS") throw unsupported();
  const startedBy = qualifier === undefined ? undefined : stateMachineArn;
  return workflows.executions.list(machine, { status, startedBy }, page);
}

export async function stopExecution(rooms: Rooms, _call: Call, input: Input<"stop">) {
  const execution = await findExecution(rooms, input.executionArn);
  await rooms.workflows.executions.stop(execution, failureOf(input));
  const { stoppedAtMs } = await findExecution(rooms, execution.arn);
  return { stopDate: seconds(stoppedAtMs ?? rooms.workflows.nowMs()) };
}

/** Redrives unless it may not be, and says when it was redriven. */
async function redriven(
  { workflows: { executions, nowMs } }: Rooms,
  execution: ExecutionRecord,
  clientToken: string | undefined,
): Promise<number> {
  const before = async () =>
    clientToken === undefined ? undefined : executions.redrivenBy(execution, clientToken);
  const same = await before();
  if (same !== undefined) return same;
  const refusal: { redriveStatus: string; redriveStatusReason?: string } = redriveOf(execution, nowMs());
  if (refusal.redriveStatus !== "REDRIVABLE")
    throw sfnError(
      "ExecutionNotRedrivable",
      refusal.redriveStatusReason ?? "Execution is a child of a Map Run and is redriven with it",
    );
  const along = clientToken === undefined ? undefined : { clientToken };
  const isRedriven = await executions.redrive(execution, along).catch((cause: unknown) => {
    throw isTuntasError(cause, "TUNTAS_REDRIVE_REFUSED")
      ? sfnError("ExecutionNotRedrivable", cause.message)
      : cause;
  });
  // Of two that came at once with the same token, the other one may have redriven it.
  const atMs = (await before()) ?? (isRedriven ? (await executions.find(execution.arn))?.redrivenAtMs : null);
  if (atMs === null) throw sfnError("ExecutionNotRedrivable", "Execution cannot be redriven as it is now");
  return atMs ?? nowMs();
}

export async function redriveExecution(rooms: Rooms, _call: Call, input: Input<"redrive">) {
  const execution = await findExecution(rooms, input.executionArn);
  return { redriveDate: seconds(await redriven(rooms, execution, input.clientToken)) };
}

/** Without execution data, what flowed in and out is left out; what a task was asked stays, as on AWS. */
function withoutData(event: Record<string, unknown>): Record<string, unknown> {
  const hidden = new Set(["input", "output", "inputDetails", "outputDetails"]);
  const strip = (details: object) =>
    Object.fromEntries(Object.entries(details).filter(([name]) => !hidden.has(name)));
  return Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name,
      name.endsWith("EventDetails") ? strip(value as object) : value,
    ]),
  );
}

export async function getExecutionHistory(rooms: Rooms, _call: Call, input: Input<"history">) {
  const page = pageOf(input);
  const execution = await findExecution(rooms, input.executionArn);
  const history = await rooms.workflows.executions.history(execution);
  const ordered = input.reverseOrder === true ? history.toReversed() : history;
  const { items, nextToken } = cut(ordered.slice(page.offset, page.offset + page.limit), page);
  const events = items.map((event) =>
    input.includeExecutionData === false
      ? withoutData(event as unknown as Record<string, unknown>)
      : wireEvent(event),
  );
  return { events, ...(nextToken === undefined ? {} : { nextToken }) };
}
