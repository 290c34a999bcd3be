// The statements about runs: one function a transition. Whoever lets a run's partitions go on holds those before the run's own
// row, as a slice does.
import { statement } from "../../../pg/database.ts";
import { announces, keptBack } from "../../../engine/handler/replay.ts";
import { ms } from "../../../pg/instant.ts";
import type { Runner } from "../../../pg/join.ts";
import type { Counts, FailedRecord, Pause, RunReport, RunState, Sample } from "../contract.ts";
import { leftMsOf, verbsOf, type Health } from "../state.ts";
import { isOpen } from "./backfills.ts";

export interface NewRun {
  readonly backfill: string;
  readonly scope: string;
  readonly scopeHash: string;
  readonly by: string;
  readonly reason: string;
}

// A conflict would take a number all the same.
const insert = statement(
  `insert into tuntas.backfill_run (backfill, scope, scope_hash, actor, reason, state, per_second, next_at, asked_at)
   select b.name, $2, $3, $4, $5, 'planning', b.per_second, tuntas.now(), tuntas.now() from tuntas.backfill b where b.name = $1
     and not exists (select from tuntas.backfill_run where backfill = $1 and scope_hash = $3 and ended_at is null)
   on conflict (backfill, scope_hash) where ended_at is null do nothing returning id::text`,
);

/** The id of the new run; undefined where the scope has one that is not over. */
export const insertRun = async (tx: Runner, of: NewRun): Promise<string | undefined> =>
  (await tx.run<{ id: string }>(insert, [of.backfill, of.scope, of.scopeHash, of.by, of.reason]))[0]?.id;

const openOf = statement(
  `select id::text from tuntas.backfill_run where backfill = $1 and scope_hash = $2 and ended_at is null`,
);

export const findOpen = async (sql: Runner, backfill: string, scopeHash: string) =>
  (await sql.run<{ id: string }>(openOf, [backfill, scopeHash]))[0]?.id;

export interface RunRow {
  readonly id: string;
  readonly backfill: string;
  readonly scope: string;
  readonly state: RunState;
  readonly turn: number;
  readonly actor: string;
  readonly sample: string | null;
}

const rowColumns = `r.id::text, r.backfill, r.scope, r.state, r.turn, r.actor, r.sample`;
const find = statement(`select ${rowColumns} from tuntas.backfill_run r where r.id = $1`);
const lock = statement(`select ${rowColumns} from tuntas.backfill_run r where r.id = $1 for no key update`);

export const findRun = async (sql: Runner, id: string): Promise<RunRow | undefined> =>
  (await sql.run<RunRow & {}>(find, [id]))[0];
export const lockRun = async (tx: Runner, id: string): Promise<RunRow | undefined> =>
  (await tx.run<RunRow & {}>(lock, [id]))[0];

const move = statement(
  `update tuntas.backfill_run set state = $3, pause = $4, failure = $5, turn = turn + 1,
     begun_at = case when $3 = 'running' then coalesce(begun_at, tuntas.now()) else begun_at end,
     resumed_at = case when $3 in ('running', 'rolling_back') then tuntas.now() else resumed_at end,
     resumed_with = case $3 when 'running' then handled + final + failed when 'rolling_back' then 0 else resumed_with end,
     next_at = case when $3 in ('running', 'rolling_back') then tuntas.now() else next_at end,
     ended_at = case when $3 in ('completed', 'aborted', 'rolled_back') then tuntas.now() end
   where id = $1 and turn = $2 returning turn`,
);

export interface Move {
  readonly to: RunState;
  readonly pause?: Pause;
  readonly failure?: string;
}

/** Moves a run on, which voids the messages about it; undefined where another was faster. Answers the turn that counts now. */
export const moveRun = async (
  tx: Runner,
  { id, turn }: Pick<RunRow, "id" | "turn">,
  { to, pause, failure }: Move,
): Promise<number | undefined> =>
  (await tx.run<{ turn: number }>(move, [id, turn, to, pause ?? null, failure ?? null]))[0]?.turn;

