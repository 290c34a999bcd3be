// The statements about jobs: one function a transition. Whoever begins, pauses, resumes, retries or cancels one holds its
// batch's row.
import type { Fate } from "../../engine/destination.ts";
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import { partitionStates, type JobReport, type JobState } from "../contract.ts";
import { leftMsOf, perMinuteOf, verbsOf } from "../state.ts";

export interface NewJob {
  readonly batch: string;
  readonly key: string;
  readonly input: string;
  readonly inputHash: string;
  readonly priority: number;
  readonly by: string;
  readonly reason: string;
}

// A conflict would take a number all the same.
const insert = statement(
  `insert into tuntas.batch_job (batch, key, input, input_hash, priority, actor, reason, state, asked_at)
   select $1, $2, $3, $4, $5::int, $6, $7, 'planning', tuntas.now()
   where not exists (select from tuntas.batch_job where batch = $1 and key = $2 and state <> 'cancelled')
   on conflict (batch, key) where state <> 'cancelled' do nothing returning id::text`,
);

/** The id of the new job; undefined where there is one with the key. */
export const insertJob = async (sql: Runner, of: NewJob): Promise<string | undefined> =>
  (
    await sql.run<{ id: string }>(insert, [
      of.batch,
      of.key,
      of.input,
      of.inputHash,
      of.priority,
      of.by,
      of.reason,
    ])
  )[0]?.id;

const byKey = statement(
  `select id::text, input_hash as "inputHash" from tuntas.batch_job where batch = $1 and key = $2 and state <> 'cancelled'`,
);

export const findByKey = async (sql: Runner, batch: string, key: string) =>
  (await sql.run<{ id: string; inputHash: string }>(byKey, [batch, key]))[0];

export interface JobRow {
  readonly id: string;
  readonly batch: string;
  readonly key: string;
  readonly input: string;
  readonly state: JobState;
  readonly run: number;
  readonly planHash: string | null;
  readonly announceKind: string | null;
  readonly announceName: string | null;
}

const rowColumns = `j.id::text, j.batch, j.key, j.input, j.state, j.run, j.plan_hash as "planHash",
  b.announce_kind as "announceKind", b.announce_name as "announceName"`;
const rowsFrom = `from tuntas.batch_job j join tuntas.batch b on b.name = j.batch`;

const find = statement(`select ${rowColumns} ${rowsFrom} where j.id = $1`);
const lock = statement(`select ${rowColumns} ${rowsFrom} where j.id = $1 for update of j`);
const share = statement(`select ${rowColumns} ${rowsFrom} where j.id = $1 for share of j`);

export const findJob = async (sql: Runner, id: string): Promise<JobRow | undefined> =>
  (await sql.run<JobRow & {}>(find, [id]))[0];
export const lockJob = async (tx: Runner, id: string): Promise<JobRow | undefined> =>
  (await tx.run<JobRow & {}>(lock, [id]))[0];
/** The job, which changes its state only after this transaction. */
export const shareJob = async (tx: Runner, id: string): Promise<JobRow | undefined> =>
  (await tx.run<JobRow & {}>(share, [id]))[0];

// The end of an index, and few rows: jobs of one batch that are not over.
const through = statement(
  `select ${rowColumns} ${rowsFrom} where j.batch = $1 and j.state = 'running'
     and (select min(p.number) from tuntas.batch_partition p where p.job = j.id and p.ended_at is null) is null
   for update of j`,
);

/** Jobs that run and have no partition left that does. */
export const lockThrough = (tx: Tx, batch: string): Promise<JobRow[]> =>
  tx.run<JobRow & {}>(through, [batch]);

const next = statement(
  `select ${rowColumns} ${rowsFrom} where j.batch = $1 and j.state = 'waiting'
     and not exists (select from tuntas.batch_job o where o.batch = $1 and o.state in ('running', 'promoting'))
   order by j.priority desc, j.id limit 1 for update of j`,
);

/** The job whose turn it is; undefined while another runs. */
export const lockNext = async (tx: Tx, batch: string): Promise<JobRow | undefined> =>
  (await tx.run<JobRow & {}>(next, [batch]))[0];

const move = statement(
  `update tuntas.batch_job set state = $3, run = run + 1, failure = $4, moved_at = tuntas.now(),
     begun_at = case when $3 = 'running' then tuntas.now() else begun_at end,
     ended_at = case when $3 in ('completed', 'cancelled') then tuntas.now() end
   where id = $1 and run = $2 returning run`,
);

/** Moves a job on, which voids the messages about it; undefined where another was faster. Answers the run that counts now. */
export const moveJob = async (
  tx: Runner,
  { id, run }: Pick<JobRow, "id" | "run">,
  to: JobState,
  failure: string | null = null,
): Promise<number | undefined> => (await tx.run<{ run: number }>(move, [id, run, to, failure]))[0]?.run;

const note = statement(`update tuntas.batch_job set failure = $3 where id = $1 and run = $2`);

/** Why a step is tried again. */
export const noteFailure = (sql: Runner, { id, run }: Pick<JobRow, "id" | "run">, failure: string) =>
  sql.run(note, [id, run, failure]);

const planned = statement(
  `update tuntas.batch_job set state = 'waiting', run = run + 1, plan_hash = $3, failure = null, moved_at = tuntas.now()
   where id = $1 and run = $2 and state = 'planning' returning id`,
);

