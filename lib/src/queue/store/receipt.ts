// What a receipt can do over the wire. A standard queue also takes an older receipt: deleting with it removes a message
// that nobody holds, but never one that somebody else has received since.
import { pgArray } from "../../pg/arrays.ts";
import type { Row, Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface Receipt extends Claim {
  readonly turn: string;
}

export interface Touched extends Row {
  readonly id: string;
  readonly queueId: number;
  readonly groupId: string | null;
}

const columns = (receipts: readonly Receipt[]): Buffer[] => [
  pgArray.int(receipts.map((receipt) => receipt.queueId)),
  pgArray.bigint(receipts.map((receipt) => receipt.id)),
  pgArray.bigint(receipts.map((receipt) => receipt.fence)),
  pgArray.bigint(receipts.map((receipt) => receipt.turn)),
];

// What nearly every delete meets: the receipt still holds a message that was never received before, so that there is no failure
// to forget. Looking for it where else it may be costs as much again. It is a join with the queue of each: with one queue's id
// and a list of ids PostgreSQL 17 and later walk the index once (4.6 us a message of 40 instead of 6.0), but earlier ones, where
// they take the table for a small one, read all that the queue has in flight.
const removeFresh = statement(
  `with held as (
     delete from tuntas.in_flight f using unnest($1::int[], $2::bigint[], $3::bigint[]) as u(queue_id, id, fence)
     where f.queue_id = u.queue_id and f.id = u.id and f.fence = u.fence and f.receives = 1
     returning f.id
   ), bodies as (delete from tuntas.message where id = any(array(select id from held)))
   select string_agg(id::text, ',') as ids from held`,
);

/** Deletes the fresh messages that these receipts hold; answers the ids of those. For standard queues. */
export async function removeByFreshReceipt(sql: Runner, receipts: readonly Receipt[]): Promise<string[]> {
  const [row] = await sql.run<{ ids: string | null }>(removeFresh, columns(receipts).slice(0, 3));
  return row!.ids?.split(",") ?? [];
}

const remove = statement(
  `with u as materialized (
     select * from unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[]) as u(queue_id, id, fence, turn)
   ), held as (
     delete from tuntas.in_flight f using u where f.queue_id = u.queue_id and f.id = u.id and f.fence = u.fence
     returning f.id, f.queue_id, f.group_id
   ), lying as (
     delete from tuntas.ready r using u
     where $5 and r.queue_id = u.queue_id and r.turn = u.turn and r.id = u.id returning r.id, r.queue_id, r.group_id
   ), waiting as (
     delete from tuntas.delayed d using u where $5 and d.id = u.id and d.queue_id = u.queue_id returning d.id, d.queue_id, d.group_id
   ), gone as (select * from held union all select * from lying union all select * from waiting),
   bodies as (delete from tuntas.message where id = any(array(select id from gone))),
   failures as (delete from tuntas.failure where id = any(array(select id from gone)))
   select id::text, queue_id as "queueId", group_id as "groupId" from gone`,
);

/** Deletes the messages; `expiredToo` also those whose visibility timeout has ended and that nobody holds. */
export const removeByReceipt = (
  sql: Runner,
  receipts: readonly Receipt[],
  expiredToo: boolean,
): Promise<Touched[]> => sql.run<Touched>(remove, [...columns(receipts), expiredToo]);

const change = statement(
  `with u as materialized (
     select * from unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $6::int[]) as u(queue_id, id, fence, turn, seconds)
   ), held as (
     update tuntas.in_flight f set expires_at = tuntas.now() + make_interval(secs => u.seconds)
     from u where f.queue_id = u.queue_id and f.id = u.id and (f.fence = u.fence or $5) and f.owner_id is null
     returning f.id, f.queue_id, f.group_id
   ), lying as (
     delete from tuntas.ready r using u
     where $5 and u.seconds > 0 and r.queue_id = u.queue_id and r.turn = u.turn and r.id = u.id and r.receives > 0
     returning r.*, u.fence, u.seconds
   ), again as (
     insert into tuntas.in_flight (queue_id, id, fence, expires_at, claimed_at, turn, receives, sent_at, first_received_at,
       group_id, source_queue_id)
     select queue_id, id, fence, tuntas.now() + make_interval(secs => seconds), tuntas.now(), turn, receives, sent_at,
       first_received_at, group_id, source_queue_id
     from lying returning id, queue_id, group_id
   )
   select id::text, queue_id as "queueId", group_id as "groupId" from held
   union all select id::text, queue_id, group_id from again`,
);

/**
 * Sets the visibility timeouts anew, from now; `expiredToo` also hides again what had become visible, and takes an older
 * receipt of a message that was received again since (recorded from AWS), though never from a worker.
 */
export const changeByReceipt = (
  sql: Runner,
  changes: readonly (Receipt & { readonly seconds: number })[],
  expiredToo: boolean,
): Promise<Touched[]> =>
  sql.run<Touched>(change, [
    ...columns(changes),
    expiredToo,
    pgArray.int(changes.map((item) => item.seconds)),
  ]);

const whereabouts = statement(
  `select u.id::text, extract(epoch from tuntas.now() - f.claimed_at)::float8 as "heldSeconds",
     f.fence = u.fence as mine, m.id is not null as exists
   from unnest($1::int[], $2::bigint[], $3::bigint[]) as u(queue_id, id, fence)
     left join tuntas.in_flight f on f.queue_id = u.queue_id and f.id = u.id
     left join tuntas.message m on m.id = u.id`,
);

export interface Whereabouts {
  readonly id: string;
  /** Seconds since it was received; null if nobody holds it. */
  readonly heldSeconds: number | null;
  /** Whether this receipt is the one that holds it; null if nobody does. */
  readonly mine: boolean | null;
  readonly exists: boolean;
}

/** Where the messages of these receipts are now. */
export const findByReceipt = (sql: Runner, receipts: readonly Receipt[]): Promise<Whereabouts[]> =>
  sql.run<Whereabouts>(whereabouts, columns(receipts).slice(0, 3));
