// Executions as they are asked for: by ARN, by machine, by map run; and what the engine loads to go on.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { ExecutionRecord, HistoryEvent, Page } from "../contract.ts";
import { eventsOf } from "./events.ts";

type Runner = Pick<Sql | Tx, "run">;

const facts = `e.id::text as id, e.arn, e.name, e.machine_id::text as "machineId", e.machine_arn as "machineArn",
  e.machine_revision::text as revision, e.type, e.version_arn as "versionArn", e.alias_arn as "aliasArn",
  e.trace_header as "traceHeader", r.arn as "mapRunArn", e.status, ${ms("e.started_at")} as "startedAtMs",
  ${ms("e.stopped_at")} as "stoppedAtMs", e.redrive_count as "redriveCount", ${ms("e.redriven_at")} as "redrivenAtMs"`;
const texts = `e.input, e.output, e.error, e.cause`;
const noTexts = `'' as input, null as output, null as error, null as cause`;
const from = `from tuntas.execution e left join tuntas.map_run r on r.id = e.map_run_id`;

type Row = Omit<ExecutionRecord, "error" | "cause"> & { error: string | null; cause: string | null };

const toRecord = ({ error, cause, ...row }: Row): ExecutionRecord => ({
  ...row,
  ...(error === null ? {} : { error }),
  ...(cause === null ? {} : { cause }),
});

const byArn = statement(`select ${facts}, ${texts} ${from} where e.arn = $1`);

export async function findExecution(sql: Runner, arn: string): Promise<ExecutionRecord | undefined> {
  const [row] = await sql.run<Row>(byArn, [arn]);
  return row && toRecord(row);
}

const byMachine = statement(
  `select ${facts}, ${noTexts} ${from} where e.machine_id = $1 and e.map_run_id is null
     and ($2::text is null or e.status = $2)
     and ($3::text is null or e.version_arn = $3 or e.alias_arn = $3)
   order by e.id desc limit $4 offset $5`,
);

export interface ExecutionFilter {
  readonly status?: string | undefined;
  /** The ARN of a version or alias that they were started by. */
  readonly startedBy?: string | undefined;
}

export const listExecutions = async (
  sql: Runner,
  machineId: string,
  { status, startedBy }: ExecutionFilter,
  { limit, offset }: Page,
) =>
  (await sql.run<Row>(byMachine, [machineId, status ?? null, startedBy ?? null, limit, offset])).map(
    toRecord,
  );

