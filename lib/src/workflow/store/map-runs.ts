// Rows of map runs; their children are executions.
import { pgArray } from "../../pg/arrays.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { MapRunRecord, Page } from "../contract.ts";
import type { Ended } from "./executions.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface NewMapRun {
  readonly arn: string;
  readonly executionId: string;
  readonly number: number;
  readonly machineArn: string;
  readonly concurrency: number;
  readonly failureCount: number | undefined;
  readonly failurePercentage: number | undefined;
  readonly itemCount: number;
  readonly childCount: number;
  readonly batchSizes: readonly number[] | undefined;
  /** JSON text of the command, for a redrive. */
  readonly command: string;
}

const insert = statement(
  `insert into tuntas.map_run (arn, execution_id, number, machine_arn, concurrency, failure_count, failure_percentage,
     item_count, child_count, batch_sizes, command, status, started_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::int[], $11, 'RUNNING', tuntas.now())
   on conflict (arn) do update set arn = excluded.arn returning id::text`,
);

/** The run's id, also where it exists: another process began it. */
export async function insertMapRun(sql: Runner, run: NewMapRun): Promise<string> {
  const [row] = await sql.run<{ id: string }>(insert, [
    run.arn,
    run.executionId,
    run.number,
    run.machineArn,
    run.concurrency,
    run.failureCount ?? null,
    run.failurePercentage ?? null,
    run.itemCount,
    run.childCount,
    run.batchSizes ? pgArray.int(run.batchSizes) : null,
    run.command,
  ]);
  return row!.id;
}

const end = statement(
  `update tuntas.map_run set status = $2, stopped_at = tuntas.now(), command = case when $2 <> 'SUCCEEDED' then command end
   where arn = $1 and status = 'RUNNING'`,
);
export const endMapRun = (sql: Runner, arn: string, status: "SUCCEEDED" | "FAILED" | "ABORTED") =>
  sql.run(end, [arn, status]);

const wrote = statement(
  `update tuntas.map_run set results_written = true where execution_id = $1 and number = $2`,
);
/** Its results are where its ResultWriter says. */
export const noteResults = (sql: Runner, executionId: string, number: number) =>
  sql.run(wrote, [executionId, number]);

const fail = statement(
  `update tuntas.map_run set status = 'FAILED', stopped_at = tuntas.now() where execution_id = $1 and number = $2`,
);
/** Its children have ended, but their results could not be written. */
export const failMapRun = (sql: Runner, executionId: string, number: number) =>
  sql.run(fail, [executionId, number]);

/** How a run is to be run, as it stands now. */
export interface MapRunControl {
  readonly id: string;
  readonly status: MapRunRecord["status"];
  readonly childCount: number;
  readonly command: string | null;
  readonly redriveCount: number;
  readonly concurrency: number;
  readonly failureCount: number | null;
  readonly failurePercentage: number | null;
  /** Whether its execution still waits for it. */
  readonly wanted: boolean;
}

const isWanted = `exists (select from tuntas.workflow_call c where c.execution_id = r.execution_id and c.key = 'map:' || r.number)`;

const control = statement(
  `select id::text as id, status, child_count as "childCount", command, redrive_count as "redriveCount", concurrency,
     failure_count as "failureCount", failure_percentage as "failurePercentage", ${isWanted} as wanted
   from tuntas.map_run r where arn = $1`,
);

export async function readControl(sql: Runner, arn: string): Promise<MapRunControl> {
  return (await sql.run<MapRunControl>(control, [arn]))[0]!;
}

/** Of these runs, those that nobody waits for any more, or that were changed a moment ago. */
export const changedMapRuns = `array(select g from unnest($given) as g where not exists (
  select from tuntas.map_run r where r.arn = g and ${isWanted}
    and (r.changed_at is null or r.changed_at < tuntas.now() - interval '5 seconds')))`;

const abandoned = statement(
  `select r.arn, r.id::text as id from tuntas.map_run r where r.status = 'RUNNING' and not ${isWanted} limit 500`,
);

/** Runs that nobody waits for any more, and that nobody has ended. */
export const findAbandoned = (sql: Runner) => sql.run<{ arn: string; id: string }>(abandoned);

