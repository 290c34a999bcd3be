// The statements about partitions: one function a transition. A partition moves only for the message that has its run.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { Tx } from "../../pg/contract.ts";
import type { PartitionReport, PartitionState } from "../contract.ts";
import type { Failure } from "../../engine/failure.ts";
import type { Planned } from "../state.ts";

const insert = statement(
  `insert into tuntas.batch_partition (job, number, key, input)
   select $1, u.number, u.key, u.input from unnest($2::text[], $3::text[]) with ordinality as u(key, input, number)`,
);

export const insertPartitions = (tx: Runner, job: string, planned: readonly Planned[]) =>
  tx.run(insert, [job, planned.map(({ key }) => key), planned.map(({ input }) => input)]);

/** The message by which a partition is held. */
export interface Claim {
  readonly job: string;
  readonly number: number;
  readonly run: number;
}

const send = statement(
  `update tuntas.batch_partition set run = run + 1 where job = $1 and ended_at is null and state = 'pending'
   returning job::text, number, run`,
);

/** What is to be sent when a job is begun: a message that is still under way is void then. What runs goes on. */
export const sendPartitions = (tx: Tx, job: string): Promise<Claim[]> => tx.run<Claim & {}>(send, [job]);

export interface Begun {
  /** Which attempt it is. */
  readonly attempt: number;
  readonly batch: string;
  readonly jobKey: string;
  readonly jobInput: string;
  readonly key: string;
  readonly input: string;
  readonly staging: string;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
}

const begin = statement(
  `update tuntas.batch_partition p set state = 'running', attempts = least(u.receives, p.attempts + 1), begun_at = tuntas.now()
   from unnest($1::bigint[], $2::int[], $3::int[], $4::int[]) with ordinality as u(job, number, run, receives, n), tuntas.batch_job j, tuntas.batch b
   where p.job = u.job and p.number = u.number and p.run = u.run and p.ended_at is null and j.id = p.job and j.state = 'running' and b.name = j.batch
   returning u.n::int, p.attempts as attempt, j.batch, j.key as "jobKey", j.input as "jobInput", p.key, p.input, b.staging,
     p.failure_code as "failureCode", p.failure_message as "failureMessage"`,
);

/**
 * Marks attempts; a receive by a process that died while it held the message ahead was none. Undefined in the place of one whose
 * message is void, or whose job does not run.
 */
export async function beginPartitions(
  sql: Runner,
  all: readonly (Claim & { readonly receives: number })[],
): Promise<(Begun | undefined)[]> {
  const rows = await sql.run<Begun & { n: number }>(begin, [
    all.map(({ job }) => job),
    all.map(({ number }) => number),
    all.map(({ run }) => run),
    all.map(({ receives }) => receives),
  ]);
  return all.map((_, at) => rows.find(({ n }) => n === at + 1));
}

const letGo = statement(
  `update tuntas.batch_partition set state = 'pending' where job = $1 and number = $2 and run = $3 and ended_at is null`,
);

/** Its message ends; it gets a new one when its job is begun again. */
export const letGoPartition = (tx: Runner, { job, number, run }: Claim) => tx.run(letGo, [job, number, run]);

const ended = `update tuntas.batch_partition p set state = 'done', run = run + 1, failure_code = null, failure_message = null,
     staged_rows = s.counted, staged_hash = s.hashed, ended_at = tuntas.now()
   from tuntas.batch_staged($4, $1, $2) s
   where p.job = $1 and p.number = $2 and p.run = $3 and p.state = 'running' returning p.staged_rows`;
/** Ends a partition with what is staged; raises where the message is void, so that the transaction fails with it. */
export const endOrRaise = statement(`with ended as (${ended}) select 1 / count(*) from ended`);

export const endValues = ({ job, number, run }: Claim, staging: string): unknown[] => [
  job,
  number,
  run,
  staging,
];

