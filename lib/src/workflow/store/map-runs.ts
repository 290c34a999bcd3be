// Rows of map runs; their children are executions.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
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
}

const insert = statement(
  `insert into tuntas.map_run (arn, execution_id, number, machine_arn, concurrency, failure_count, failure_percentage,
     item_count, status, started_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, 'RUNNING', tuntas.now())
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
  ]);
  return row!.id;
}

const end = statement(
  `update tuntas.map_run set status = $2, stopped_at = tuntas.now() where arn = $1 and status = 'RUNNING'`,
);
export const endMapRun = (sql: Runner, arn: string, status: "SUCCEEDED" | "FAILED" | "ABORTED") =>
  sql.run(end, [arn, status]);

const children = statement(
  `select e.id::text as id, e.item_index as index, e.status from tuntas.execution e where e.map_run_id = $1 order by e.item_index`,
);
export const listMapChildren = (sql: Runner, mapRunId: string) =>
  sql.run<Pick<Ended, "id" | "status"> & { index: number }>(children, [mapRunId]);

const columns = `r.arn, e.arn as "executionArn", r.machine_arn as "machineArn", r.status, r.concurrency,
  r.failure_count as "failureCount", r.failure_percentage as "failurePercentage", r.item_count as "itemCount",
  extract(epoch from r.started_at)::float8 * 1000 as "startedAtMs",
  extract(epoch from r.stopped_at)::float8 * 1000 as "stoppedAtMs",
  (select coalesce(json_object_agg(status, n), '{}') from
    (select status, count(*) as n from tuntas.execution c where c.map_run_id = r.id group by status) s) as counts`;

type Row = Omit<MapRunRecord, "childrenCount">;
const toRecord = (row: Row): MapRunRecord => ({
  ...row,
  childrenCount: Object.values(row.counts).reduce((sum, count) => sum + count, 0),
});

const find = statement(
  `select ${columns} from tuntas.map_run r join tuntas.execution e on e.id = r.execution_id where r.arn = $1`,
);
export async function findMapRun(sql: Runner, arn: string): Promise<MapRunRecord | undefined> {
  const [row] = await sql.run<Row>(find, [arn]);
  return row && toRecord(row);
}

const list = statement(
  `select ${columns} from tuntas.map_run r join tuntas.execution e on e.id = r.execution_id
   where e.arn = $1 order by r.id desc limit $2 offset $3`,
);
export const listMapRuns = async (sql: Runner, executionArn: string, { limit, offset }: Page) =>
  (await sql.run<Row>(list, [executionArn, limit, offset])).map(toRecord);

const update = statement(
  `update tuntas.map_run set concurrency = coalesce($2, concurrency), failure_count = coalesce($3, failure_count),
     failure_percentage = coalesce($4, failure_percentage) where arn = $1 and status = 'RUNNING' returning id`,
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
