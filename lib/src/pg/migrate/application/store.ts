// The list of what has run, in the application's own schema, and who works on its tables.
import { hostname } from "node:os";
import { statement, type Database } from "../../database.ts";
import type { Queryable } from "../../contract.ts";

const columnsOf = `select coalesce(array_agg(attname::text), '{}') as columns from pg_attribute
  where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`;

const wanted = { checksum: "text", applied_at: "timestamptz default now()", duration_ms: "integer" };

async function missingColumns(client: Queryable, schema: string): Promise<string[] | undefined> {
  const { columns } = (await client.query(columnsOf, [`${schema}.migration`])).rows[0];
  if (columns.length === 0) return undefined;
  return Object.keys(wanted).filter((column) => !columns.includes(column));
}

/** Makes the list, or adds what it lacks that an application kept itself or an earlier version made. */
async function prepareList(client: Queryable, schema: string): Promise<void> {
  const lacking = await missingColumns(client, schema);
  if (lacking?.length === 0) return;
  await client.query(`create schema if not exists ${schema}`);
  await client.query(`create table if not exists ${schema}.migration (name text primary key)`);
  const types = Object.entries(wanted).filter(([column]) => lacking?.includes(column) ?? true);
  for (const [column, type] of types)
    await client.query(`alter table ${schema}.migration add column if not exists ${column} ${type}`);
}

/** Names and checksums of what has run; a list that an application kept itself before has names alone. */
export async function readApplied(client: Queryable, schema: string): Promise<Map<string, string | null>> {
  const lacking = await missingColumns(client, schema);
  if (lacking === undefined) return new Map();
  const checksum = lacking.includes("checksum") ? "null" : "checksum";
  const { rows } = await client.query(`select name, ${checksum} as checksum from ${schema}.migration`);
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** Puts a file onto the list, in its own transaction. */
export async function writeApplied(
  client: Queryable,
  schema: string,
  { name, checksum, ms }: { readonly name: string; readonly checksum: string; readonly ms: number },
): Promise<void> {
  await prepareList(client, schema);
  await client.query(`insert into ${schema}.migration (name, checksum, duration_ms) values ($1, $2, $3)`, [
    name,
    checksum,
    Math.round(ms),
  ]);
}

const enter = statement(
  `with gone as (
     delete from tuntas.application_process a where not exists (select from tuntas.process p where (p.host, p.pid) = (a.host, a.pid)))
   insert into tuntas.application_process as a (schema_name, host, pid, through) values ($1, $2, $3, $4)
   on conflict (schema_name, host, pid) do update set through = excluded.through`,
);

const leave = statement(
  "delete from tuntas.application_process where schema_name = $1 and host = $2 and pid = $3",
);

/** From now on this process works on the tables as they are after this file. Answers what ends that. */
export async function workOn(
  database: Pick<Database, "run">,
  schema: string,
  through: string | null,
): Promise<() => Promise<void>> {
  const self = [schema, hostname(), process.pid];
  await database.run(enter, [...self, through]);
  return async () => void (await database.run(leave, self).catch(() => undefined));
}

const working = statement(
  `select distinct p.name || ' (pid ' || p.pid || ' on ' || p.host || ')' as name
   from tuntas.application_process a join tuntas.process p on (p.host, p.pid) = (a.host, a.pid) and p.expires_at > tuntas.now()
   where a.schema_name = $1 and coalesce(a.through, '') collate "C" < $2 order by 1`,
);

/** The live processes that know this application's tables only as they were before the file. */
export const processesBefore = async (
  database: Pick<Database, "run">,
  schema: string,
  file: string,
): Promise<string[]> =>
  (await database.run<{ name: string }>(working, [schema, file])).map(({ name }) => name);