const rows = statement(
  `select p.staged_rows::float8 as rows from unnest($1::bigint[], $2::int[]) with ordinality as u(job, number, n)
   left join tuntas.batch_partition p on p.job = u.job and p.number = u.number order by u.n`,
);

/** How many rows each has staged, in their order; null where it has not ended. */
export const readRows = async (
  sql: Runner,
  all: readonly Pick<Claim, "job" | "number">[],
): Promise<(number | null)[]> =>
  (
    await sql.run<{ rows: number | null }>(rows, [all.map(({ job }) => job), all.map(({ number }) => number)])
  ).map((row) => row.rows);

const fail = statement(
  `update tuntas.batch_partition set state = case when $5 then 'failed' else 'pending' end, run = run + $5::int,
     failure_code = $6, failure_message = $7, ended_at = case when $5 then tuntas.now() end
   where job = $1 and number = $2 and run = $3 and attempts = $4 and state = 'running' returning number`,
);

/** Notes what an attempt came to; false where it was not the partition's attempt any more. */
export const failPartition = async (
  sql: Runner,
  { job, number, run }: Claim,
  of: { readonly attempt: number; readonly last: boolean; readonly failure: Failure },
): Promise<boolean> =>
  (await sql.run(fail, [job, number, run, of.attempt, of.last, of.failure.code, of.failure.message])).length >
  0;

const again = statement(
  `update tuntas.batch_partition set state = 'pending', attempts = 0, ended_at = null
   where job = $1 and state = 'failed' returning number`,
);
const cancel = statement(
  `update tuntas.batch_partition set state = 'cancelled', run = run + 1, ended_at = tuntas.now()
   where job = $1 and ended_at is null`,
);

/** Those that failed may be tried again, and only those. */
export const retryPartitions = async (tx: Tx, job: string): Promise<number> =>
  (await tx.run(again, [job])).length;
/** Voids all that is open; whoever works on it cannot end it any more. */
export const cancelPartitions = (tx: Tx, job: string) => tx.run(cancel, [job]);

const failures = statement(
  `select count(*)::int as n, (array_agg(key || ': ' || concat_ws(': ', failure_code, failure_message) order by number))[1] as first
   from tuntas.batch_partition where job = $1 and state = 'failed'`,
);

/** How many partitions have failed, and what the first came to. */
export const readFailures = async (tx: Runner, job: string) =>
  (await tx.run<{ n: number; first: string | null }>(failures, [job]))[0]!;

const staged = statement(
  `select count(*)::int as partitions, sum(staged_rows)::float8 as rows from tuntas.batch_partition where job = $1`,
);
export const readStaged = async (tx: Runner, job: string) =>
  (await tx.run<{ partitions: number; rows: number }>(staged, [job]))[0]!;

const changed = statement(
  `select p.key from tuntas.batch_partition p cross join lateral tuntas.batch_staged($2, p.job, p.number) s
   where p.job = $1 and (s.counted, s.hashed) is distinct from (p.staged_rows, p.staged_hash) order by p.number limit 20`,
);

/** The keys of partitions whose staged rows are not those that they ended with. */
export const readChanged = async (tx: Runner, job: string, staging: string): Promise<string[]> =>
  (await tx.run<{ key: string }>(changed, [job, staging])).map(({ key }) => key);

const list = statement(
  `select number, key, state, attempts, failure_code as "failureCode", failure_message as "failureMessage",
     staged_rows::float8 as rows, staged_hash as hash, ${ms("begun_at")} as "begunAtMs", ${ms("ended_at")} as "endedAtMs"
   from tuntas.batch_partition where job = $1 and ($2::text is null or state = $2) and number > $3 order by number limit $4`,
);

export interface PartitionFilter {
  readonly state?: PartitionState | undefined;
  /** Only those after this number. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

export const readPartitions = (
  sql: Runner,
  job: string,
  { state, after = 0, limit = 10_000 }: PartitionFilter,
): Promise<PartitionReport[]> => sql.run<PartitionReport & {}>(list, [job, state ?? null, after, limit]);
