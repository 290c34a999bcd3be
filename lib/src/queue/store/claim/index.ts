// Taking messages out of ready, for a worker (an owner) or over the wire (a receipt with a visibility timeout).
import { inMs } from "../../../engine/agenda.ts";
import type { Row, Sql, Tx } from "../../../pg/contract.ts";
import { statement } from "../../../pg/database.ts";
import type { HeldMessage } from "../../contract.ts";

/** The last position that was claimed: a claimer asks from there on, and without a bound now and then. */
export interface LowWater {
  readonly turn: string;
  readonly id: string;
}

export const fromTheStart: LowWater = { turn: "0", id: "0" };

export interface ClaimRequest {
  readonly queueId: number;
  readonly count: number;
  /** The process that holds what it gets, or null for a receipt. */
  readonly ownerId: string | null;
  /** For a receipt; null for the queue's own. */
  readonly visibilitySeconds: number | null;
  readonly from: LowWater;
  /** Whether fresh messages may lie in one row together: for a worker that ends them together. */
  readonly bundled?: boolean;
}

export interface Claimed {
  readonly messages: HeldMessage[];
  /** How many were removed, because their queue's retention was over. */
  readonly expired: number;
  /** How many went to the dead-letter queue instead, and which that is. */
  readonly dead: number;
  readonly deadLetterId: number | null;
  /** Whether nothing was left of what came next. */
  readonly isAll: boolean;
}

/** An instant as JavaScript's clock has it. */
export const ms = (instant: string): string => `date_part('epoch', ${instant}) * 1000`;

const body = `m.message_id as "messageId", m.body, m.attributes, m.trace_header as "traceHeader", m.sender,
  m.deduplication_id as "deduplicationId"`;

/** A message in flight as its holder sees it, of `in_flight l` and `message m`. */
export const heldColumns = `${body}, l.queue_id as "queueId", l.id, l.fence, l.turn, l.receives,
  ${ms("l.sent_at")} as "sentAtMs", ${ms("l.first_received_at")} as "firstReceivedAtMs",
  l.group_id as "groupId", l.source_queue_id as "sourceQueueId", false as bundled`;

