// Sending. Concurrent sends of a process share one statement and one commit; each promise resolves after the commit
// that holds its message. A send inside the caller's transaction becomes visible when that commits.
import { coalescer } from "../../core/coalesce.ts";
import type { Queryable } from "../../pg/contract.ts";
import { isTransient, isUniqueViolation, toCoded } from "../../pg/faults.ts";
import type { NewMessage, QueueRecord, Sent } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import type { Addressed } from "../store/send.ts";
import { heldSince, insertAlone, type StoredAlone } from "../handover/store.ts";
import { append, appendMessages, appendValues, areAlike, insertMessages, toSent } from "../store/send.ts";
import type { QueueContext } from "./context.ts";
import { overTurns, readyKey, wakeQueues } from "./context.ts";

export interface Sender {
  /** Makes the message durable. Errors: TUNTAS_QUEUE_MISSING, database errors. */
  send(queue: QueueRecord, message: NewMessage, sender: string): Promise<Sent>;
  /** The same for messages that belong together: all or none of them. */
  sendAll(queue: QueueRecord, messages: readonly NewMessage[], sender: string): Promise<readonly Sent[]>;
  /** Writes the message in the caller's transaction. */
  sendIn(tx: Queryable, queue: QueueRecord, message: NewMessage, sender: string): Promise<Sent>;
  idle(): Promise<void>;
}

// One statement of 500 messages or 4 MiB takes a few ms; a larger one only makes others wait.
const flushUnitsMax = 4 * 1024 * 1024;
const messageUnits = flushUnitsMax / 500;

/** What one caller sends at once. */
interface Parcel {
  readonly queueId: number;
  readonly sender: string;
  readonly messages: readonly NewMessage[];
}

function cost({ messages }: Parcel): number {
  let units = 0;
  for (const { body, attributes } of messages)
    units += messageUnits + body.length + (attributes?.length ?? 0);
  return units;
}

/** One message after another, with its queue and sender. */
const unpack = (parcels: readonly Parcel[]): Addressed[] =>
  parcels.flatMap(({ queueId, sender, messages }) =>
    messages.map((message) => ({ queueId, sender, message })),
  );

const gone = (): Error =>
  queueErrors.error("TUNTAS_QUEUE_MISSING", "the queue was deleted before the message could be stored");

/** Deals the results out again; a parcel whose queue is gone gets an error. */
function repack(parcels: readonly Parcel[], results: readonly (Sent | undefined)[]): (Sent[] | Error)[] {
  let at = 0;
  return parcels.map(({ messages }) => {
    const own = results.slice(at, (at += messages.length));
    return own.every((sent) => sent !== undefined) ? own : gone();
  });
}

function tally(items: readonly Addressed[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { queueId } of items) counts.set(queueId, (counts.get(queueId) ?? 0) + 1);
  return counts;
}

// A notification that a commit brings along wakes a worker a round trip earlier than one that follows it. But such
// commits wait for each other in the whole server, so only a process that rests most of its time makes them: one that
// sends without a pause has its notifications gathered.
const restPerWork = 4;

/** Says when a commit may bring its notification along: after a rest. */
function makeTelling() {
  let nextAt = 0;
  return {
    isFree: () => performance.now() >= nextAt,
    took(ms: number): void {
      nextAt = performance.now() + ms * restPerWork;
    },
  };
}

/** Whether it is one message, which may be received at once. */
const isSimple = (items: readonly Addressed[]): boolean =>
  items.length === 1 && !items[0]!.message.delaySeconds && items[0]!.message.groupId === undefined;

type Flush = (parcels: readonly Parcel[]) => Promise<(Sent[] | Error)[]>;

/** One parcel may have failed the statement of all, with a name that no index can hold, say: alone, each answers for itself. */
const apart =
  (flush: Flush): Flush =>
  async (parcels) => {
    try {
      return await flush(parcels);
    } catch (cause) {
      if (parcels.length === 1 || isTransient(cause)) throw cause;
      const results: (Sent[] | Error)[] = [];
      for (const parcel of parcels) results.push(...(await flush([parcel]).catch((own: Error) => [own])));
      return results;
    }
  };

