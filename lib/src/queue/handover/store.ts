// Handing a message over to a worker that rests, in the commit of its send. The worker has said so in a row (an offer), which
// stands until it is withdrawn: nothing is written to it for a message. The notification of that commit brings the message
// along where it fits.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { HeldMessage } from "../contract.ts";
import { heldColumns, ms } from "../store/claim/index.ts";
import { nullable, type Addressed } from "../store/send.ts";

type Runner = Pick<Sql, "run">;

const insert = statement(
  `insert into tuntas.offer (queue_id, owner_id, mailbox) select q, $1, $2 from unnest($3::int[]) as q
   on conflict (queue_id, owner_id) do update set mailbox = excluded.mailbox where offer.mailbox <> excluded.mailbox`,
);

/** Says that workers of this process rest. */
export const insertOffers = (sql: Runner, ownerId: string, mailbox: string, queueIds: readonly number[]) =>
  sql.run(insert, [ownerId, mailbox, queueIds]);

const remove = statement(`delete from tuntas.offer where owner_id = $1 and queue_id = any($2::int[])`);

/** Takes it back. What was being handed over is committed before this is. */
export const removeOffers = (sql: Runner, ownerId: string, queueIds: readonly number[]) =>
  sql.run(remove, [ownerId, queueIds]);

const removeAll = statement(`delete from tuntas.offer where owner_id = any($1::bigint[])`);

/** The same for all that these processes offered; what they hold is looked for in a later statement. */
export const removeOffersOf = (sql: Runner, ownerIds: readonly string[]) => sql.run(removeAll, [ownerIds]);

/** What the heartbeat thread runs where the event loop is blocked: no more is handed over to this process, … */
export const withdrawText = `delete from tuntas.offer where owner_id = $1`;
/** … what was has one of the fences up to this, … */
export const lastFenceText = `select last_value as fence from tuntas.fence`;
/** … and so these are those of it that the event loop does not know of. */
export const unknownText = `select queue_id as "queueId", id, fence from tuntas.in_flight
  where owner_id = $1 and handed_over and fence <= $2 and fence <> all($3::bigint[])`;

/** The fences of what was handed over to an owner, and has not ended. */
const fencesOf = (owner: string, after: string) =>
  `select f.fence::text from tuntas.in_flight f where f.owner_id = ${owner} and f.handed_over and f.fence > ${after}`;

/**
 * For the heartbeat; given are the owner and a fence after which to look. From the index's end: while somebody holds an old
 * snapshot, what was handed over before leaves dead entries.
 */
export const handedOverSince = `json_build_object('last', (select last_value from tuntas.fence)::text,
  'fences', array(${fencesOf("($given)[1]", "($given)[2]")}))`;

const fences = statement(`${fencesOf("$1", "0")} order by f.fence`);

export const findHandedOver = async (sql: Runner, ownerId: string): Promise<string[]> =>
  (await sql.run<{ fence: string }>(fences, [ownerId])).map(({ fence }) => fence);

const read = statement(
  `select ${heldColumns}, true as "handedOver" from tuntas.in_flight l
     cross join lateral (select * from tuntas.message m where m.id = l.id offset 0) m
   where l.owner_id = $1 and l.handed_over and l.fence = any($2::bigint[]) order by l.fence`,
);

/** What of that is still held under these fences. */
export const readHandedOver = (sql: Runner, ownerId: string, of: readonly string[]): Promise<HeldMessage[]> =>
  sql.run<HeldMessage & {}>(read, [ownerId, of]);

/** A process that is frozen, or cut off, holds what it is given until its lease has run out: so only one that was heard of lately is given anything. */
const heardWithin = "2 seconds";

const letter = `json_build_array(h.owner_id::text, $1::int, h.id::text, h.fence::text`;

