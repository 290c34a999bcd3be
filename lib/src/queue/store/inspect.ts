// Looking without touching: one message and what surrounds it, one queue and what troubles it. A person asks, so these
// may read more than the statements of the engine do.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Observation } from "../diagnosis.ts";
import type { Facts } from "../explanation.ts";

type Runner = Pick<Sql | Tx, "run">;

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

const find = statement(
  `select id::text from tuntas.message where message_id = $1 union all
   select id::text from tuntas.quarantine where message_id = $1 union all
   select id::text from tuntas.rejection where message_id = $1 limit 1`,
);

/** The number of the message with this UUID, or undefined where it has ended as done or never was. */
export const findMessage = async (sql: Runner, messageId: string): Promise<string | undefined> =>
  (await sql.run<{ id: string }>(find, [messageId]))[0]?.id;

const processOf = (owner: string) =>
  `(select json_build_object('id', p.id::text, 'name', p.name, 'host', p.host, 'pid', p.pid) from tuntas.process p where p.id = ${owner})`;

const holdingOf = (table: string) =>
  `json_build_object('messageId', (select t.message_id from tuntas.message t where t.id = ${table}.id), 'sinceMs', ${ms(`${table}.claimed_at`)},
     'untilMs', ${ms(`${table}.expires_at`)}, 'process', ${processOf(`${table}.owner_id`)})`;

const facts = statement(
  `with place as (
     select case when source_queue_id is null then 'ready' else 'dead' end as state, id, queue_id, turn, receives, sent_at, group_id, source_queue_id,
       null::timestamptz as at, null as code, null as message from tuntas.ready where id = $1
     union all
     select 'delayed', id, queue_id, turn, receives, sent_at, group_id, source_queue_id, due, null, null from tuntas.delayed where id = $1
     union all
     select 'in_flight', id, queue_id, turn, receives, sent_at, group_id, source_queue_id, null, null, null from tuntas.held where id = $1
     union all
     select 'quarantined', id, queue_id, 0, receives, sent_at, group_id, null, quarantined_at, code, message from tuntas.quarantine where id = $1
     union all
     select 'rejected', id, queue_id, 0, receives, sent_at, null, null, rejected_at, code, reason from tuntas.rejection where id = $1
     limit 1)
   select l.id::text, l.state, coalesce(q.name, '(deleted)') as queue, l.receives, ${ms("l.sent_at")} as "sentAtMs", l.group_id as "groupId",
     coalesce(m.message_id, z.message_id, x.message_id)::text as "messageId", coalesce(m.body, z.body) as body,
     coalesce(m.attributes, z.attributes) as attributes, s.name as "diedIn", ${ms("l.at")} as "atMs",
     coalesce(l.code, f.code) as code, coalesce(l.message, f.message) as message, f.attempts,
     coalesce(s.owner, q.owner) as owner, coalesce(s.runbook, q.runbook) as runbook,
     ${ms("q.paused_at")} as "pausedAtMs", q.paused_by as "pausedBy",
     (select ${holdingOf("h")} from tuntas.held h where h.queue_id = l.queue_id and h.id = l.id) as holding,
     (select ${holdingOf("b")} from tuntas.held b
       where q.fifo and b.queue_id = l.queue_id and b.group_id = l.group_id and b.id < l.id order by b.id limit 1) as blocker,
     case when l.state = 'ready' then (select count(*)::int from (
       select from tuntas.ready r where r.queue_id = l.queue_id and (r.turn, r.id) < (l.turn, l.id) limit 10000) a) else 0 end as ahead,
     (select coalesce(json_agg(json_build_object('id', p.id::text, 'name', p.name, 'host', p.host, 'pid', p.pid,
         'concurrency', c.concurrency, 'globalConcurrency', c.global_concurrency, 'tenants', c.tenants) order by p.id), '[]')
       from tuntas.consumer c join tuntas.process p on p.id = c.process_id and p.expires_at > tuntas.now()
       where c.queue_id = l.queue_id) as consumers,
     (select count(*)::int from tuntas.held w where w.queue_id = l.queue_id and w.owner_id is not null) as "heldByWorkers",
     (select json_build_object('failures', coalesce(max(t.failures), 0),
         'held', (select count(*) from tuntas.in_flight o where o.queue_id = l.queue_id and o.group_id = l.group_id),
         'standsUntilMs', max(${ms("t.open_until")}) filter (where t.open_until > tuntas.now()),
         'nextAtMs', max(${ms("t.next_at")}) filter (where t.next_at > tuntas.now()))
       from tuntas.tenant t where t.queue_id = l.queue_id and t.tenant = l.group_id having l.group_id is not null) as tenant
   from place l left join tuntas.queue q on q.id = l.queue_id
     left join tuntas.queue s on s.id = l.source_queue_id
     left join tuntas.message m on m.id = l.id left join tuntas.quarantine z on z.id = l.id left join tuntas.rejection x on x.id = l.id
     left join tuntas.failure f on f.id = l.id`,
);

