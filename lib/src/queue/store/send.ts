// Putting messages in. Standard queues: one statement for everything that was asked for together, of all queues.
// FIFO queues and callers' transactions go through the SQL function tuntas.append, one message after another.
import type { Sql, Statement } from "../../pg/contract.ts";
import { pgArray } from "../../pg/arrays.ts";
import { statement } from "../../pg/database.ts";
import type { NewMessage, Sent } from "../contract.ts";

type Runner = Pick<Sql, "run">;

/** A message with the queue it goes to and the account that sends it. */
export interface Addressed {
  readonly queueId: number;
  readonly sender: string;
  readonly message: NewMessage;
}

export interface Stored {
  readonly id: string;
  /** Seconds until it becomes ready; 0 if it is. */
  readonly waitSeconds: number;
}

// The join answers nothing for a queue that is gone, so a message never outlives its queue.
const insertWith = (turn: string) =>
  statement(
    `with input as materialized (
       select nextval('tuntas.message_id_seq') as id, u.*, coalesce(u.delay, q.delay_seconds) as wait, ${turn} as turn
       from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[])
         with ordinality as u(queue_id, message_id, body, attributes, sender, trace_header, delay, group_id, n)
       join tuntas.queue q on q.id = u.queue_id
     ), stored as (
       insert into tuntas.message (id, message_id, sent_at, sender, body, attributes, trace_header)
       select id, message_id::uuid, tuntas.now(), sender, body, attributes, trace_header from input
     ), now_ready as (
       insert into tuntas.ready (queue_id, turn, id, sent_at, group_id)
       select queue_id, turn, id, tuntas.now(), group_id from input where wait = 0
     ), later as (
       insert into tuntas.delayed (id, queue_id, due, turn, sent_at, group_id)
       select id, queue_id, tuntas.now() + make_interval(secs => wait), turn, tuntas.now(), group_id from input where wait > 0
     )
     select n::int, id, wait as "waitSeconds" from input`,
  );

const insertUngrouped = insertWith(
  `coalesce((select f.turn from tuntas.fair_turn f where f.queue_id = u.queue_id), 0)`,
);
const insertGrouped = insertWith(
  `tuntas.next_turn(u.queue_id, u.group_id) + case when u.group_id is null then 0
     else row_number() over (partition by u.queue_id, u.group_id order by u.n) - 1 end`,
);

// What most sends are: bodies for one queue that has no delay. Half of the general statement's cost is what these do not
// need (16 messages: 195 us instead of 250, one: 90 instead of 140), and a row a message in the answer costs this process
// as much again. It stores nothing where the queue is gone or has a delay.
const insertPlain = statement(
  `with q as materialized (
     select coalesce((select f.turn from tuntas.fair_turn f where f.queue_id = $1::int), 0) as turn
     from tuntas.queue where id = $1::int and delay_seconds = 0
   ), stored as (
     insert into tuntas.message (message_id, sent_at, sender, body)
     select u.message_id::uuid, tuntas.now(), $2, u.body
     from q cross join unnest($3::text[], $4::text[]) as u(message_id, body) returning id
   ), now_ready as (
     insert into tuntas.ready (queue_id, turn, id, sent_at)
     select $1::int, (select turn from q), id, tuntas.now() from stored
   )
   select string_agg(id::text, ',') as ids, case when $5::text is not null then pg_notify($5, $1::text) end from stored`,
);

export const nullable = <T>(value: T | undefined): T | null => value ?? null;

const isPlain = ({ attributes, traceHeader, delaySeconds, groupId }: NewMessage): boolean =>
  attributes === undefined &&
  traceHeader === undefined &&
  delaySeconds === undefined &&
  groupId === undefined;

/** Whether the messages are plain ones of one sender for one queue. */
export function areAlike(items: readonly Addressed[]): boolean {
  const { queueId, sender } = items[0]!;
  return items.every((item) => item.queueId === queueId && item.sender === sender && isPlain(item.message));
}

/** Stores messages that are alike; undefined where the general statement has to be asked. */
async function insertAlike(
  sql: Runner,
  items: readonly Addressed[],
  channel: string | null,
): Promise<Stored[] | undefined> {
  const rows = await sql.run<{ ids: string | null }>(insertPlain, [
    items[0]!.queueId,
    items[0]!.sender,
    pgArray.text(items.map((item) => item.message.messageId)),
    pgArray.text(items.map((item) => item.message.body)),
    channel,
  ]);
  return rows[0]!.ids?.split(",").map((id) => ({ id, waitSeconds: 0 }));
}

/**
 * Stores messages of standard queues in one commit; undefined in the place of one whose queue is gone. Where they are
 * alike and a channel is given, the commit notifies it with the queue's id.
 */
export async function insertMessages(
  sql: Runner,
  items: readonly Addressed[],
  channel: string | null = null,
): Promise<(Stored | undefined)[]> {
  const stored = areAlike(items) ? await insertAlike(sql, items, channel) : undefined;
  if (stored) return stored;
  const grouped = items.some((item) => item.message.groupId !== undefined);
  const texts = (read: (item: Addressed) => string | undefined) =>
    pgArray.text(items.map((item) => nullable(read(item))));
  const rows = await sql.run<{ n: number } & Stored>(grouped ? insertGrouped : insertUngrouped, [
    pgArray.int(items.map((item) => item.queueId)),
    texts((item) => item.message.messageId),
    texts((item) => item.message.body),
    texts((item) => item.message.attributes),
    texts((item) => item.sender),
    texts((item) => item.message.traceHeader),
    pgArray.int(items.map((item) => nullable(item.message.delaySeconds))),
    texts((item) => item.message.groupId),
  ]);
  const results: (Stored | undefined)[] = Array.from({ length: items.length });
  for (const row of rows) results[row.n - 1] = row;
  return results;
}

// The statement is in parts so that it can run on a connection that is not ours as well.
export const append: Statement = statement(
  `select message_id::text as "messageId", id::text, duplicate from tuntas.append($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export const appendValues = ({ queueId, sender, message }: Addressed): unknown[] => [
  queueId,
  message.messageId,
  message.body,
  nullable(message.attributes),
  sender,
  nullable(message.traceHeader),
  nullable(message.delaySeconds),
  nullable(message.groupId),
  nullable(message.deduplicationId),
];

export interface Appended {
  readonly messageId: string | null;
  readonly id: string;
  readonly duplicate: boolean;
}

/** Undefined where the queue is gone. */
export const toSent = ({ messageId, id, duplicate }: Appended): Sent | undefined =>
  messageId === null ? undefined : { status: duplicate ? "duplicate" : "created", messageId, id };

// Two that send to the same groups in different orders would wait for each other, and one of them fail.
const lockGroups = statement(`select tuntas.lock_groups($1::int[], $2::text[])`);

/** Stores messages of FIFO queues in their order, in one transaction; undefined in the place of one whose queue is gone. */
export function appendMessages(sql: Sql, items: readonly Addressed[]): Promise<(Sent | undefined)[]> {
  return sql.transaction(async (tx) => {
    const sent: (Sent | undefined)[] = [];
    const queues = items.map(({ queueId }) => queueId);
    const groups = items.map(({ message }) => nullable(message.groupId));
    const areSeveral = groups.some((group, n) => group !== groups[0] || queues[n] !== queues[0]);
    if (areSeveral) await tx.run(lockGroups, [queues, groups]);
    for (const item of items) {
      const rows = await tx.run<Appended>(append, appendValues(item));
      sent.push(toSent(rows[0]!));
    }
    return sent;
  });
}