// The taker's row is locked, not shared: of two that send at once the other takes the next one's, or the ordinary way. Turns
// of groups, pauses and delays are read here, so nobody need withdraw for them.
const send = statement(
  `with q as materialized (
     select paused_at is null and f.turn is null as open, coalesce(f.turn, 0) as turn
     from tuntas.queue left join tuntas.fair_turn f on f.queue_id = id where id = $1::int and delay_seconds = 0
   ), taker as materialized (
     select o.owner_id, o.mailbox from tuntas.offer o
     where o.queue_id = $1::int and (select open from q) and exists (select from tuntas.process p
       where p.id = o.owner_id and p.heartbeat_at > tuntas.now() - interval '${heardWithin}')
     order by random() limit 1 for update of o skip locked
   ), stored as (
     insert into tuntas.message (message_id, sent_at, sender, body, attributes, trace_header)
     select $2::uuid, tuntas.now(), $3::text, $4::text, $5::text, $6::text from q returning id
   ), handed_over as (
     insert into tuntas.in_flight (queue_id, id, fence, owner_id, claimed_at, turn, receives, sent_at, first_received_at, handed_over)
     select $1::int, s.id, nextval('tuntas.fence'), t.owner_id, tuntas.now(), 0, 1, tuntas.now(), tuntas.now(), true
     from stored s cross join taker t returning id, fence, owner_id
   ), now_ready as (
     insert into tuntas.ready (queue_id, turn, id, sent_at)
     select $1::int, (select turn from q), id, tuntas.now() from stored where not exists (select from taker)
   )
   select s.id, h.fence, ${ms("tuntas.now()")} as "sentAtMs", h.owner_id = $7::bigint as "isOwn",
     case when h.id is null then pg_notify($8, $1::text)
       when h.owner_id <> $7::bigint then pg_notify((select mailbox from taker),
         case when $9::boolean and octet_length(l.whole) < 8000 then l.whole else ${letter})::text end) end
   from stored s left join handed_over h on true
     cross join lateral (select case when $9::boolean then
       ${letter}, ${ms("tuntas.now()")}, $2::text, $3::text, $4::text, $5::text, $6::text)::text end as whole) l`,
);

/** Who sends: its own process, and where the others hear that a message is ready. */
export interface Sending {
  readonly processId: string;
  readonly channel: string;
}

export interface StoredAlone {
  readonly id: string;
  /** Null where nobody rested: it is ready, and the others know. */
  readonly fence: string | null;
  readonly sentAtMs: number;
  /** Whether it was handed over to the sender's own process, which is not notified. */
  readonly isOwn: boolean | null;
}

// A notification has less than 8000 bytes, of which what JSON escapes takes more.
const carriedMax = 7000;

/** Stores one message by itself; undefined where the general statement has to be asked. */
export async function insertAlone(
  sql: Runner,
  { queueId, sender, message }: Addressed,
  { processId, channel }: Sending,
): Promise<StoredAlone | undefined> {
  const { messageId, body, attributes, traceHeader } = message;
  const carries = body.length + (attributes?.length ?? 0) < carriedMax;
  const more = [nullable(attributes), nullable(traceHeader), processId, channel, carries];
  const [row] = await sql.run<StoredAlone & {}>(send, [queueId, messageId, sender, body, ...more]);
  return row;
}

/** What the notification of a hand-over says: whose it is and its fence, and all of it where it fits. */
export interface Letter {
  readonly ownerId: string;
  readonly fence: string;
  readonly message: HeldMessage | undefined;
}

type Facts = Pick<
  HeldMessage,
  "queueId" | "id" | "fence" | "messageId" | "sender" | "body" | "attributes" | "traceHeader" | "sentAtMs"
>;

/** A message that is held from its send on. */
export const heldSince = (facts: Facts): HeldMessage => ({
  turn: "0",
  receives: 1,
  firstReceivedAtMs: facts.sentAtMs,
  groupId: null,
  deduplicationId: null,
  sourceQueueId: null,
  bundled: false,
  handedOver: true,
  ...facts,
});

type Text = string | null;

export function readLetter(text: string): Letter {
  const [ownerId, queueId, id, fence, ...rest] = JSON.parse(text) as [string, number, string, string];
  if (rest.length === 0) return { ownerId, fence, message: undefined };
  const [sentAtMs, messageId, sender, body, attributes, traceHeader] = rest as unknown as [
    number,
    string,
    string,
    string,
    Text,
    Text,
  ];
  const facts = { queueId, id, fence, messageId, sender, body, attributes, traceHeader, sentAtMs };
  return { ownerId, fence, message: heldSince(facts) };
}