// Why ctid = any(array(…)): the rows are found once through the index and deleted where they lie; written as a join the
// planner may scan the whole table when its statistics are old, and may even delete more rows than the limit.
// Why the bound on (turn, id): while anybody holds an old snapshot (a backup, a forgotten session) dead entries stay in
// the index, and every claim without a bound walks all of them from the left end: 20,000/s fall to 5,000/s.
const claim = statement(
  `with q as materialized (
     select q.retention_seconds, q.receives_max, q.visibility_seconds, d.id as dead_letter_id, nextval('tuntas.fence') as fence
     from tuntas.queue q left join tuntas.queue d
       on d.account = q.account and d.region = q.region and d.name = q.dead_letter_name
     where q.id = $1
   ), picked as (
     delete from tuntas.ready where ctid = any(array(
       select r.ctid from tuntas.ready r where r.queue_id = $1 and (r.turn, r.id) >= ($5::bigint, $6::bigint)
       order by r.turn, r.id limit $2 for update skip locked))
     returning turn, id, receives, sent_at, first_received_at, group_id, source_queue_id
   ), sorted as (
     select p.*, q.fence, q.visibility_seconds, q.dead_letter_id,
       p.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds) as expired,
       q.dead_letter_id is not null and p.receives >= q.receives_max as dead,
       $7 and p.receives = 0 and p.turn = 0 and p.group_id is null and p.source_queue_id is null as bundled
     from picked p, q
   ), expired as (
     delete from tuntas.message where id = any(array(select id from sorted where expired))
   ), dead as (
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
     select dead_letter_id, tuntas.next_turn(dead_letter_id, group_id), id, receives, sent_at, first_received_at, group_id, $1
     from sorted where dead and not expired
   ), loose as (
     insert into tuntas.in_flight (queue_id, id, fence, owner_id, expires_at, claimed_at, turn, receives, sent_at,
       first_received_at, group_id, source_queue_id)
     select $1, id, fence, $3::bigint,
       case when $3::bigint is null then tuntas.now() + make_interval(secs => coalesce($4::int, visibility_seconds)) end,
       tuntas.now(), turn, receives + 1, sent_at, coalesce(first_received_at, tuntas.now()), group_id, source_queue_id
     from sorted where not bundled and not dead and not expired
   ), bundle as (
     insert into tuntas.bundle (fence, queue_id, owner_id, claimed_at, ids)
     select min(fence), $1, $3::bigint, tuntas.now(), array_agg(id order by id)
     from sorted where bundled and not expired having count(*) > 0
   ), advanced as (
     insert into tuntas.fair_turn as f (queue_id, turn)
     select $1, max(turn) from picked where group_id is not null having max(turn) is not null
     on conflict (queue_id) do update set turn = excluded.turn where f.turn < excluded.turn
   )
   select m.message_id as "messageId", m.body, m.sender, s.id, s.fence, ${ms("s.sent_at")} as "sentAtMs",
     ${ms("coalesce(s.first_received_at, tuntas.now())")} as "firstReceivedAtMs",
     case when s.receives > 0 or s.turn > 0 or s.group_id is not null or s.source_queue_id is not null or s.expired or s.dead
         or m.attributes is not null or m.trace_header is not null or m.deduplication_id is not null
       then json_build_object('turn', s.turn::text, 'receives', s.receives + 1, 'attributes', m.attributes,
         'traceHeader', m.trace_header, 'deduplicationId', m.deduplication_id, 'groupId', s.group_id,
         'sourceQueueId', s.source_queue_id, 'bundled', s.bundled,
         'fate', case when s.expired then 'expired' when s.dead then 'dead' end, 'deadLetterId', s.dead_letter_id) end as more
   from sorted s cross join lateral (select * from tuntas.message m where m.id = s.id offset 0) m`,
);

/** What a claim met: a message that it holds now, or one that ended instead. */
export type Picked = HeldMessage & {
  readonly fate: "dead" | "expired" | null;
  readonly deadLetterId: number | null;
};

/** What most messages do not differ in. */
type More = Pick<
  Picked,
  | "turn"
  | "receives"
  | "attributes"
  | "traceHeader"
  | "deduplicationId"
  | "groupId"
  | "sourceQueueId"
  | "bundled"
  | "fate"
  | "deadLetterId"
>;

/** As the statement answers; each column that a row need not have saves both sides a tenth of a microsecond. */
type Sent = Omit<Picked, keyof More | "queueId"> & { readonly more: More | null };

const usual: Omit<More, "bundled"> = {
  turn: "0",
  receives: 1,
  attributes: null,
  traceHeader: null,
  deduplicationId: null,
  groupId: null,
  sourceQueueId: null,
  fate: null,
  deadLetterId: null,
};

// Written out: on Node 20 each object of two spreads becomes a dictionary, and that took 18 us a message.
function unpack(sent: Sent, { queueId, bundled = false }: ClaimRequest): Picked {
  const { messageId, body, sender, id, fence, sentAtMs, firstReceivedAtMs, more } = sent;
  const {
    turn,
    receives,
    attributes,
    traceHeader,
    deduplicationId,
    groupId,
    sourceQueueId,
    fate,
    deadLetterId,
  } = more ?? usual;
  return {
    queueId,
    id,
    fence,
    messageId,
    body,
    sender,
    sentAtMs,
    firstReceivedAtMs,
    turn,
    receives,
    attributes,
    traceHeader,
    deduplicationId,
    groupId,
    sourceQueueId,
    bundled: more?.bundled ?? bundled,
    fate,
    deadLetterId,
  };
}

export function sortOut(rows: readonly Picked[]): Claimed {
  const count = (fate: Picked["fate"]) => rows.filter((row) => row.fate === fate).length;
  const messages = rows.filter((row) => row.fate === null);
  const deadLetterId = rows.find((row) => row.fate === "dead")?.deadLetterId ?? null;
  return { messages, expired: count("expired"), dead: count("dead"), deadLetterId, isAll: true };
}

