// Executions that ended long ago, with their histories and map runs.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

// Ids rise with the start, so the oldest come first: a look reads few rows, and stops at the first that is young. What has
// started long ago and still runs is stepped over.
const remove = statement(
  `with old as materialized (
     select id from (select id, started_at from tuntas.execution where id > $1::bigint order by id limit $3) e
     where started_at < tuntas.now() - make_interval(secs => $2::float8)
   ), gone as (
     delete from tuntas.execution where id = any(array(select id from old))
       and stopped_at < tuntas.now() - make_interval(secs => $2::float8) returning id
   ), histories as (delete from tuntas.execution_history where execution_id = any(array(select id from gone))),
   states as (delete from tuntas.execution_state where execution_id = any(array(select id from gone))),
   runs as (delete from tuntas.map_run where execution_id = any(array(select id from gone)))
   select (select max(id) from old)::text as cursor, (select count(*)::int from gone) as removed`,
);

export interface Removed {
  /** How far it has looked; null where everything further on is young. */
  readonly cursor: string | null;
  readonly removed: number;
}

/** Removes those among the next `limit` executions that ended longer ago than the retention. */
export async function removeEnded(
  sql: Pick<Sql, "run">,
  { cursor, retentionMs, limit }: { cursor: string; retentionMs: number; limit: number },
): Promise<Removed> {
  const [row] = await sql.run<Removed & {}>(remove, [cursor, retentionMs / 1000, limit]);
  return row!;
}
