// Whoever holds partitions and dies, or stands still, loses them here. A death proves nothing against a record: what was there
// to read is suspect, and tried one by one. One that is tried by itself, or handled again, has failed if nothing else
// of the process's can have been it; else it is contested, and is tried with nothing beside it.
import type { Sql, Statement } from "../../pg/contract.ts";
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

// In one order, as whoever rewinds takes them.
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
const ofProcesses = (at: number) => `c.owner_id = any($${at}::bigint[])`;
const ofStrays =
  "c.owner_id is not null and not exists (select from tuntas.process p where p.id = c.owner_id)";

// Who is frozen in the middle of its commit keeps a row locked for as long as a session may rest in a transaction, or has sent a part
// of what it sends: its session waits for its client, and is ended. Not a person's, who holds a consumer as well, perhaps another
// (`taking.ts`): it may take its time. What is undone with it was a dead one's, and is handled by the next; who comes back finds its fence gone.
const endText = (where: string) =>
  statement(
    `select pg_terminate_backend(a.pid) from tuntas.stream_checkpoint c join pg_stat_activity a on a.backend_xid = c.xmax
     where ${where} and not exists (select from tuntas.stream_consumer k where k.xmax = c.xmax) and a.usename = current_user and a.wait_event = 'ClientRead'
       and a.state_change < clock_timestamp() - interval '2 s'`,
  );

interface Freeing {
  readonly all: Statement;
  readonly free: Statement;
  readonly endHolders: Statement;
}

/** The parameters of the first are those of `why`, and what is behind them. */
const freeing = (where: string, whereAlone = where): Freeing => ({
  all: freeText(where, ""),
  free: freeText(where, "skip locked"),
  endHolders: endText(whereAlone),
});
const [freeOf, freeStray] = [freeing(ofProcesses(3), ofProcesses(1)), freeing(ofStrays)];
const removeMembers = statement(`delete from tuntas.stream_member where process_id = any($1::bigint[])`);

type Work = (text: Statement) => Promise<Freed>;
type End = (text: Statement) => Promise<readonly unknown[]>;

/** Undefined where it collided with others. */
const unlessHeld = (freed: Promise<Freed>): Promise<Freed | undefined> =>
  freed.catch((cause: unknown) => {
    if (!isCollision(cause)) throw cause;
    return undefined;
  });

/** Waits for rows that are locked, ends who holds them and waits himself, and does without those that are locked still: a later sweep frees them. */
async function patiently({ all, free, endHolders }: Freeing, work: Work, end: End): Promise<Freed> {
  const first = await unlessHeld(work(all));
  if (first) return first;
  const ended = await end(endHolders);
  return (ended.length > 0 && (await unlessHeld(work(all)))) || work(free);
}

/** Frees all that the processes hold; they have no share any more until they join again. */
export const freePartitions = (sql: Sql, processIds: readonly string[]): Promise<Freed> => {
  const work: Work = (text) =>
    sql.transaction(async (tx) => {
      await tx.run(removeMembers, [processIds]);
      return (await tx.run<Freed & {}>(text, [...why, processIds]))[0]!;
    });
  return patiently(freeOf, work, (text) => sql.run(text, [processIds]));
};

/** Frees what processes hold that have no row any more: claims whose commit came after their end. */
export const freeStrays = (sql: Runner): Promise<Freed> => {
  const work: Work = async (text) => (await sql.run<Freed & {}>(text, why))[0]!;
  return patiently(freeStray, work, (text) => sql.run(text));
};

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