const note = statement(`update tuntas.backfill_run set failure = $2 where id = $1 and ended_at is null`);

/** Why a step is tried again. */
export const noteFailure = (sql: Runner, id: string, failure: string) => sql.run(note, [id, failure]);

const keepPlan = statement(`update tuntas.backfill_run set plan_hash = $2 where id = $1`);
export const writePlan = (tx: Runner, id: string, hash: string) => tx.run(keepPlan, [id, hash]);

const keepSample = statement(`update tuntas.backfill_run set sample = $2 where id = $1`);
export const writeSample = (tx: Runner, id: string, sample: Sample) =>
  tx.run(keepSample, [id, JSON.stringify(sample)]);

const stamp = statement(`select ${ms("tuntas.now()")} as "atMs"`);
export const nowMs = async (tx: Runner): Promise<number> => (await tx.run<{ atMs: number }>(stamp))[0]!.atMs;

const approve = statement(`update tuntas.backfill_run set approved_by = $2 where id = $1`);
export const writeApproval = (tx: Runner, id: string, by: string) => tx.run(approve, [id, by]);

const rate = statement(
  `update tuntas.backfill_run r set per_second = $2 from tuntas.backfill b
   where r.id = $1 and b.name = r.backfill and $2 <= b.per_second returning r.id`,
);

/** False where the backfill declares less. */
export const setRate = async (tx: Runner, id: string, perSecond: number): Promise<boolean> =>
  (await tx.run(rate, [id, perSecond])).length > 0;

/** What a slice adds to its run. */
export interface Sum extends Counts {
  /** Without what the database has kept back. */
  readonly suppressed: number;
  readonly health: Health;
  /** How much more than was reserved it took of the rate; below 0 where it took less. */
  readonly surplus: number;
}

const add = statement(
  `update tuntas.backfill_run set handled = handled + $2, final = final + $3, failed = failed + $4, suppressed = suppressed + $5 + ${keptBack},
     pace = $6, database_ms = $7, downstream_ms = $8, next_at = next_at + make_interval(secs => $9::float8 / (per_second * pace))
   where id = $1
   returning state, turn, handled::float8 as handled, final::float8 as final, failed::float8 as failed,
     $5 + ${keptBack} as "keptBack", ${announces}`,
);

/** Ends the replay; answers the run's counts, of all its slices, and what this one has kept back. */
export const addToRun = async (tx: Runner, id: string, of: Sum) => {
  const { pace, databaseMs, downstreamMs } = of.health;
  const values = [
    id,
    of.handled,
    of.final,
    of.failed,
    of.suppressed,
    pace,
    databaseMs,
    downstreamMs,
    of.surplus,
  ];
  return (await tx.run<Counts & Pick<RunRow, "state" | "turn"> & { keptBack: number }>(add, values))[0]!;
};

const keptMax = 1000;
const keepFailures = statement(
  `insert into tuntas.backfill_failure (run, partition, record, code, message, at)
   select $1, $2, u.record, u.code, u.message, tuntas.now() from unnest($3::text[], $4::text[], $5::text[]) as u(record, code, message)
   where (select count(*) from tuntas.backfill_failure f where f.run = $1) < ${keptMax}
   on conflict (run, record) do update set code = excluded.code, message = excluded.message, at = excluded.at`,
);

export const writeFailures = (tx: Runner, id: string, partition: number, failed: readonly FailedRecord[]) =>
  tx.run(keepFailures, [
    id,
    partition,
    failed.map(({ record }) => record),
    failed.map(({ code }) => code),
    failed.map(({ message }) => message),
  ]);

const failures = statement(
  `select record, code, message from tuntas.backfill_failure where run = $1 order by partition, at, record limit $2`,
);
export const readFailures = (sql: Runner, id: string, limit: number): Promise<FailedRecord[]> =>
  sql.run<FailedRecord & {}>(failures, [id, limit]);

const forgetFailures = statement(`delete from tuntas.backfill_failure where run = $1`);
const noneFailed = statement(`update tuntas.backfill_run set failed = 0 where id = $1`);