// Once for a redrive: whoever takes it over finds it begun. What did not succeed is to be redriven; an Express child leaves
// nothing to go on from and begins anew, as a Standard child does not that has used up its history.
const redrive = statement(
  `with run as (
     update tuntas.map_run set status = 'RUNNING', number = $2, redrive_count = $3, redriven_at = tuntas.now(), stopped_at = null,
       results_written = false
     where arn = $1 and redrive_count < $3 and status <> 'RUNNING' returning id
   ), pending as (
     update tuntas.execution e set status = 'PENDING_REDRIVE' from run
     where e.map_run_id = run.id and e.type = 'STANDARD' and e.status in ('FAILED', 'TIMED_OUT', 'ABORTED')
       and e.cause is distinct from $4
   ), gone as (
     delete from tuntas.execution e using run
     where e.map_run_id = run.id and e.type = 'EXPRESS' and e.status in ('FAILED', 'TIMED_OUT', 'ABORTED') returning e.id
   )
   delete from tuntas.execution_state s using gone where s.execution_id = gone.id`,
);

export const beginRedrive = (
  sql: Runner,
  run: { readonly arn: string; readonly number: number; readonly redriveCount: number },
  historyFull: string,
) => sql.run(redrive, [run.arn, run.number, run.redriveCount, historyFull]);

const leave = statement(
  `update tuntas.execution e set status = s.state::json->>'status' from tuntas.execution_state s
   where e.id = $1 and e.status = 'PENDING_REDRIVE' and s.execution_id = e.id`,
);
/** The child cannot be redriven after all: it stays as it had ended, which its state still says. */
export const leaveEnded = (sql: Runner, id: string) => sql.run(leave, [id]);

const children = statement(
  `select e.id::text as id, e.item_index as index, e.status from tuntas.execution e where e.map_run_id = $1 order by e.item_index`,
);

export interface MapChild extends Pick<Ended, "id" | "status"> {
  readonly index: number;
}

export const listMapChildren = (sql: Runner, mapRunId: string) => sql.run<MapChild>(children, [mapRunId]);

const counted = (what: string) => `(select coalesce(json_object_agg(status, n), '{}') from
    (select status, ${what} as n from tuntas.execution c where c.map_run_id = r.id group by status) s)`;

const columns = `r.arn, e.arn as "executionArn", r.machine_arn as "machineArn", r.status, r.concurrency,
  r.failure_count as "failureCount", r.failure_percentage as "failurePercentage", r.item_count as "itemCount",
  r.child_count as "childCount", r.redrive_count as "redriveCount", r.results_written as "resultsWritten",
  ${ms("r.started_at")} as "startedAtMs",
  ${ms("r.stopped_at")} as "stoppedAtMs",
  ${ms("r.redriven_at")} as "redrivenAtMs",
  ${counted("count(*)")} as counts,
  ${counted("sum(coalesce(r.batch_sizes[c.item_index + 1], 1))")} as "itemCounts",
  (select count(*)::int from tuntas.execution c where c.map_run_id = r.id and c.status = 'FAILED' and c.cause = $1) as "exhausted"`;

const find = statement(
  `select ${columns} from tuntas.map_run r join tuntas.execution e on e.id = r.execution_id where r.arn = $2`,
);
export async function findMapRun(
  sql: Runner,
  arn: string,
  historyFull: string,
): Promise<MapRunRecord | undefined> {
  return (await sql.run<MapRunRecord>(find, [historyFull, arn]))[0];
}

const list = statement(
  `select ${columns} from tuntas.map_run r join tuntas.execution e on e.id = r.execution_id
   where e.arn = $2 order by r.id desc limit $3 offset $4`,
);
export const listMapRuns = (
  sql: Runner,
  { executionArn, historyFull }: { readonly executionArn: string; readonly historyFull: string },
  { limit, offset }: Page,
) => sql.run<MapRunRecord>(list, [historyFull, executionArn, limit, offset]);

const update = statement(
  `update tuntas.map_run set concurrency = coalesce($2, concurrency), failure_count = coalesce($3, failure_count),
     failure_percentage = coalesce($4, failure_percentage), changed_at = tuntas.now()
   where arn = $1 and status = 'RUNNING' returning id`,
);
export const updateMapRun = (
  sql: Runner,
  arn: string,
  change: { concurrency?: number; failureCount?: number; failurePercentage?: number },
) =>
  sql.run(update, [
    arn,
    change.concurrency ?? null,
    change.failureCount ?? null,
    change.failurePercentage ?? null,
  ]);
