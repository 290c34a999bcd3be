// Executions as callers see them: started (idempotent by name), described, listed, stopped, redriven.
import { randomUUID } from "node:crypto";
import type { Failure, Json } from "../../asl/contract.ts";
import { historyFullCause, isTooDeep, limits, type Machine } from "../../asl/index.ts";
import { assertRedrivable, unknownCallers } from "../../ledger/index.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { join, type Runner, type Transaction } from "../../pg/join.ts";
import { announceIn } from "../store/own.ts";
import { executionArn, expressArn, parseMachineArn } from "../arn.ts";
import {
  type EndedExecution,
  type ExecutionRecord,
  type HistoryEvent,
  type MachineRecord,
  type MapRunRecord,
  type Page,
  type StartRequest,
  type StartResult,
  workflowErrors,
} from "../contract.ts";
import { type Advance, writeAdvances } from "../store/advance.ts";
import * as store from "../store/executions.ts";
import type { HistoryPage } from "../store/executions.ts";
import * as mapRuns from "../store/map-runs.ts";
import { findRedrive, recordRedrive } from "../store/redrives.ts";
import type { NewRun } from "../worker/engine/index.ts";
import { runExpress } from "../worker/express.ts";
import type { WorkflowWorker } from "../worker/index.ts";

export interface Executions {
  start(request: StartRequest): Promise<StartResult>;
  /** The same in the caller's transaction: it begins when that commits. */
  startIn(tx: Transaction, request: StartRequest): Promise<StartResult>;
  /** Runs an Express machine and answers when it has ended: in memory, unless handlers of an application take part. */
  startSync(request: StartRequest): Promise<EndedExecution>;
  find(arn: string): Promise<ExecutionRecord | undefined>;
  list(machine: MachineRecord, filter: store.ExecutionFilter, page: Page): Promise<ExecutionRecord[]>;
  history(execution: ExecutionRecord): Promise<HistoryEvent[]>;
  /** What was added to it after the part `seq`, for whoever follows it; all of it after -1. */
  historyAfter(execution: Pick<ExecutionRecord, "id">, seq: number): Promise<HistoryPage[]>;
  /** False where it had ended already. */
  stop(execution: ExecutionRecord, failure: Failure): Promise<boolean>;
  /** What failed, in the order in which it was started, after the id `after`. */
  failed(
    machine: MachineRecord,
    filter: store.FailedFilter,
    page: { readonly after: string; readonly limit: number },
  ): Promise<ExecutionRecord[]>;
  /** The filter with its end in time: what fails later is not part of it. */
  freeze(filter: store.FailedFilter): store.FailedFilter;
  /**
   * Runs again from where it failed; false where it runs or succeeded. Errors: TUNTAS_REDRIVE_REFUSED where nobody knows
   * what became of a side effect of it, or of a child of its maps.
   */
  redrive(execution: ExecutionRecord, along?: RedrivenAlong): Promise<boolean>;
  /** When the token redrove the execution, in the last 15 minutes. */
  redrivenBy(execution: ExecutionRecord, clientToken: string): Promise<number | undefined>;
  mapRun(arn: string): Promise<MapRunRecord | undefined>;
  mapRuns(execution: ExecutionRecord, page: Page): Promise<MapRunRecord[]>;
  children(mapRunArn: string, filter: store.ChildFilter, page: Page): Promise<ExecutionRecord[]>;
  updateMapRun(arn: string, change: Parameters<typeof mapRuns.updateMapRun>[2]): Promise<boolean>;
}