export const inOrder = (a: LowWater, b: LowWater): number =>
  compareCounts(a.turn, b.turn) || compareCounts(a.id, b.id);

/** Compares natural numbers that are written without leading zeros, however large. */
const compareCounts = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

// In a statement of its own, for the few claims that meet expired messages: every claim would pay for the part of it.
const forgetFailures = statement(`delete from tuntas.failure where id = any($1::bigint[])`);

/** Claims up to `count` messages of a standard queue. */
export async function claimMessages(sql: Pick<Sql, "run">, request: ClaimRequest): Promise<Claimed> {
  const { queueId, count, ownerId, visibilitySeconds, from, bundled = false } = request;
  const values = [queueId, count, ownerId, visibilitySeconds, from.turn, from.id, bundled];
  // They come as they lie on disk, which is nearly their order.
  const sent = await sql.run<Sent>(claim, values);
  const rows = sent.map((row) => unpack(row, request)).toSorted(inOrder);
  const expired = rows.filter((row) => row.fate === "expired");
  if (expired.length > 0) await sql.run(forgetFailures, [expired.map((row) => row.id)]);
  return sortOut(rows);
}

// One group after another, each in its own order, as claim_fifo took them.
const groupByGroup = `order by min(l.id) over (partition by l.group_id), l.id`;

const claimFifo = statement(
  `with l as materialized (
     select c.fate, c.dead_letter_id, (c.held).* from tuntas.claim_fifo($1, $2, $3, $4, nextval('tuntas.fence')) c)
   select ${heldColumns}, l.fate, l.dead_letter_id as "deadLetterId"
   from l left join lateral tuntas.message_of(l.id) m on true ${groupByGroup}`,
);

/** Claims up to `count` messages of a FIFO queue, whole groups first. */
export async function claimFifoMessages(
  sql: Pick<Sql, "run">,
  { queueId, count, ownerId, visibilitySeconds }: Omit<ClaimRequest, "from">,
): Promise<Claimed> {
  return sortOut(await sql.run<Picked>(claimFifo, [queueId, count, ownerId, visibilitySeconds]));
}

// An attempt whose messages are all in flight as it left them.
const untouched = `a.messages = (
       select count(*) from tuntas.in_flight f
       where f.queue_id = $1 and f.fence = a.fence and f.owner_id is null and f.expires_at = a.visible_at)`;
const known = `a.queue_id = $1 and a.attempt_id = $2 and a.expires_at > tuntas.now()`;

const attempt = statement(
  `with known as (
     select a.fence, tuntas.now() + make_interval(secs => coalesce($3::int, q.visibility_seconds)) as until
     from tuntas.fifo_receive_attempt a join tuntas.queue q on q.id = a.queue_id
     where ${known} and ${untouched}
   ), renewed as (
     update tuntas.fifo_receive_attempt a set visible_at = known.until from known where a.queue_id = $1 and a.attempt_id = $2
   ), l as (
     update tuntas.in_flight f set expires_at = known.until from known where f.queue_id = $1 and f.fence = known.fence
     returning f.*
   )
   select ${heldColumns} from l cross join lateral (select * from tuntas.message m where m.id = l.id offset 0) m ${groupByGroup}`,
);

/** What the receive with this attempt id got before, with its visibility timeout begun anew; nothing where any of it was touched since. */
export const repeatAttempt = (
  sql: Pick<Sql, "run">,
  queueId: number,
  attemptId: string,
  visibilitySeconds: number | null,
): Promise<HeldMessage[]> => sql.run<HeldMessage>(attempt, [queueId, attemptId, visibilitySeconds]);

const touched = statement(
  `select exists(select from tuntas.fifo_receive_attempt a
     where ${known} and a.visible_at > tuntas.now() and not ${untouched}) as touched`,
);

