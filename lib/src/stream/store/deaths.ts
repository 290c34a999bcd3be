// Whoever holds partitions and dies, or stands still, loses them here. A death proves nothing against a record: what was there
// to read is suspect, and tried one by one. One that is tried by itself, or handled again, has failed if nothing else
// of the process's can have been it; else it is contested, and is tried with nothing beside it.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { isCollision } from "../../pg/faults.ts";
import type { Runner } from "../../pg/join.ts";

/** A record of which its process died. */
export interface Fatal {
  readonly stream: string;
  readonly consumer: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly attempt: number;
  readonly code: string;
  readonly reason: string;
}

export interface Freed {
  /** The consumers that have something free now. */
  readonly consumerIds: readonly number[];
  readonly fatal: readonly Fatal[];
}

const unread = (of: string) =>
  `exists (select from tuntas.stream_peek(${of}.stream_id, ${of}.partition, ${of}.next_offset, 1))`;
// The others of its owner's that may have been under way; they are looked at for those alone that are tried by themselves.
const beside = `exists (select from tuntas.stream_checkpoint o where o.owner_id = c.owner_id and (o.consumer_id, o.partition) <> (c.consumer_id, c.partition)
  and (o.trying is not null or (o.stopped_at is null and ${unread("o")})))`;
const wasReplayed = `exists (select from tuntas.stream_parked k where k.consumer_id = c.consumer_id and k.partition = c.partition
  and k."offset" = c.trying and k.replay_at is not null)`;

// In one order, as whoever rewinds takes them. One that is frozen in the middle of its commit may keep a row locked for as long as a
// session may rest in a transaction: what else is held is freed without it, and that one by a later sweep.
const freeText = (where: string, locked: "" | "skip locked") =>
  statement(`with held as materialized (
     select c.*, ${unread("c")} as unread, coalesce(c.trying = c.next_offset, false) as alone,
       c.trying is not null and c.trying <> c.next_offset and ${wasReplayed} as replayed,
       case when c.trying is not null then ${beside} end as beside
     from tuntas.stream_checkpoint c where ${where} order by c.consumer_id, c.partition for update ${locked}
   ), replayed as (
     update tuntas.stream_parked k set attempts = k.attempts + d.failed::int, contested = not d.failed,
       replay_at = case when d.failed then null else k.replay_at end,
       code = case when d.failed then $1 else k.code end, reason = case when d.failed then $2 else k.reason end
     from (select h.*, not h.beside or p.contested as failed from held h join tuntas.stream_parked p on p.consumer_id = h.consumer_id
       and p.partition = h.partition and p."offset" = h.trying where h.replayed) d
     where k.consumer_id = d.consumer_id and k.partition = d.partition and k."offset" = d.trying
     returning k.consumer_id, k.partition, k."offset", k.key, k.attempts, d.failed
   ), freed as (
     update tuntas.stream_checkpoint c set owner_id = null, fence = c.fence + 1, trying = null, suspect = c.suspect or d.unread,
       contested = c.contested or d.alone, attempts = c.attempts + d.failed::int,
       code = case when d.failed then $1 else c.code end, reason = case when d.failed then $2 else c.reason end
     from (select h.*, h.alone and (h.contested or not h.beside) as failed from held h) d
     where c.consumer_id = d.consumer_id and c.partition = d.partition
     returning c.consumer_id, c.partition, c.next_offset as "offset", c.stream_id, c.attempts, d.failed
   ), fatal as (
     select r.consumer_id, r.partition, r."offset", r.key, r.attempts from replayed r where r.failed
     union all
     select f.consumer_id, f.partition, f."offset", (select p.key from tuntas.stream_peek(f.stream_id, f.partition, f."offset", 1) p), f.attempts
     from freed f where f.failed
   )
   select array(select distinct f.consumer_id from freed f) as "consumerIds", (
     select coalesce(json_agg(json_build_object('stream', s.name, 'consumer', k.name, 'partition', f.partition, 'offset', f."offset",
       'key', f.key, 'attempt', f.attempts, 'code', $1::text, 'reason', $2::text)), '[]')
     from fatal f join tuntas.stream_consumer k on k.id = f.consumer_id join tuntas.stream s on s.id = k.stream_id) as fatal`);

const why = ["TUNTAS_RECORD_FATAL", "the process that handled it died or stood still"];
const ofProcesses = "c.owner_id = any($3::bigint[])";
const ofStrays =
  "c.owner_id is not null and not exists (select from tuntas.process p where p.id = c.owner_id)";
const freeing = (where: string) => ({ all: freeText(where, ""), free: freeText(where, "skip locked") });
const [freeOf, freeStray] = [freeing(ofProcesses), freeing(ofStrays)];
const removeMembers = statement(`delete from tuntas.stream_member where process_id = any($1::bigint[])`);

/** Waits for rows that are locked, and does without them where that takes too long. */
const patiently = (work: (which: "all" | "free") => Promise<Freed>): Promise<Freed> =>
  work("all").catch((cause: unknown) => {
    if (isCollision(cause)) return work("free");
    throw cause;
  });

/** Frees all that the processes hold; they have no share any more until they join again. */
export const freePartitions = (sql: Sql, processIds: readonly string[]): Promise<Freed> =>
  patiently((which) =>
    sql.transaction(async (tx) => {
      await tx.run(removeMembers, [processIds]);
      return (await tx.run<Freed & {}>(freeOf[which], [...why, processIds]))[0]!;
    }),
  );

/** Frees what processes hold that have no row any more: claims whose commit came after their end. */
export const freeStrays = (sql: Runner): Promise<Freed> =>
  patiently(async (which) => (await sql.run<Freed & {}>(freeStray[which], why))[0]!);

// Whoever works moves its checkpoint, notes a failure, or says that it waits, within its timeout of the moment from which there
// was something to do, and a server. Who has not for twice as long and a lease more has an event loop that is blocked: all that it holds.
const stuck = statement(
  `select distinct c.owner_id::text as "processId" from tuntas.stream_checkpoint c join tuntas.stream_consumer k on k.id = c.consumer_id
     join tuntas.stream_partition p on p.stream_id = c.stream_id and p.partition = c.partition
   where c.owner_id is not null and c.stopped_at is null and p.next_offset > c.next_offset
     and coalesce(tuntas.stream_until(c.consumer_id, c.stream_id, c.partition, c.next_offset) > c.next_offset, true)
     and greatest(c.moved_at, c.retry_at, c.waiting_at, pg_postmaster_start_time(), (select r.appended_at from tuntas.stream_peek(c.stream_id, c.partition, c.next_offset, 1) r))
       < tuntas.now() - 2 * k.timeout - interval '15 s'`,
);

/** Processes that hold a partition and do nothing with it. */
export const findStuck = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ processId: string }>(stuck)).map(({ processId }) => processId);