/** Which of the executions that failed. What is left out is not asked for. */
export interface FailedFilter {
  readonly status?: "FAILED" | "TIMED_OUT" | "ABORTED" | undefined;
  readonly error?: string | undefined;
  /** Failed at this instant or later. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

const failed = statement(
  `select ${facts}, ${noTexts} ${from} where e.machine_id = $1 and e.map_run_id is null and e.id > $2
     and e.status in ('FAILED', 'TIMED_OUT', 'ABORTED') and ($3::text is null or e.status = $3) and ($4::text is null or e.error = $4)
     and ($5::float8 is null or e.stopped_at >= to_timestamp($5::float8 / 1000))
     and ($6::float8 is null or e.stopped_at <= to_timestamp($6::float8 / 1000))
   order by e.id limit $7`,
);

/** What failed, in the order in which it was started, after the id `after`. */
export const findFailed = async (
  sql: Runner,
  machineId: string,
  { status, error, sinceMs, untilMs }: FailedFilter,
  { after, limit }: { readonly after: string; readonly limit: number },
) =>
  (
    await sql.run<Row>(failed, [
      machineId,
      after,
      status ?? null,
      error ?? null,
      sinceMs ?? null,
      untilMs ?? null,
      limit,
    ])
  ).map(toRecord);

const byMapRun = statement(
  `select ${facts}, ${noTexts}, coalesce(r.batch_sizes[e.item_index + 1], 1) as "itemCount" ${from}
   where r.arn = $1 and ($2::text is null or e.status = $2) and ($3::boolean is null or (e.redrive_count > 0) = $3)
   order by e.id desc limit $4 offset $5`,
);

export interface ChildFilter {
  readonly status?: string | undefined;
  /** Only those that were redriven, or that were not. */
  readonly redriven?: boolean | undefined;
}

export const listChildren = async (
  sql: Runner,
  mapRunArn: string,
  { status, redriven }: ChildFilter,
  { limit, offset }: Page,
) =>
  (await sql.run<Row>(byMapRun, [mapRunArn, status ?? null, redriven ?? null, limit, offset])).map(toRecord);

const family = statement(
  `with recursive up as (
     select e.arn, e.id, e.map_run_id from tuntas.execution e where e.arn = any($2::text[])
     union all
     select up.arn, parent.id, parent.map_run_id
     from up join tuntas.map_run r on r.id = up.map_run_id join tuntas.execution parent on parent.id = r.execution_id
   )
   select arn from up where id = $1`,
);

/** Those of the ARNs that are the execution's own, or that of a child of its maps, however deep. */
export const familyAmong = async (
  sql: Runner,
  executionId: string,
  arns: readonly string[],
): Promise<string[]> => (await sql.run<{ arn: string }>(family, [executionId, arns])).map((row) => row.arn);

const history = statement(`select events from tuntas.execution_history where execution_id = $1 order by seq`);

/** All events, in order. */
export async function readHistory(sql: Runner, executionId: string): Promise<HistoryEvent[]> {
  const rows = await sql.run<{ events: string }>(history, [executionId]);
  return rows.flatMap(({ events }) => eventsOf(events));
}

const historyAfterText = statement(
  `select seq, events from tuntas.execution_history where execution_id = $1 and seq > $2 order by seq`,
);

/** A part of a history: the events of one advance. */
export interface HistoryPage {
  readonly seq: number;
  readonly events: readonly HistoryEvent[];
}

/** What was added after that part; all of it after -1. */
export async function readHistoryAfter(
  sql: Runner,
  executionId: string,
  seq: number,
): Promise<HistoryPage[]> {
  const rows = await sql.run<{ seq: number; events: string }>(historyAfterText, [executionId, seq]);
  return rows.map((row) => ({ seq: row.seq, events: eventsOf(row.events) }));
}

/** What never changes but for a redrive. */
export interface Facts {
  readonly arn: string;
  readonly name: string;
  readonly machineArn: string;
  readonly roleArn: string;
  readonly startedAtMs: number;
  readonly redriveCount: number;
  readonly redrivenAtMs: number | null;
}

export interface Loaded extends Facts {
  readonly id: string;
  readonly seq: number;
  readonly state: string;
  readonly revision: string;
  readonly processor: string | null;
  readonly type: string;
}

const load = statement(
  `select e.id::text as id, e.arn, e.name, e.machine_arn as "machineArn", r.role_arn as "roleArn", e.redrive_count as "redriveCount",
     ${ms("e.redriven_at")} as "redrivenAtMs", ${ms("e.started_at")} as "startedAtMs", s.seq, s.state, e.machine_revision::text as revision, e.processor, e.type
   from tuntas.execution_state s join tuntas.execution e on e.id = s.execution_id
   join tuntas.machine_revision r on r.id = e.machine_revision
   where s.execution_id = any($1::bigint[])`,
);

export const loadExecutions = (sql: Runner, ids: readonly string[]) => sql.run<Loaded>(load, [ids]);

export interface Ended {
  readonly id: string;
  readonly arn: string;
  readonly name: string;
  readonly status: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly cause: string | null;
  readonly redriveCount: number;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number;
}

const endedColumns = `e.id::text as id, e.arn, e.name, e.status, e.output, e.error, e.cause, e.redrive_count as "redriveCount",
  ${ms("e.started_at")} as "startedAtMs", ${ms("e.stopped_at")} as "stoppedAtMs"`;

const ended = statement(
  `select ${endedColumns} from tuntas.execution e where e.id = any($1::bigint[]) and e.status not in ('RUNNING', 'PENDING_REDRIVE')`,
);

/** Those of the executions that have ended. */
export const findEnded = (sql: Runner, ids: readonly string[]) => sql.run<Ended>(ended, [ids]);