/** What goes into the commit of a redrive. */
export interface RedrivenAlong {
  /** The same request again is the same redrive (`redrivenBy`). */
  readonly clientToken?: string;
  /** Writes what is to be there if the execution is redriven, and only then. */
  readonly write?: (tx: Tx) => Promise<void>;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function checkDepth(input: string): void {
  if (!isTooDeep(input)) return;
  throw workflowErrors.error(
    "TUNTAS_WORKFLOW_INPUT",
    `expected at most ${limits.nesting} lists and objects within each other`,
  );
}

/** The execution as it will stand in the database. */
function runOf({ target, name, input, traceHeader }: StartRequest, nowMs: number): NewRun {
  const { machine, versionArn, aliasArn } = target;
  checkDepth(input);
  const { scope } = parseMachineArn(machine.arn)!;
  const arn =
    machine.type === "EXPRESS"
      ? expressArn(scope, machine.name, name, randomUUID())
      : executionArn(scope, machine.name, name);
  return {
    arn,
    name,
    machineId: machine.id,
    machineArn: machine.arn,
    revision: machine.revision,
    type: machine.type,
    versionArn,
    aliasArn,
    traceHeader: traceHeader ?? null,
    mapRunId: null,
    itemIndex: null,
    processor: null,
    input,
    startedAtMs: nowMs,
    execution: {
      id: arn,
      name,
      roleArn: machine.roleArn,
      startTime: iso(nowMs),
      redriveCount: 0,
      machineId: machine.arn,
      machineName: machine.name,
    },
  };
}

export function makeExecutions(database: Database, worker: WorkflowWorker): Executions {
  const { engine, clock } = worker;

  /** An execution of that name is there: the same start again, or another one. */
  async function meet(sql: Runner, run: NewRun): Promise<StartResult> {
    const there = (await store.findExecution(sql, run.arn))!;
    const isSame =
      there.status === "RUNNING" && there.input === run.input && there.machineId === run.machineId;
    return isSame
      ? { status: "duplicate", arn: there.arn, startedAtMs: there.startedAtMs }
      : { status: "conflict", arn: there.arn };
  }

  /** In the memory of this process, as long as the caller waits. */
  async function runInMemory(run: NewRun, machine: Machine): Promise<EndedExecution> {
    const end = await runExpress({
      machine,
      execution: run.execution,
      input: JSON.parse(run.input) as Json,
      calls: worker.calls,
      nowMs: clock.nowMs,
      next: worker.next,
    });
    const { type: _type, output, ...rest } = end;
    return {
      arn: run.arn,
      ...rest,
      ...(output === undefined ? {} : { output: JSON.stringify(output) }),
      startedAtMs: run.startedAtMs,
      stoppedAtMs: clock.nowMs(),
    };
  }

  /** As any execution, so that its handlers may be in whatever process, and their writes commit with its steps. */
  async function runKept(run: NewRun): Promise<EndedExecution> {
    const id = (await engine.begin(run))!;
    const ended = await worker.endings.wait(id, new AbortController().signal);
    const { arn, output, error, cause, startedAtMs, stoppedAtMs } = ended;
    return {
      arn,
      status: ended.status as EndedExecution["status"],
      ...(output === null ? {} : { output }),
      ...(error === null ? {} : { error }),
      ...(cause === null ? {} : { cause }),
      startedAtMs,
      stoppedAtMs,
    };
  }

  /** Writes the redrive and what goes along in one commit; the fence tells of two that come at once. */
  const committing =
    (id: string, { clientToken, write }: RedrivenAlong) =>
    (advance: Advance) =>
      database.transaction(async (tx) => {
        const isRepeated =
          clientToken !== undefined && (await findRedrive(tx, id, clientToken)) !== undefined;
        if (isRepeated || !(await writeAdvances(tx, [advance]))(advance)) return false;
        if (clientToken !== undefined) await recordRedrive(tx, id, clientToken);
        await write?.(tx);
        return true;
      });

  return {
    async start(request) {
      const run = runOf(request, clock.nowMs());
      const id = await engine.begin(run);
      if (id === undefined) return meet(database, run);
      return { status: "created", arn: run.arn, startedAtMs: run.startedAtMs };
    },
    async startIn(tx, request) {
      const run = runOf(request, clock.nowMs());
      const runner = join(tx);
      if ((await engine.beginIn(runner, run)) === undefined) return meet(runner, run);
      await announceIn(runner, run.revision);
      return { status: "created", arn: run.arn, startedAtMs: run.startedAtMs };
    },
    async startSync(request) {
      const run = runOf(request, clock.nowMs());
      const { machine, isOwn } = await worker.definitions.get(run.revision, null);
      return isOwn ? runKept(run) : runInMemory(run, machine);
    },
    find: (arn) => store.findExecution(database, arn),
    list: (machine, filter, page) => store.listExecutions(database, machine.id, filter, page),
    history: (execution) => store.readHistory(database, execution.id),
    historyAfter: ({ id }, seq) => store.readHistoryAfter(database, id, seq),
    stop: async (execution, failure) =>
      (await engine.dispatch(execution.id, { type: "stopped", ...failure })) === "applied",
    failed: (machine, filter, page) => store.findFailed(database, machine.id, filter, page),
    freeze: (filter) => ({ ...filter, untilMs: Math.min(filter.untilMs ?? Infinity, clock.nowMs()) }),
    async redrive(execution, along) {
      const callers = await unknownCallers(database);
      const family = callers.length > 0 ? await store.familyAmong(database, execution.id, callers) : [];
      await assertRedrivable(database, family);
      const how = along ? { commit: committing(execution.id, along) } : {};
      return (await engine.dispatch(execution.id, { type: "redriven" }, how)) === "applied";
    },
    redrivenBy: ({ id }, clientToken) => findRedrive(database, id, clientToken),
    mapRun: (arn) => mapRuns.findMapRun(database, arn, historyFullCause),
    mapRuns: ({ arn: executionArn }, page) =>
      mapRuns.listMapRuns(database, { executionArn, historyFull: historyFullCause }, page),
    children: (arn, filter, page) => store.listChildren(database, arn, filter, page),
    async updateMapRun(arn, change) {
      const isRunning = (await mapRuns.updateMapRun(database, arn, change)).length > 0;
      worker.noteMapRun(arn);
      return isRunning;
    },
  };
}
