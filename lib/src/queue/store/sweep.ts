// What nobody asked for: rows of the dead, and rows whose time is over.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { inBatches } from "../../engine/chore.ts";
import type { Claim } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

const orphans = statement(
  `select distinct owner_id::text as id from tuntas.held f
   where owner_id is not null and not exists (select from tuntas.process p where p.id = f.owner_id)`,
);

/** Owners of messages in flight that have no row. */
export const findOrphans = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ id: string }>(orphans)).map((row) => row.id);

const strays = statement(
  `select queue_id as "queueId", id::text, fence::text from tuntas.held
   where owner_id = $1 and (fence <> all($2::bigint[]) or id <> all($3::bigint[]))`,
);

/** The claims of this owner beside those that it knows of. */
export const findStrays = (
  sql: Runner,
  ownerId: string,
  known: readonly { readonly id: string; readonly fence: string }[],
): Promise<Claim[]> =>
  sql.run<Claim & {}>(strays, [ownerId, known.map(({ fence }) => fence), known.map(({ id }) => id)]);

const removeDead = statement(
  `delete from tuntas.process p where id = any($1::bigint[])
     and not exists (select from tuntas.held f where f.owner_id = p.id)`,
);

export const removeProcesses = (sql: Runner, ids: readonly string[]) => sql.run(removeDead, [ids]);

const batch = 1000;

/** Up to a batch of a table's rows that have expired, the oldest first. */
const expired = (table: string) =>
  `delete from tuntas.${table} where ctid = any(array(
     select ctid from tuntas.${table} where expires_at <= tuntas.now() order by expires_at limit ${batch})) returning 1`;

const unlocked = `select from tuntas.entity_lock l
  where not exists (select from tuntas.in_flight f where f.queue_id = l.queue_id and f.id = l.id and f.fence = l.fence) limit ${batch}`;

const forget = [
  ...["fifo_duplicate", "fifo_receive_attempt", "command", "inbox"].map(expired),
  // Nothing has happened to the tenant for an hour: no limit remembers that long.
  `delete from tuntas.tenant where ctid = any(array(
     select t.ctid from tuntas.tenant t
     where greatest(t.changed_at, t.open_until, t.next_at) < tuntas.now() - interval '1 hour' limit ${batch})) returning 1`,
  // ListMessageMoveTasks shows the most recent ten of a source; a queue that is gone has none to show.
  `delete from tuntas.move_task where ended_at is not null and ctid = any(array(
     select t.ctid from (
       select m.ctid, m.source_queue_id, row_number() over (partition by m.source_queue_id order by m.started_at desc, m.id) as n
       from tuntas.move_task m) t
     where t.n > 10 or not exists (select from tuntas.queue q where q.id = t.source_queue_id) limit ${batch})) returning 1`,
].map((text) => statement(`with gone as (${text}) select count(*)::int as count from gone`));

const forgetLocks = statement(
  `select (select count(*)::int from (${unlocked}) l) as count, tuntas.forget_entity_locks(${batch})`,
);

/** Forgets what has expired: deduplication ids, receive attempts, command records, inbox entries, move tasks of long ago. */
export async function forgetExpired(sql: Runner): Promise<void> {
  for (const one of [...forget, forgetLocks])
    await inBatches(batch, async () => (await sql.run<{ count: number }>(one))[0]!.count);
}

// The oldest messages come first in a queue, or nearly so: looking at the front only keeps a long backlog from being
// read every few seconds.
const expire = statement(
  `with gone as (
     delete from tuntas.ready where ctid = any(array(
       select r.ctid from tuntas.queue q cross join lateral (
         select ctid, sent_at from tuntas.ready r where r.queue_id = q.id order by r.turn, r.id limit 500) r
       where r.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds)
       limit 1000))
     returning id, queue_id, group_id
   ), bodies as (delete from tuntas.message where id = any(array(select id from gone))),
   failures as (delete from tuntas.failure where id = any(array(select id from gone)))
   select queue_id as "queueId", group_id as "groupId" from gone`,
);

/** Removes messages past their queue's retention, dead letters too; up to 1000. */
export const removeExpired = (sql: Runner) => sql.run<{ queueId: number; groupId: string | null }>(expire);
