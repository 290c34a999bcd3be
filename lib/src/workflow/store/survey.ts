// Machines and executions as lists that people watch, and what a running execution waits for. Counts look at the latest
// executions of a machine only, so that watching costs the same however many there have been.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { machineArn } from "../arn.ts";
import type { ExecutionStatus, ExecutionType, Scope } from "../contract.ts";

type Runner = Pick<Sql, "run">;

/** How many of a machine's latest executions its counts tell of. */
export const recentMax = 500;

export interface MachineSurvey {
  readonly arn: string;
  readonly name: string;
  readonly type: ExecutionType;
  /** Whether an application carries out tasks of it. */
  readonly declared: boolean;
  /** The latest executions by status, 500 at most. */
  readonly recent: Readonly<Partial<Record<ExecutionStatus, number>>>;
  readonly startedAtMs: number | null;
  readonly updatedAtMs: number;
}

export interface MachinePage {
  /** Part of a name. */
  readonly search: string;
  /** The name that the page before ended with. */
  readonly after: string;
  readonly limit: number;
}

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

const machines = statement(
  `select m.account, m.region, m.name, m.type, r.handlers is not null as declared, ${ms("r.created_at")} as "updatedAtMs",
     e.recent, ${ms("e.started_at")} as "startedAtMs"
   from tuntas.machine m
     cross join lateral (select handlers, created_at from tuntas.machine_revision r where r.machine_id = m.id order by r.id desc limit 1) r
     cross join lateral (select coalesce(json_object_agg(status, n), '{}') as recent, max(started_at) as started_at
       from (select status, count(*) as n, max(started_at) as started_at
         from (select status, started_at from tuntas.execution e where e.machine_id = m.id and e.map_run_id is null
           order by e.id desc limit ${recentMax}) latest group by status) s) e
   where m.account = $1 and m.region = $2 and ($3 = '' or position($3 in m.name) > 0) and m.name > $4 order by m.name limit $5`,
);

export const surveyMachines = async (
  sql: Runner,
  { account, region }: Scope,
  { search, after, limit }: MachinePage,
): Promise<MachineSurvey[]> =>
  (await sql.run<Omit<MachineSurvey, "arn"> & Scope>(machines, [account, region, search, after, limit])).map(
    ({ account, region, ...row }) => ({ ...row, arn: machineArn({ account, region }, row.name) }),
  );

export interface ExecutionSummary {
  readonly id: string;
  readonly arn: string;
  readonly name: string;
  readonly machine: string;
  readonly status: ExecutionStatus;
  readonly error: string | null;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number | null;
  readonly redriveCount: number;
  /** States in which it waits now; empty once it has ended. */
  readonly states: readonly string[];
}

/** Which executions; all that is given must hold. */
export interface ExecutionSearch {
  /** A machine's name. */
  readonly machine?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
  readonly namePrefix?: string | undefined;
  /** An error's name, or its beginning. */
  readonly error?: string | undefined;
  /** Children of this map run; else those that are nobody's children. */
  readonly mapRunArn?: string | undefined;
  readonly startedFromMs?: number | undefined;
  readonly startedToMs?: number | undefined;
  /** The id that the page before ended with. */
  readonly before?: string | undefined;
  readonly limit: number;
}

// The state of an execution is JSON text that may be long, so it is only looked into for the rows of the page.
const search = statement(
  `with page as materialized (
     select e.id, e.arn, e.name, e.machine_arn, e.status, e.error, e.started_at, e.stopped_at, e.redrive_count from tuntas.execution e
     where ($1::bigint is null or e.id < $1)
       and ($2::text is null or e.machine_id = (select m.id from tuntas.machine m where m.account = $3 and m.region = $4 and m.name = $2))
       and case when $5::text is null then e.map_run_id is null else e.map_run_id = (select id from tuntas.map_run where arn = $5) end
       and ($6::text is null or e.status = $6) and ($7::text is null or starts_with(e.name, $7))
       and ($8::text is null or starts_with(e.error, $8))
       and ($9::float8 is null or e.started_at >= to_timestamp($9 / 1000)) and ($10::float8 is null or e.started_at < to_timestamp($10 / 1000))
     order by e.id desc limit $11)
   select p.id::text as id, p.arn, p.name, split_part(p.machine_arn, ':', 7) as machine, p.status, p.error, ${ms("p.started_at")} as "startedAtMs",
     ${ms("p.stopped_at")} as "stoppedAtMs", p.redrive_count as "redriveCount",
     case when p.status <> 'RUNNING' then '{}' else coalesce((select array_agg(distinct b ->> 'state')
       from tuntas.execution_state s, json_array_elements(s.state::json -> 'branches') b
       where s.execution_id = p.id and coalesce(b -> 'wait' ->> 'for', '') <> 'children'), '{}') end as states
   from page p order by p.id desc`,
);

export const searchExecutions = (
  sql: Runner,
  { account, region }: Scope,
  wanted: ExecutionSearch,
): Promise<ExecutionSummary[]> =>
  sql.run<ExecutionSummary & Record<string, unknown>>(search, [
    wanted.before ?? null,
    wanted.machine ?? null,
    account,
    region,
    wanted.mapRunArn ?? null,
    wanted.status ?? null,
    wanted.namePrefix ?? null,
    wanted.error ?? null,
    wanted.startedFromMs ?? null,
    wanted.startedToMs ?? null,
    wanted.limit,
  ]);

export interface DueRow {
  readonly key: string;
  readonly dueAtMs: number;
}

/** What the clock will bring to an execution. */
export const listDue = (sql: Runner, executionId: string): Promise<DueRow[]> =>
  sql.run<DueRow & Record<string, unknown>>(due, [executionId]);

const due = statement(
  `select key, ${ms("due")} as "dueAtMs" from tuntas.workflow_due where execution_id = $1`,
);

export interface CallRow {
  readonly key: string;
  readonly command: string;
  readonly hasToken: boolean;
  readonly activityArn: string | null;
  readonly started: boolean;
  readonly own: boolean;
  /** The live process that makes the call. */
  readonly process: string | null;
}

const calls = statement(
  `select c.key, c.command, c.token_hash is not null as "hasToken", c.activity_arn as "activityArn", c.started, c.pool is not null as own,
     p.name || ' (' || p.pid || ' on ' || p.host || ')' as process
   from tuntas.workflow_call c left join tuntas.process p on p.id = c.owner_id and p.expires_at > tuntas.now()
   where c.execution_id = $1`,
);

/** The calls of an execution that are under way. */
export const listCalls = (sql: Runner, executionId: string): Promise<CallRow[]> =>
  sql.run<CallRow & Record<string, unknown>>(calls, [executionId]);
