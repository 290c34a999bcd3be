// The statements about batches as they are declared, and about what is asked of all of them at once.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { interval } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { BatchReport } from "../contract.ts";
import type { BatchSettings } from "../declaration.ts";

const upsert = statement(
  `insert into tuntas.batch as b (name, staging, staging_kept, attempts, concurrency, priority, retention, owner, runbook,
     announce_kind, announce_name, runs_on)
   values ($1, $2, ${interval("$3")}, $4, $5, $6, ${interval("$7")}, $8, $9, $10, $11, $12)
   on conflict (name) do update set staging = excluded.staging, staging_kept = excluded.staging_kept, attempts = excluded.attempts,
     concurrency = excluded.concurrency, priority = excluded.priority, retention = excluded.retention, owner = excluded.owner,
     runbook = excluded.runbook, announce_kind = excluded.announce_kind, announce_name = excluded.announce_name, runs_on = excluded.runs_on`,
);

export const keepBatch = (sql: Runner, of: BatchSettings) =>
  sql.run(upsert, [
    of.name,
    of.staging,
    of.stagingKeptMs,
    of.attempts,
    of.concurrency,
    of.priority,
    of.retentionMs,
    of.owner,
    of.runbook,
    of.announceKind,
    of.announceName,
    of.runsOn,
  ]);

const counts = `coalesce((select json_object_agg(s.state, s.n) from (
    select j.state, count(*)::int as n from tuntas.batch_job j where j.batch = b.name group by j.state) s), '{}') as jobs`;

const reports = statement(
  `select b.name, b.staging, b.attempts, b.concurrency, b.priority, b.runs_on as "runsOn", b.owner, b.runbook, ${counts}
   from tuntas.batch b where $1::text is null or b.name = $1 order by b.name`,
);

export const readBatches = (sql: Runner, name: string | null): Promise<BatchReport[]> =>
  sql.run<BatchReport & {}>(reports, [name]);

export interface BatchRow {
  readonly name: string;
  readonly staging: string;
  readonly priority: number;
}

const find = statement(`select name, staging, priority from tuntas.batch where name = $1`);
// What refers to the row, a new job, is not held up by whoever takes the batch's turn.
const lock = statement(`select name, staging, priority from tuntas.batch where name = $1 for no key update`);

export const findBatch = async (sql: Runner, name: string): Promise<BatchRow | undefined> =>
  (await sql.run<BatchRow & {}>(find, [name]))[0];

export const lockBatch = async (tx: Tx, name: string): Promise<BatchRow | undefined> =>
  (await tx.run<BatchRow & {}>(lock, [name]))[0];

const isIdle = `j.state = 'waiting' and
  (select min(o.id) from tuntas.batch_job o where o.batch = j.batch and o.state in ('running', 'promoting')) is null`;
const isThrough = `j.state = 'running' and
  (select min(p.number) from tuntas.batch_partition p where p.job = j.id and p.ended_at is null) is null`;

/** Jobs that may be begun, or whose partitions have all ended: both by the ends of indexes. */
export const jobsToMove = `select from tuntas.batch_job j
  where j.state in ('waiting', 'running', 'promoting') and ((${isIdle}) or (${isThrough}))`;

const toMove = statement(jobsToMove.replace("select from", "select distinct j.batch as name from"));

/** The names of batches that have something to decide. */
export const batchesToMove = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ name: string }>(toMove)).map(({ name }) => name);

const columns = statement(
  `select count(*)::int as n from pg_attribute where attrelid = to_regclass($1) and not attisdropped
     and ((attname = 'job' and atttypid = 'bigint'::regtype) or (attname = 'partition' and atttypid = 'integer'::regtype))`,
);

/** Whether the staging table is there and has the columns that say whose a row is. */
export const isStaging = async (sql: Runner, table: string): Promise<boolean> =>
  (await sql.run<{ n: number }>(columns, [table]))[0]!.n === 2;

const cleanable = statement(
  `select j.id::text as id, b.staging from tuntas.batch_job j join tuntas.batch b on b.name = j.batch
   where j.ended_at is not null and j.cleaned_at is null and case
     when b.staging_kept is not null then j.ended_at <= tuntas.now() - b.staging_kept
     else j.id is distinct from (select max(m.job) from tuntas.batch_manifest m where m.batch = b.name) end
   order by j.id limit 100`,
);
const cleaned = statement(`update tuntas.batch_job set cleaned_at = tuntas.now() where id = $1`);

export interface Cleanable {
  readonly id: string;
  readonly staging: string;
}

/** Jobs whose staged rows are to go. */
export const readCleanable = (sql: Runner): Promise<Cleanable[]> => sql.run<Cleanable & {}>(cleanable);

/** The user's own table, so that it is named in the text; its name was checked where it was declared. */
export async function cleanStaging(tx: Tx, { id, staging }: Cleanable): Promise<void> {
  await tx.client.query(`delete from ${staging} where job = $1`, [id]);
  await tx.run(cleaned, [id]);
}

// The latest manifest stays, however old: it says what the current output is.
const forget = statement(
  `delete from tuntas.batch_job j using tuntas.batch b where b.name = j.batch and j.cleaned_at is not null
     and j.ended_at < tuntas.now() - b.retention
     and j.id is distinct from (select max(m.job) from tuntas.batch_manifest m where m.batch = j.batch)`,
);

/** Ended jobs beyond their batch's retention. */
export const forgetJobs = (sql: Runner) => sql.run(forget);