/** Whether the receive with this attempt id can no longer be repeated: while its messages were hidden, one was deleted or changed. */
export const isAttemptTouched = async (
  sql: Pick<Sql, "run">,
  queueId: number,
  attemptId: string,
): Promise<boolean> => (await sql.run<{ touched: boolean }>(touched, [queueId, attemptId]))[0]!.touched;

const forget = statement(
  `delete from tuntas.fifo_receive_attempt where queue_id = $1 and fence = any($2::bigint[])`,
);

/** Forgets the attempts that got these messages: nobody saw what they got. */
export const forgetAttempts = (sql: Pick<Sql, "run">, queueId: number, messages: readonly HeldMessage[]) =>
  sql.run<Row>(forget, [queueId, messages.map(({ fence }) => fence)]);

const remember = statement(
  `insert into tuntas.fifo_receive_attempt (queue_id, attempt_id, fence, expires_at, messages, visible_at)
   select $1, $2, $3, tuntas.now() + interval '5 minutes', count(*), min(f.expires_at)
   from tuntas.in_flight f where f.queue_id = $1 and f.fence = $3
   on conflict (queue_id, attempt_id) do update set fence = excluded.fence, expires_at = excluded.expires_at,
     messages = excluded.messages, visible_at = excluded.visible_at`,
);

export const rememberAttempt = (sql: Pick<Sql, "run">, queueId: number, attemptId: string, fence: string) =>
  sql.run<Row>(remember, [queueId, attemptId, fence]);

const promote = statement(`select queue as "queueId", moved::int from tuntas.promote($1)`);

/** Moves up to `count` messages whose delay or visibility has ended to ready; answers their queues. */
export const promoteDue = (
  sql: Pick<Sql, "run">,
  count: number,
): Promise<{ queueId: number; moved: number }[]> => sql.run(promote, [count]);

/** When the next delay or visibility timeout ends. */
export const nextDueInstant = `least(
  (select due from tuntas.delayed order by due limit 1),
  (select expires_at from tuntas.in_flight where expires_at is not null order by expires_at limit 1))`;

const nextDue = statement(`select ${inMs(nextDueInstant)} as "inMs"`);

/** In how many ms the next delay or visibility timeout ends (negative if it has); null if nothing waits. */
export const nextDueMs = async (sql: Pick<Sql, "run">): Promise<number | null> =>
  (await sql.run<{ inMs: number | null }>(nextDue))[0]!.inMs;

const lockQueue = statement(
  `select count(f.id)::int as held, (count(f.id) filter (where f.owner_id = $2))::int as own
   from (select id from tuntas.queue where id = $1 for update) q
   left join tuntas.held f on f.queue_id = q.id and f.owner_id is not null`,
);

export interface Cap {
  /** Handlers of all workers of the queue together. */
  readonly inAll: number;
  /** Those of this worker. */
  readonly inThis: number;
}

/**
 * How many messages a worker may hold beside what is held: while nobody else holds any, more than its handlers take at once. Only one
 * that comes up to the cap by itself, though: what another holds ahead would keep the other handlers of the queue from working.
 */
const freeOf = ({ inAll, inThis }: Cap, { held, own }: { held: number; own: number }): number =>
  held === own && inThis === inAll ? Infinity : inAll - held;

/**
 * Claims, as `claim` does, no more than keeps all workers of the queue together at `cap`; undefined where none may be claimed.
 * Claimers of one capped queue take turns.
 */
export async function claimCapped<C extends Claimed>(
  sql: Sql,
  {
    queueId,
    ownerId,
    ...request
  }: Pick<ClaimRequest, "queueId" | "ownerId" | "count"> & { readonly cap: Cap },
  claim: (tx: Tx, count: number) => Promise<C>,
): Promise<C | undefined> {
  return sql.transaction(async (tx) => {
    const values = [queueId, ownerId];
    await tx.run(lockQueue, values);
    // Counted anew in a statement of its own: the one that waited for the lock still sees what was before.
    const [found] = await tx.run<{ held: number; own: number }>(lockQueue, values);
    const count = Math.min(freeOf(request.cap, found!), request.count);
    return count > 0 ? claim(tx, count) : undefined;
  });
}
