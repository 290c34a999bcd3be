// Emptying a queue while others send to it, receive from it and settle. A message on its way from one table to another is not
// seen in either place by the statement that it overtakes; so it goes on, look by look, until none from before the purge is left.
import { setTimeout } from "node:timers/promises";
import type { Row, Sql } from "../../../pg/contract.ts";
import { statement } from "../../../pg/database.ts";
import type { QueueRecord } from "../../contract.ts";
import { refreshGroups } from "../settle.ts";

type Purged = Pick<QueueRecord, "id" | "fifo">;

const last = statement(`select last_value::text as id from tuntas.message_id_seq`);

const countMax = 20_000;

const next = (table: string, columns: string, condition: string): string =>
  `select ${columns} from tuntas.${table} where queue_id = $1 and ${condition} limit ${countMax}`;

const taken = (table: string, condition: string, answer = "id"): string =>
  `delete from tuntas.${table} where ctid = any(array(${next(table, "ctid", condition)} for update skip locked)) returning ${answer}`;

const isOld = "id <= $2::bigint";

// In the order in which whoever sends, moves and settles locks several.
const lockGroups = statement(
  `select $1::int as "queueId", o.group_id as "groupId", tuntas.lock_group($1, o.group_id) from (
     select distinct u.group_id from (
       (${next("ready", "group_id", isOld)}) union all (${next("in_flight", "group_id", isOld)})) u
     where u.group_id is not null order by u.group_id) o`,
);

// Only groups that are locked: the claim of another one would wait for the row, and this for the group. What has no group is
// nobody's but its own.
const ofLocked = `${isOld} and ($3::text[] is null or group_id is null or group_id = any($3))`;

// The body goes with its place, and with nothing else.
const take = statement(
  `with ready as (${taken("ready", ofLocked)}),
   delayed as (${taken("delayed", isOld)}),
   loose as (${taken("in_flight", ofLocked)}),
   bundles as (${taken("bundle", "ids[1] <= $2::bigint", "ids")}),
   gone as materialized (
     select id from ready union all select id from delayed union all select id from loose union all select unnest(ids) from bundles
   ),
   bodies as (delete from tuntas.message where id = any(array(select id from gone))),
   failures as (delete from tuntas.failure where id = any(array(select id from gone)))
   select count(*)::int as count from gone`,
);

const left = statement(
  `select exists(select from tuntas.ready where queue_id = $1 and ${isOld})
     or exists(select from tuntas.delayed where queue_id = $1 and ${isOld})
     or exists(select from tuntas.held where queue_id = $1 and ${isOld}) as left`,
);

/** Removes what nobody else moves at this moment; answers how many messages that were. */
const removeSome = (sql: Sql, queue: Purged, until: string): Promise<number> =>
  sql.transaction(async (tx) => {
    const groups = queue.fifo
      ? await tx.run<Row & { queueId: number; groupId: string }>(lockGroups, [queue.id, until])
      : null;
    const locked = groups && groups.map(({ groupId }) => groupId);
    const [row] = await tx.run<{ count: number }>(take, [queue.id, until, locked]);
    if (groups) await refreshGroups(tx, groups);
    return row!.count;
  });

const forget = statement(
  `with a as (delete from tuntas.fifo_duplicate where queue_id = $1)
   delete from tuntas.fifo_receive_attempt where queue_id = $1`,
);

// Somebody has what is left in hand, for the length of a commit.
const inHandMs = 10;

/** Removes every message of the queue that was there before, whatever its state, and forgets what FIFO remembered. */
export async function purgeMessages(sql: Sql, queue: Purged): Promise<void> {
  const until = (await sql.run<{ id: string }>(last))[0]!.id;
  await sql.run(forget, [queue.id]);
  for (;;) {
    const count = await removeSome(sql, queue, until);
    const [row] = await sql.run<{ left: boolean }>(left, [queue.id, until]);
    if (!row!.left) return;
    if (count === 0) await setTimeout(inHandMs);
  }
}

// Of each table the queues, from one to the next along its index: there may be millions of messages.
const queuesOf = (table: string): string =>
  `select q.id from (with recursive q(id) as (select min(queue_id) from tuntas.${table} union all
     select (select min(t.queue_id) from tuntas.${table} t where t.queue_id > q.id) from q where q.id is not null) select id from q) q`;

const abandoned = statement(
  `select a.id from (${queuesOf("ready")} union ${queuesOf("delayed")} union ${queuesOf("fifo_group")}) a
   where a.id is not null and not exists (select from tuntas.queue q where q.id = a.id)`,
);

/**
 * Removes messages whose queue is gone: a send that began before the queue was deleted may commit after all that the deletion
 * looked at. To have sends wait for deletions would cost each of them a lock.
 */
export async function purgeAbandoned(sql: Sql): Promise<void> {
  for (const { id } of await sql.run<{ id: number }>(abandoned)) await purgeMessages(sql, { id, fifo: true });
}