/** False where it is not being planned any more. */
export const endPlan = async (
  tx: Runner,
  { id, run }: Pick<JobRow, "id" | "run">,
  hash: string,
): Promise<boolean> => (await tx.run(planned, [id, run, hash])).length > 0;

const totals = statement(
  `select count(*)::int as partitions, count(*) filter (where state = 'failed')::int as "failedPartitions",
     coalesce(sum(staged_rows), 0)::float8 as rows from tuntas.batch_partition where job = $1`,
);

/** What a job came to, in numbers, for whoever is told of its end. */
export interface JobCounts {
  readonly partitions: number;
  readonly failedPartitions: number;
  /** What its partitions have staged. */
  readonly rows: number;
}

export const readCounts = async (tx: Runner, id: string): Promise<JobCounts> =>
  (await tx.run<JobCounts & {}>(totals, [id]))[0]!;

const manifest = statement(
  `insert into tuntas.batch_manifest (job, batch, partitions, staged_rows, staged_hash, promoted_at)
   select j.id, j.batch, count(*), sum(p.staged_rows),
     encode(sha256(convert_to(string_agg(p.staged_hash, '' order by p.number), 'UTF8')), 'hex'), tuntas.now()
   from tuntas.batch_job j join tuntas.batch_partition p on p.job = j.id where j.id = $1 group by j.id`,
);

export const writeManifest = (tx: Runner, id: string) => tx.run(manifest, [id]);

const cancelled = (given: string) =>
  `(select string_agg(j.id::text, ',') from tuntas.batch_job j where j.id = any(${given}) and j.state = 'cancelled')`;

/** Asks which of these jobs were cancelled: their ids with commas. */
export const cancelledOf = cancelled("$given");

const counts = partitionStates
  .map((state) => `'${state}', count(*) filter (where p.state = '${state}')`)
  .join(", ");

const reports = statement(
  `select j.id::text, j.batch, j.key, j.input, j.state, j.priority, j.actor, j.reason, j.plan_hash as "planHash", j.failure,
     ${ms("j.asked_at")} as "askedAtMs", ${ms("j.moved_at")} as "movedAtMs", ${ms("j.begun_at")} as "begunAtMs", ${ms("j.ended_at")} as "endedAtMs",
     c.partitions, c.rows, c.since::int as "endedSince", ${ms("tuntas.now() - j.begun_at")} as "sinceMs",
     case when m.job is not null then json_build_object('partitions', m.partitions, 'rows', m.staged_rows, 'hash', m.staged_hash,
       'promotedAtMs', ${ms("m.promoted_at")}) end as manifest
   from (select * from tuntas.batch_job j where ($1::bigint is null or j.id = $1) and ($2::text is null or j.batch = $2)
       and ($3::text[] is null or j.state = any($3)) and ($4::bigint is null or j.id < $4) order by j.id desc limit $5) j
   left join tuntas.batch_manifest m on m.job = j.id
   cross join lateral (
     select json_build_object('total', count(*), ${counts}) as partitions, coalesce(sum(p.staged_rows), 0)::float8 as rows,
       count(*) filter (where p.ended_at >= j.begun_at) as since
     from tuntas.batch_partition p where p.job = j.id) c
   order by j.id desc`,
);

export interface JobFilter {
  readonly id?: string | undefined;
  readonly batch?: string | undefined;
  readonly states?: readonly JobState[] | undefined;
  /** Only those that were asked for before the one of this id. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

type ReportRow = Omit<JobReport, "verbs" | "perMinute" | "leftMs"> & {
  readonly endedSince: number;
  readonly sinceMs: number | null;
};

function toReport({ endedSince, sinceMs, ...report }: ReportRow): JobReport {
  const { pending, running } = report.partitions;
  const pace = { open: pending + running, endedSince, sinceMs: sinceMs ?? 0 };
  const runs = report.state === "running";
  return {
    ...report,
    verbs: verbsOf(report.state),
    perMinute: runs ? perMinuteOf(pace) : null,
    leftMs: runs ? leftMsOf(pace) : null,
  };
}

/** The newest first. */
export const readJobs = async (
  sql: Runner,
  { id, batch, states, before, limit = 100 }: JobFilter,
): Promise<JobReport[]> => {
  const values = [id ?? null, batch ?? null, states ?? null, before ?? null, limit];
  return (await sql.run<ReportRow & {}>(reports, values)).map(toReport);
};

/** SQL, for the heartbeat: true where the job has come to an end, or waits for a person. */
export const hasEnded = (id: string): string =>
  `(select j.state in ('completed', 'cancelled', 'failed') from tuntas.batch_job j where j.id = (${id})::bigint)`;

const fates = statement(
  `select u.id::text as reference, case when j.state = 'completed' then 'succeeded' else 'failed' end as state,
     case when j.id is null then 'it is not on record any more' when j.state <> 'completed' then concat_ws(': ', j.state, j.failure) end as reason,
     m.staged_rows::float8 as "recordsWritten"
   from unnest($1::bigint[]) as u(id) left join tuntas.batch_job j on j.id = u.id left join tuntas.batch_manifest m on m.job = j.id
   where j.id is null or j.state in ('completed', 'cancelled', 'failed')`,
);

export const readFates = (sql: Runner, ids: readonly string[]): Promise<Fate[]> =>
  sql.run<Fate & {}>(fates, [ids]);
