// The statements of streams and consumers as they are declared, and of their segments.
import type { Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { interval, ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { StreamSettings } from "../contract.ts";
import type { ConsumerRowSettings } from "../declaration.ts";
import type { Sealed } from "../state.ts";

/** A stream as whoever appends to it or reads it needs it. */
export interface StreamRow {
  readonly id: number;
  readonly name: string;
  readonly partitions: number;
  /** The last segment; 0 for a stream that has none yet. */
  readonly segment: number;
  readonly retentionMs: number;
}

const columns = `id, name, partitions, segment, ${ms("retention")} as "retentionMs"`;

// An insert takes a number even where the row is there: it is only tried where the update has found none. Whoever declares
// the same at the same time waits at it, and then finds the row.
const declare = statement(
  `with known as (
     update tuntas.stream set key_meaning = $2, retention = ${interval("$4")}, owner = $5, runbook = $6 where name = $1 returning ${columns}
   ), made as (
     insert into tuntas.stream (name, key_meaning, partitions, retention, owner, runbook)
     select $1, $2, $3, ${interval("$4")}, $5, $6 where not exists (select from known)
     on conflict (name) do update set key_meaning = $2, retention = excluded.retention, owner = $5, runbook = $6
     returning ${columns}
   )
   select * from known union all select * from made`,
);

/** Keeps what is declared; the number of partitions stays what it is. */
export const declareStream = async (tx: Tx, of: StreamSettings): Promise<StreamRow> =>
  (
    await tx.run<StreamRow & {}>(declare, [
      of.name,
      of.key,
      of.partitions,
      of.retentionMs,
      of.owner,
      of.runbook,
    ])
  )[0]!;

const insertPartitions = statement(
  `insert into tuntas.stream_partition (stream_id, partition) select $1, n from generate_series(0, $2::int - 1) n`,
);

export const addPartitions = (tx: Tx, { id, partitions }: StreamRow) =>
  tx.run(insertPartitions, [id, partitions]);

const earlier = statement(`select from tuntas.stream_seam where stream_id = $1 and partitions = $2`);

/** Whether the stream had so many partitions before it got more. */
export const hadPartitions = async (sql: Runner, streamId: number, partitions: number): Promise<boolean> =>
  (await sql.run(earlier, [streamId, partitions])).length > 0;

const widenInto = statement(`select tuntas.stream_widen($1, $2)`);

/** Adds partitions, once no transaction is open that has appended. */
export const widen = (sql: Runner, streamId: number, partitions: number) =>
  sql.run(widenInto, [streamId, partitions]);

const rollSegment = statement(`select tuntas.stream_roll($1) as segment`);

/** Begins a new segment. */
export const roll = (sql: Runner, streamId: number) => sql.run(rollSegment, [streamId]);

const find = statement(
  `select ${columns} from tuntas.stream where $1::text is null or name = $1 order by name`,
);

export const findStreams = (sql: Runner, name: string | null): Promise<StreamRow[]> =>
  sql.run<StreamRow & {}>(find, [name]);

const declareOne = statement(
  `with known as (
     update tuntas.stream_consumer set on_bad_record = $3, timeout = ${interval("$4")}, lag_within = ${interval("$5")}
     where stream_id = $1 and name = $2 returning id
   ), made as (
     insert into tuntas.stream_consumer (stream_id, name, on_bad_record, timeout, lag_within)
     select $1, $2, $3, ${interval("$4")}, ${interval("$5")} where not exists (select from known)
       and not exists (select from tuntas.stream_succession n where n.stream_id = $1 and n.name = $2)
     on conflict (stream_id, name) do update
       set on_bad_record = excluded.on_bad_record, timeout = excluded.timeout, lag_within = excluded.lag_within
     returning id
   )
   select id from known union all select id from made`,
);

/** Undefined where another has taken its place. */
export const declareConsumer = async (
  tx: Tx,
  streamId: number,
  { name, onBadRecord, timeoutMs, lagWithinMs }: ConsumerRowSettings,
): Promise<number | undefined> =>
  (await tx.run<{ id: number }>(declareOne, [streamId, name, onBadRecord, timeoutMs, lagWithinMs]))[0]?.id;

const sequenceAll = statement(
  `select tuntas.stream_sequence(p.stream_id, p.partition) from tuntas.stream_partition p where p.stream_id = $1 order by p.partition`,
);

/** Gives what has arrived its offsets, and holds all partitions until the end of the transaction. */
export const sequence = (tx: Tx, streamId: number) => tx.run(sequenceAll, [streamId]);

/** The oldest offset of a partition that is kept. */
export const firstOffset = (streamId: string, partition: string) =>
  `(select coalesce(g.first_offsets[${partition} + 1], 0) from tuntas.stream_segment g where g.stream_id = ${streamId} order by g.segment limit 1)`;

const insertCheckpoints = statement(
  `insert into tuntas.stream_checkpoint (consumer_id, partition, stream_id, next_offset, reached, began, moved_at)
   select $1, p.partition, p.stream_id, at.next, at.next, at.next, tuntas.now() from tuntas.stream_partition p,
     lateral (select case when $3 then ${firstOffset("p.stream_id", "p.partition")} else p.next_offset end as next) at
   where p.stream_id = $2 on conflict (consumer_id, partition) do nothing`,
);

/** Where a consumer begins; one that has begun stays where it is. */
export const beginCheckpoints = (
  tx: Tx,
  consumerId: number,
  { streamId, fromStart }: { readonly streamId: number; readonly fromStart: boolean },
) => tx.run(insertCheckpoints, [consumerId, streamId, fromStart]);

const findConsumer = statement(
  `select k.id, k.stream_id as "streamId" from tuntas.stream_consumer k join tuntas.stream s on s.id = k.stream_id
   where s.name = $1 and k.name = $2 for update of k`,
);

const findAll = statement(`select k.id from tuntas.stream_consumer k where k.stream_id = $1 order by k.id`);

export const findConsumers = (sql: Runner, streamId: number): Promise<{ id: number }[]> =>
  sql.run<{ id: number }>(findAll, [streamId]);

export interface ConsumerRow {
  readonly id: number;
  readonly streamId: number;
}

/** The consumer, held until the end of the transaction. */
export const lockConsumer = async (
  tx: Tx,
  stream: string,
  consumer: string,
): Promise<ConsumerRow | undefined> => (await tx.run<ConsumerRow & {}>(findConsumer, [stream, consumer]))[0];

const remove = statement(`delete from tuntas.stream_consumer where id = $1`);

export const removeConsumer = (tx: Tx, consumerId: number) => tx.run(remove, [consumerId]);

const lastSegment = statement(
  `select ${ms("tuntas.now() - g.began_at")} as "ageMs",
     (select sum(p.next_offset - g.first_offsets[p.partition + 1]) from tuntas.stream_partition p where p.stream_id = g.stream_id)::float8 as records
   from tuntas.stream_segment g where g.stream_id = $1 order by g.segment desc limit 1`,
);

/** How old the last segment is, and how many records it has. */
export const readLastSegment = async (sql: Runner, streamId: number) =>
  (await sql.run<{ ageMs: number; records: number }>(lastSegment, [streamId]))[0];

const sealedSegments = statement(
  `select g.segment, ${ms("tuntas.now() - n.began_at")} as "endedMsAgo", array(
     select k.name from tuntas.stream_consumer k where k.stream_id = g.stream_id and exists (
       select from tuntas.stream_checkpoint c where c.consumer_id = k.id
         and c.next_offset < n.first_offsets[c.partition + 1] and n.first_offsets[c.partition + 1] > g.first_offsets[c.partition + 1])
     order by k.name) as "unreadBy"
   from tuntas.stream_segment g join tuntas.stream_segment n on n.stream_id = g.stream_id and n.segment = (
     select min(m.segment) from tuntas.stream_segment m where m.stream_id = g.stream_id and m.segment > g.segment)
   where g.stream_id = $1 order by g.segment`,
);

/** What is not appended to any more, the oldest first. */
export const readSealed = (sql: Runner, streamId: number): Promise<Sealed[]> =>
  sql.run<Sealed & {}>(sealedSegments, [streamId]);

const forget = statement(
  `delete from tuntas.stream_segment g where g.stream_id = $1 and g.segment = any ($2::int[])`,
);

/** Drops segments with all that is in them. */
export async function dropSegments(tx: Tx, streamId: number, segments: readonly number[]): Promise<void> {
  await tx.run(forget, [streamId, segments]);
  for (const segment of segments)
    await tx.run(statement(`drop table tuntas.stream_record_${streamId}_${segment}`));
}
