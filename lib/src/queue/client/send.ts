// Sending. Concurrent sends of a process share one statement and one commit; each promise resolves after the commit
// that holds its message. A send inside the caller's transaction becomes visible when that commits.
import { coalescer } from "../../core/coalesce.ts";
import type { Queryable } from "../../pg/contract.ts";
import { isUniqueViolation, toCoded } from "../../pg/faults.ts";
import type { NewMessage, QueueRecord, Sent } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import type { Addressed, Stored } from "../store/send.ts";
import { append, appendMessages, appendValues, insertMessages, toSent } from "../store/send.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";

export interface Sender {
  /** Makes the message durable. Errors: TUNTAS_QUEUE_MISSING, database errors. */
  send(queue: QueueRecord, message: NewMessage, sender: string): Promise<Sent>;
  /** Writes the message in the caller's transaction. */
  sendIn(tx: Queryable, queue: QueueRecord, message: NewMessage, sender: string): Promise<Sent>;
  idle(): Promise<void>;
}

// One statement of about this size takes a few ms; a larger one only makes others wait.
const flushItemsMax = 500;
const flushBytesMax = 4 * 1024 * 1024;

const cost = ({ message }: Addressed): number => message.body.length + (message.attributes?.length ?? 0);

const gone = (): Error =>
  queueErrors.error("TUNTAS_QUEUE_MISSING", "the queue was deleted before the message could be stored");

function tally(items: readonly Addressed[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { queueId } of items) counts.set(queueId, (counts.get(queueId) ?? 0) + 1);
  return counts;
}

export function makeSender(context: QueueContext): Sender {
  const { database, due } = context;

  function announce(items: readonly Addressed[]): void {
    const counts = tally(items);
    wakeQueues(context, counts.keys());
    for (const [queueId, count] of counts) queueSignals.publish("queue.sent", { queueId, count });
  }

  async function flushStandard(items: readonly Addressed[]): Promise<(Stored | undefined)[]> {
    const stored = await insertMessages(database, items);
    announce(items.filter((_, index) => stored[index]?.waitSeconds === 0));
    for (const entry of stored) if (entry && entry.waitSeconds > 0) due.note(entry.waitSeconds * 1000);
    return stored;
  }

  async function flushFifo(items: readonly Addressed[]): Promise<(Sent | undefined)[]> {
    const sent = await appendMessages(database, items);
    announce(items);
    due.note(1); // a queue's delay may have applied; the clock asks the database when
    return sent;
  }

  const shared = { itemsMax: flushItemsMax, costMax: flushBytesMax, cost };
  const standard = coalescer<Addressed, Stored | undefined>({
    ...shared,
    flushesMax: 2,
    flush: flushStandard,
  });
  // One at a time, so that messages of one group are stored in the order in which they were sent.
  const fifo = coalescer<Addressed, Sent | undefined>({ ...shared, flushesMax: 1, flush: flushFifo });

  return {
    async send(queue, message, sender) {
      const item = { queueId: queue.id, message, sender };
      if (queue.fifo) {
        const sent = await fifo.add(item);
        if (!sent) throw gone();
        return sent;
      }
      const stored = await standard.add(item);
      if (!stored) throw gone();
      return { status: "created", messageId: message.messageId, id: stored.id };
    },
    async sendIn(tx, queue, message, sender) {
      try {
        const { text } = database.prepare(append);
        const { rows } = await tx.query(text, appendValues({ queueId: queue.id, message, sender }));
        const sent = toSent(rows[0]);
        if (!sent) throw gone();
        // Sent at the commit, and not at all if the caller rolls back.
        await tx.query("select pg_notify($1, $2)", [`${database.schema}.ready`, String(queue.id)]);
        return sent;
      } catch (cause) {
        throw isUniqueViolation(cause) ? cause : toCoded(cause);
      }
    },
    idle: async () => {
      await Promise.all([standard.idle(), fifo.idle()]);
    },
  };
}