export function makeSender(context: QueueContext): Sender {
  const { database, due, waker, mailbox, processId } = context;
  const telling = makeTelling();
  const channel = `${database.schema}.ready`;

  /** Wakes who waits for them; `told` where the others know already. */
  function announce(items: readonly Addressed[], told = false): void {
    const counts = tally(items);
    if (told) for (const queueId of counts.keys()) waker.wake(readyKey(queueId));
    else wakeQueues(context, counts.keys());
    for (const [queueId, count] of counts) queueSignals.publish("queue.sent", { queueId, count });
  }

  /** Of what was stored for a worker in this process, nobody is notified. */
  function passOn({ queueId, sender, message }: Addressed, stored: StoredAlone): void {
    const { id, fence, sentAtMs, isOwn } = stored;
    queueSignals.publish("queue.sent", { queueId, count: 1 });
    if (fence === null) return waker.wake(readyKey(queueId));
    if (!isOwn) return;
    const { messageId, body, attributes = null, traceHeader = null } = message;
    mailbox.put(
      heldSince({ queueId, id, fence, messageId, sender, body, attributes, traceHeader, sentAtMs }),
    );
  }

  /** Sends one message after a rest: to a worker that rests, where there is one. Undefined where it is nothing of the kind. */
  async function sendAlone(item: Addressed): Promise<Sent | undefined> {
    const stored = await insertAlone(database, item, { processId: processId(), channel });
    if (!stored) return undefined;
    passOn(item, stored);
    return { status: "created", messageId: item.message.messageId, id: stored.id };
  }

  async function flushStandard(parcels: readonly Parcel[]): Promise<(Sent[] | Error)[]> {
    const items = unpack(parcels);
    const begunAt = performance.now();
    const isFree = telling.isFree();
    const alone = isFree && isSimple(items) ? await sendAlone(items[0]!) : undefined;
    if (!alone) return flushTogether(parcels, items, isFree);
    telling.took(performance.now() - begunAt);
    return [[alone]];
  }

  async function flushTogether(
    parcels: readonly Parcel[],
    items: readonly Addressed[],
    isFree: boolean,
  ): Promise<(Sent[] | Error)[]> {
    const told = isFree && areAlike(items);
    const begunAt = performance.now();
    const stored = await insertMessages(database, items, told ? channel : null);
    telling.took(performance.now() - begunAt);
    announce(
      items.filter((_, index) => stored[index]?.waitSeconds === 0),
      told,
    );
    for (const entry of stored) if (entry && entry.waitSeconds > 0) due.note(entry.waitSeconds * 1000);
    return repack(
      parcels,
      stored.map(
        (entry, index) =>
          entry && { status: "created", messageId: items[index]!.message.messageId, id: entry.id },
      ),
    );
  }

  async function flushFifo(parcels: readonly Parcel[]): Promise<(Sent[] | Error)[]> {
    const items = unpack(parcels);
    const sent = await appendMessages(database, items);
    announce(items);
    due.note(1); // a queue's delay may have applied; the clock asks the database when
    return repack(parcels, sent);
  }

  const shared = {
    itemsMax: Infinity,
    costMax: flushUnitsMax,
    cost,
    ...overTurns(48 * messageUnits),
  };
  const standard = coalescer<Parcel, readonly Sent[]>({
    ...shared,
    flushesMax: 2,
    flush: apart(flushStandard),
  });
  // One at a time, so that messages of one group are stored in the order in which they were sent.
  const fifo = coalescer<Parcel, readonly Sent[]>({ ...shared, flushesMax: 1, flush: apart(flushFifo) });

  const sendAll: Sender["sendAll"] = (queue, messages, sender) =>
    (queue.fifo ? fifo : standard).add({ queueId: queue.id, messages, sender });

  return {
    send: async (queue, message, sender) => (await sendAll(queue, [message], sender))[0]!,
    sendAll,
    async sendIn(tx, queue, message, sender) {
      try {
        const { text } = database.prepare(append);
        const { rows } = await tx.query(text, appendValues({ queueId: queue.id, message, sender }));
        const sent = toSent(rows[0]);
        if (!sent) throw gone();
        // Sent at the commit, and not at all if the caller rolls back.
        await tx.query("select pg_notify($1, $2)", [channel, String(queue.id)]);
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