/** A rollback counts what fails anew. */
export async function beginUndo(tx: Runner, id: string): Promise<void> {
  await tx.run(forgetFailures, [id]);
  await tx.run(noneFailed, [id]);
}

const closes = `r.state = 'running' and not ${isOpen}`;
const opens = `r.pause = 'window' and ${isOpen} and not exists (select from tuntas.backfill_run o
  where o.backfill = r.backfill and o.state in ('running', 'verifying', 'rolling_back'))`;
const timed = `from tuntas.backfill_run r join tuntas.backfill b on b.name = r.backfill
  where (r.state = 'running' or r.pause = 'window') and ((${closes}) or (${opens}))`;

/** Runs that their window closes or opens: few rows, by an index of their own. */
export const runsToTurn = `select ${timed}`;
const toTurn = statement(`select r.id::text as id, r.state ${timed}`);
export const readToTurn = (sql: Runner) => sql.run<{ id: string; state: RunState }>(toTurn);

const reports = statement(
  `select r.id::text, r.backfill, r.scope, r.state, r.pause, r.actor, r.reason, r.approved_by as "approvedBy", r.failure, r.sample,
     r.handled::float8 as handled, r.final::float8 as final, r.failed::float8 as failed, r.suppressed::float8 as suppressed,
     r.per_second as "perSecond", r.pace, r.database_ms as "databaseMs", r.downstream_ms as "downstreamMs",
     ${ms("r.asked_at")} as "askedAtMs", ${ms("r.begun_at")} as "begunAtMs", ${ms("r.ended_at")} as "endedAtMs",
     p.partitions, p.records, p.read, r.resumed_with::float8 as "resumedWith", ${ms("tuntas.now() - r.resumed_at")} as "sinceMs"
   from (select * from tuntas.backfill_run r where ($1::bigint is null or r.id = $1) and ($2::text is null or r.backfill = $2)
       and ($3::text[] is null or r.state = any($3)) and ($5::bigint is null or r.id < $5) order by r.id desc limit $4) r
   cross join lateral (
     select json_build_object('total', count(*), 'ended', count(p.ended_at)) as partitions,
       coalesce(sum(p.records), 0)::float8 as records, coalesce(sum(p.read), 0)::float8 as read
     from tuntas.backfill_partition p where p.run = r.id) p
   order by r.id desc`,
);

export interface RunFilter {
  readonly id?: string | undefined;
  readonly backfill?: string | undefined;
  readonly states?: readonly RunState[] | undefined;
  /** Those older than this one. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

type ReportRow = Omit<RunReport, "leftMs" | "sample" | "verbs"> & {
  readonly sample: string | null;
  readonly resumedWith: number;
  readonly sinceMs: number | null;
};

const moving: readonly RunState[] = ["running", "rolling_back"];

function toReport({ resumedWith, sinceMs, sample, ...report }: ReportRow): RunReport {
  const { records, read, perSecond, state } = report;
  const isMoving = moving.includes(state);
  const left = leftMsOf({
    records,
    read,
    perSecond,
    readSince: read - resumedWith,
    sinceMs: isMoving ? sinceMs : null,
  });
  return {
    ...report,
    verbs: verbsOf(report),
    sample: sample === null ? null : (JSON.parse(sample) as Sample),
    leftMs: report.endedAtMs !== null || report.partitions.total === 0 ? null : left,
  };
}

/** The newest first. */
export const readRuns = async (
  sql: Runner,
  { id, backfill, states, before, limit = 100 }: RunFilter,
): Promise<RunReport[]> =>
  (
    await sql.run<ReportRow & {}>(reports, [
      id ?? null,
      backfill ?? null,
      states ?? null,
      limit,
      before ?? null,
    ])
  ).map(toReport);

const forget = statement(
  `delete from tuntas.backfill_run where ended_at < tuntas.now() - interval '366 days'`,
);

/** Runs that are over for a year; the audit has what was decided. */
export const forgetRuns = (sql: Runner) => sql.run(forget);