/** The message with this number, wherever it is. */
export const readFacts = async (sql: Runner, id: string): Promise<Facts | undefined> =>
  (await sql.run(facts, [id]))[0] as Facts | undefined;

export interface Glimpse {
  readonly id: string;
  readonly messageId: string;
  readonly state: "ready" | "delayed" | "in_flight";
  readonly receives: number;
  readonly sentAtMs: number;
  readonly groupId: string | null;
  readonly body: string;
}

const glimpse = statement(
  `with l as (
     (select 'ready' as state, id, receives, sent_at, group_id from tuntas.ready where queue_id = $1 order by turn, id limit $2)
     union all (select 'in_flight', id, receives, sent_at, group_id from tuntas.held where queue_id = $1 order by held.id limit $2)
     union all (select 'delayed', id, receives, sent_at, group_id from tuntas.delayed where queue_id = $1 order by due limit $2))
   select l.id::text, m.message_id::text as "messageId", l.state, l.receives, ${ms("l.sent_at")} as "sentAtMs", l.group_id as "groupId", m.body
   from l join tuntas.message m on m.id = l.id limit $2`,
);

/** The first messages of a queue, ready ones first, without receiving them. */
export const peekMessages = (sql: Runner, queueId: number, limit: number): Promise<Glimpse[]> =>
  sql.run(glimpse, [queueId, limit]) as Promise<Glimpse[]>;

// What fails in one of these ways fails so each time: the message would have to change.
const neverSucceeds = `(f.outcome = 'poison' or f.code = any('{TUNTAS_MESSAGE_INVALID,TUNTAS_MESSAGE_JSON,TUNTAS_VERSION_UNSUPPORTED}'::text[]))`;
const frontMax = 500;

const observe = statement(
  `with q as materialized (
     select q.id, q.name, q.receives_max, d.id as dead_letter_id from tuntas.queue q
       left join tuntas.queue d on d.account = q.account and d.region = q.region and d.name = q.dead_letter_name where q.id = $1
   ), live as materialized (
     select 'ready' as state, id, receives, sent_at from tuntas.ready where queue_id = $1 union all
     select 'in_flight', id, receives, sent_at from tuntas.held where queue_id = $1 union all
     select 'delayed', id, receives, sent_at from tuntas.delayed where queue_id = $1
   ), dead as materialized (
     select r.id, r.first_received_at, r.sent_at from q join tuntas.ready r on r.queue_id = q.dead_letter_id and r.source_queue_id = $1
   ), failures as materialized (
     select f.fingerprint, f.attempts from (select id from live where receives > 0 union all select id from dead) i
       join tuntas.failure f on f.id = i.id where ${neverSucceeds}
     union all select f.fingerprint, f.receives from tuntas.quarantine f where f.queue_id = $1 and ${neverSucceeds}
   )
   select q.name as queue, q.receives_max as "receivesMax",
     (select count(*) from live where state = 'ready')::float8 as ready, (select count(*) from live where state = 'in_flight')::float8 as "inFlight",
     (select count(*) from live where state = 'delayed')::float8 as delayed,
     (select ${ms("tuntas.now() - min(sent_at)")} from live) as "oldestAgeMs",
     (select count(*) from live where receives >= 2)::float8 as redelivered,
     (select json_build_object('messageId', m.message_id, 'receives', l.receives) from live l join tuntas.message m on m.id = l.id
       where l.receives >= 2 order by l.receives desc, l.id limit 1) as "mostReceived",
     (select count(*) from live where receives >= 2 and receives >= q.receives_max - 1)::float8 as "nearMaximum",
     (select json_build_object('fingerprint', fingerprint, 'messages', count(*), 'attempts', sum(attempts))
       from failures group by fingerprint order by sum(attempts) desc limit 1) as deterministic,
     (select count(*) from dead)::float8 as dead,
     (select count(*) from dead left join tuntas.failure f on f.id = dead.id
       where coalesce(f.failed_at, first_received_at, sent_at) > tuntas.now() - interval '5 minutes')::float8 as "deadLately",
     (select count(*) from tuntas.quarantine where queue_id = $1)::float8 as quarantined,
     array(select id::text from live order by live.id limit ${frontMax}) as front,
     (select count(*) from unnest($2::bigint[]) as u(id) where not exists (select from live where live.id = u.id)
       and not exists (select from dead where dead.id = u.id))::float8 as "left"
   from q`,
);

/** One look at the queue; `front` are the ids that the look before saw. */
export const observeQueue = async (
  sql: Runner,
  queueId: number,
  front: readonly string[],
): Promise<Observation | undefined> =>
  (await sql.run(observe, [queueId, front]))[0] as Observation | undefined;
