// The statements about partitions: one function a transition. A partition moves only for the message that has its turn.
import { statement } from "../../../pg/database.ts";
import { ms } from "../../../pg/instant.ts";
import type { Runner } from "../../../pg/join.ts";
import type { Planned } from "../../state.ts";
import type { BackfillPartitionReport, RunState } from "../contract.ts";
import type { Cursor } from "../records.ts";
import { sliceMax, slicesPerSecond, type Health } from "../state.ts";
import { isOpen } from "./backfills.ts";

const insert = statement(
  `insert into tuntas.backfill_partition (run, number, key, input, records)
   select $1, u.number, u.key, u.input, u.records
   from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as u(key, input, records, number)`,
);

export const insertPartitions = (
  tx: Runner,
  run: string,
  planned: readonly (Planned & { readonly records: number })[],
) =>
  tx.run(insert, [
    run,
    planned.map(({ key }) => key),
    planned.map(({ input }) => input),
    planned.map(({ records }) => records),
  ]);

/** The message by which a partition is held. */
export interface Claim {
  readonly run: string;
  readonly number: number;
  readonly turn: number;
}

const lockOpen = statement(
  `select number from tuntas.backfill_partition where run = $1 and ended_at is null order by number for no key update`,
);
const send = statement(
  `update tuntas.backfill_partition set turn = turn + 1 where run = $1 and ended_at is null
   returning run::text, number, turn`,
);

/** Waits for the slices that are under way. */
export const lockPartitions = (tx: Runner, run: string) => tx.run(lockOpen, [run]);

/** What is to be sent when a run goes on: a message that is still under way is void then. */
export const sendPartitions = (tx: Runner, run: string): Promise<Claim[]> => tx.run<Claim & {}>(send, [run]);

const reopen = statement(
  `update tuntas.backfill_partition set undone = null, read = 0, ended_at = case when checkpoint is null then tuntas.now() end
   where run = $1`,
);

/** What was begun is to be undone, from its beginning to its checkpoint. */
export const reopenPartitions = (tx: Runner, run: string) => tx.run(reopen, [run]);

export interface Begun extends Health {
  readonly backfill: string;
  readonly scope: string;
  readonly state: RunState;
  readonly key: string;
  readonly input: string;
  readonly checkpoint: Cursor | null;
  readonly undone: Cursor | null;
  /** How many records the slice may have. */
  readonly size: number;
  /** Until then the rate is taken up by others, and by this slice itself. */
  readonly waitMs: number;
}

// One row after another, so that the rate is kept by all processes together.
const size = `least(${sliceMax}, ceil(r.per_second / ${slicesPerSecond}.0))`;
const begin = statement(
  `update tuntas.backfill_run r
   set next_at = greatest(r.next_at, tuntas.now()) + make_interval(secs => ${size} / (r.per_second * r.pace))
   from tuntas.backfill_partition p, tuntas.backfill b
   where r.id = $1 and p.run = $1 and p.number = $2 and p.turn = $3 and p.ended_at is null and b.name = r.backfill
     and (r.state = 'rolling_back' or (r.state = 'running' and ${isOpen}))
   returning r.backfill, r.scope, r.state, r.pace, r.database_ms as "databaseMs", r.downstream_ms as "downstreamMs", p.key, p.input, p.checkpoint, p.undone,
     ${size}::int as size, ${ms("r.next_at - tuntas.now()")} as "waitMs"`,
);

/** Reserves a slice of the rate; undefined where the message is void, or the run does not go on now. */
export const beginSlice = async (sql: Runner, { run, number, turn }: Claim): Promise<Begun | undefined> =>
  (await sql.run<Begun & {}>(begin, [run, number, turn]))[0];

const hold = statement(
  `select p.number from tuntas.backfill_partition p join tuntas.backfill_run r on r.id = p.run
   where p.run = $1 and p.number = $2 and p.turn = $3 and p.ended_at is null and r.state in ('running', 'rolling_back')
   for no key update of p`,
);

/** Locks the partition; false where the run was paused or ended meanwhile. */
export const holdPartition = async (tx: Runner, { run, number, turn }: Claim): Promise<boolean> =>
  (await tx.run(hold, [run, number, turn])).length > 0;

const turnOf = statement(`select turn from tuntas.backfill_partition where run = $1 and number = $2`);

/** Whether the message counts; who holds the run's row knows that it stays so. */
export const hasTurn = async (tx: Runner, { run, number, turn }: Claim): Promise<boolean> =>
  (await tx.run<{ turn: number }>(turnOf, [run, number]))[0]?.turn === turn;

const advance = statement(
  `update tuntas.backfill_partition set read = read + $4,
     checkpoint = case when $6 then checkpoint else coalesce($5::text[], checkpoint) end,
     undone = case when $6 then coalesce($5::text[], undone) else undone end,
     ended_at = case when $7 then tuntas.now() end
   where run = $1 and number = $2 and turn = $3`,
);

export interface Advance {
  readonly read: number;
  /** Of the last record of the slice. */
  readonly cursor: Cursor | null;
  readonly isUndo: boolean;
  readonly isLast: boolean;
}

/** Of a partition that is held. */
export const advancePartition = (tx: Runner, { run, number, turn }: Claim, of: Advance) =>
  tx.run(advance, [run, number, turn, of.read, of.cursor, of.isUndo, of.isLast]);

const open = statement(
  `select exists (select from tuntas.backfill_partition where run = $1 and ended_at is null) as open`,
);

/** Whether there is still something to do; to be asked by who holds the run, so that of two ends the second sees the first. */
export const hasOpen = async (tx: Runner, run: string): Promise<boolean> =>
  (await tx.run<{ open: boolean }>(open, [run]))[0]!.open;

const list = statement(
  `select number, key, records::float8 as records, read::float8 as read, checkpoint, ended_at is not null as ended
   from tuntas.backfill_partition where run = $1 order by ended_at is not null, number limit $2`,
);

/** Those that are open first. */
export const readPartitions = (sql: Runner, run: string, limit: number): Promise<BackfillPartitionReport[]> =>
  sql.run<BackfillPartitionReport & {}>(list, [run, limit]);

const inputs = statement(
  `select key, input from tuntas.backfill_partition where run = $1 and records > 0 order by number`,
);

/** Those that have records. */
export const readInputs = (sql: Runner, run: string) =>
  sql.run<{ key: string; input: string }>(inputs, [run]);
