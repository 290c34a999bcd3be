// Whether anything has changed at all: PostgreSQL counts what happens to each table. The counts come late by a second or
// so, and up to ten where a session falls idle, which charts can bear.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

// What changes without work being done: heartbeats, sessions of people who look, the figures themselves.
const quiet = [
  "process",
  "duty",
  "series",
  "series_point",
  "series_mark",
  "access_session",
  "access_attempt",
  "migration",
];

const tablesText = statement(
  `select c.oid::int8::float8 as oid from pg_class c
   where c.relnamespace = (select p.relnamespace from pg_class p where p.oid = 'tuntas.process'::regclass)
     and c.relkind = 'r' and c.relname <> all($1::text[])`,
);

export const findTables = async (sql: Pick<Sql, "run">): Promise<number[]> =>
  (await sql.run<{ oid: number }>(tablesText, [quiet])).map(({ oid }) => oid);

const pulseText = statement(
  `select extract(epoch from tuntas.now())::float8 * 1000 as "nowMs",
     exists (select from tuntas.duty d where d.name = $1 and d.process_id = $2) as mine,
     (select sum(pg_stat_get_tuples_inserted(o) + pg_stat_get_tuples_updated(o) + pg_stat_get_tuples_deleted(o))::text
      from unnest($3::oid[]) o) as pulse`,
);

export interface PulseQuestion {
  readonly duty: string;
  readonly processId: string;
  readonly tables: readonly number[];
}

/** The database's time, whether the duty is still this process's, and a text that is another one after each change. */
export async function readPulse(sql: Pick<Sql, "run">, { duty, processId, tables }: PulseQuestion) {
  const [row] = await sql.run<{ nowMs: number; mine: boolean; pulse: string }>(pulseText, [
    duty,
    processId,
    tables,
  ]);
  return row!;
}
