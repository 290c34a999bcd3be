// Queues as a target of announcements: they become messages in the announcing relay's own transaction, so each arrives
// exactly once. The event's id is the message's id; on a FIFO queue the key is the group.
import type { Announcement, JoiningTarget, Receipt } from "../../engine/target.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { attributesOf } from "../attributes.ts";
import type { NewMessage, QueueRecord } from "../contract.ts";
import { defaultScope, queueErrors } from "../contract.ts";
import { checkTexts } from "../compose.ts";
import type { Addressed } from "../store/send.ts";
import { appendMessages, insertMessages } from "../store/send.ts";
import { withdrawMessages } from "../store/queues/index.ts";
import type { Catalog } from "./catalog.ts";
import type { QueueContext } from "./context.ts";

const notify = statement("select pg_notify($1, $2)");

/** The message that the announcement becomes. Errors: TUNTAS_MESSAGE_TEXT, TUNTAS_MESSAGE_SIZE. */
export function messageOf(queue: QueueRecord, { eventId, key, type, payload }: Announcement): NewMessage {
  const attributes = attributesOf(type === null ? undefined : { type });
  checkTexts(queue, payload, attributes);
  const ordered = queue.fifo ? { groupId: key ?? eventId, deduplicationId: eventId } : {};
  return { messageId: eventId, body: payload, attributes, ...ordered };
}

const addressed = (queue: QueueRecord, announcement: Announcement): Addressed => ({
  queueId: queue.id,
  sender: defaultScope.account,
  message: messageOf(queue, announcement),
});

async function store(tx: Tx, queue: QueueRecord, batch: readonly Announcement[]): Promise<Receipt[]> {
  const items = batch.map((announcement) => addressed(queue, announcement));
  const inTx: Sql = {
    run: tx.run,
    query: (text, values) => tx.client.query(text, values),
    transaction: (work) => work(tx),
  };
  const stored = queue.fifo ? await appendMessages(inTx, items) : await insertMessages(tx, items);
  return stored.map((entry, index) => {
    if (!entry)
      throw queueErrors.error("TUNTAS_QUEUE_MISSING", `the queue ${queue.name} was deleted meanwhile`);
    const status = "status" in entry ? entry.status : "created";
    return { status, reference: items[index]!.message.messageId };
  });
}

/** Takes back, in the transaction, messages that nobody has received yet. */
export type Withdraw = (tx: Tx, name: string, beginning: string) => Promise<void>;

/** By how their bodies begin. A queue that is missing has none. */
export const withdrawFrom =
  (catalog: Pick<Catalog, "find">): Withdraw =>
  async (tx, name, beginning) => {
    const queue = await catalog.find(defaultScope, name);
    if (queue) await withdrawMessages(tx, queue.id, beginning);
  };

/** A queue that is missing is no fault of the announcement: it waits until the queue is there. */
export const queueTarget = (
  { database }: Pick<QueueContext, "database">,
  catalog: Pick<Catalog, "find" | "forget">,
): JoiningTarget => ({
  async deliverIn(tx, batch) {
    const { name } = batch[0]!.target;
    const queue = await catalog.find(defaultScope, name);
    if (!queue) throw new Unavailable(`there is no queue ${name}`);
    const receipts = await store(tx, queue, batch).catch((cause: unknown) => {
      catalog.forget(queue.id);
      throw cause;
    });
    await tx.run(notify, [`${database.schema}.ready`, String(queue.id)]);
    return receipts;
  },
});
