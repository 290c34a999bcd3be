// Receiving over the wire: a receipt holds each message until its visibility timeout ends. Receives of one queue that
// come together share one claim. A long poll returns at once when anything is there, and wakes within milliseconds.
import { coalescer, type Coalescer } from "../../core/coalesce.ts";
import { makeBell } from "../../engine/wake.ts";
import { again } from "../../pg/faults.ts";
import type { Tx } from "../../pg/contract.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import { furthest, makeLooks } from "./looks.ts";
import {
  claimFifoMessages,
  claimMessages,
  forgetAttempts,
  fromTheStart,
  isAttemptTouched,
  rememberAttempt,
  repeatAttempt,
  type Claimed,
  type ClaimRequest,
  type LowWater,
} from "../store/claim/index.ts";
import { claimFresh, isFresh } from "../store/claim/fresh.ts";
import { settleFifo, settleRetry } from "../store/settle.ts";
import type { Catalog } from "./catalog.ts";
import type { QueueContext } from "./context.ts";
import { overTurns, readyKey, wakeQueues } from "./context.ts";

export interface ReceiveRequest {
  readonly countMax: number;
  readonly waitMs: number;
  /** Null for the queue's own. */
  readonly visibilitySeconds: number | null;
  /** FIFO: a repeated receive with this id gets the same messages again. */
  readonly attemptId?: string | undefined;
  /** Ends the waiting: the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

export interface Receiver {
  /** Errors: TUNTAS_QUEUE_MISSING where the queue is deleted while the caller waits; TUNTAS_RECEIVE_ATTEMPT. */
  receive(queue: QueueRecord, request: ReceiveRequest): Promise<HeldMessage[]>;
  /** Makes messages ready again that nobody got to see; that receive does not count. */
  giveBack(queue: QueueRecord, messages: readonly HeldMessage[]): Promise<void>;
}

interface Ask {
  readonly countMax: number;
  readonly signal?: AbortSignal | undefined;
}

function deal(messages: readonly HeldMessage[], asks: readonly Ask[]): HeldMessage[][] {
  const hands: HeldMessage[][] = asks.map(() => []);
  let next = 0;
  for (let i = 0; i < asks.length && next < messages.length; i++) {
    const hand = messages.slice(next, next + asks[i]!.countMax);
    hands[i] = hand;
    next += hand.length;
  }
  return hands;
}

/** Says what a claim did, once it is committed. */
export function tellClaimed(context: QueueContext, queueId: number, claimed: Claimed): void {
  const { messages, dead, deadLetterId, expired } = claimed;
  if (dead > 0) {
    wakeQueues(context, [deadLetterId!]);
    queueSignals.publish("queue.dead", { queueId, deadLetterId, count: dead });
  }
  if (expired > 0) queueSignals.publish("queue.expired", { queueId, count: expired });
  if (messages.length > 0) queueSignals.publish("queue.received", { queueId, count: messages.length });
}

/**
 * Claims with a low-water mark: while somebody holds an old snapshot, dead entries stay in the index, and a look from its left
 * end walks all of them. What lies left of the mark (tried again, committed late) is found by such a look, which is made as long
 * as it costs no more than one from the mark, and else as often as costs a tenth of the time. Where the last claim met fresh
 * messages only, the next looks for those first.
 */
export function makeClaimer(context: QueueContext, queueId: number) {
  const looks = makeLooks();
  let from: LowWater = fromTheStart;
  let metFresh = false;

  async function look(
    claim: typeof claimMessages,
    request: Omit<ClaimRequest, "queueId">,
  ): Promise<Claimed | undefined> {
    const begunAt = performance.now();
    const claimed = await claim(context.database, { ...request, queueId });
    looks.took(request.from === fromTheStart, performance.now() - begunAt);
    return claimed;
  }

  return async ({ count, ...request }: Omit<ClaimRequest, "from" | "queueId">): Promise<HeldMessage[]> => {
    const messages: HeldMessage[] = [];
    let position = looks.beginsAtTheStart() ? fromTheStart : from;
    let claim = metFresh ? claimFresh : claimMessages;
    for (;;) {
      const asked = { ...request, from: position, count: count - messages.length };
      const claimed = await look(claim, asked).catch((cause: unknown) => {
        // What an earlier look got is held now, and not the less for this one's failure.
        if (messages.length === 0) throw cause;
      });
      if (!claimed) break;
      tellClaimed(context, queueId, claimed);
      messages.push(...claimed.messages);
      if (messages.length === count) break;
      // What ended instead had stood in front of others.
      const ended = claimed.dead + claimed.expired;
      const isLast = position === fromTheStart || !looks.isAllowed();
      if (claimed.isAll && ended === 0 && isLast) break;
      if (claimed.isAll || looks.isAllowed()) position = fromTheStart;
      claim = claimMessages;
    }
    from = furthest(from, messages);
    looks.gotAll(messages.length === count);
    metFresh = messages.length > 0 && messages.every(isFresh);
    return messages;
  };
}

/** Claims under an attempt id. Both are committed or neither: it is for the answer that was lost that a caller has one. */
async function claimAttempt(
  tx: Tx,
  request: Omit<ClaimRequest, "from">,
  attemptId: string,
): Promise<Claimed> {
  const claimed = await claimFifoMessages(tx, request);
  const [first] = claimed.messages;
  if (first) await rememberAttempt(tx, request.queueId, attemptId, first.fence);
  return claimed;
}

const touchedSince = ({ name }: QueueRecord, attemptId: string) =>
  queueErrors.error(
    "TUNTAS_RECEIVE_ATTEMPT",
    `a message that attempt ${attemptId} received from ${name} was deleted or had its visibility changed`,
    { details: { queue: name, attemptId } },
  );

// A receive looks past groups that ended, but not past a queue of them: the sweep takes those away by the thousand.
const fifoLooksMax = 100;

export function makeReceiver(context: QueueContext, catalog: Pick<Catalog, "find">): Receiver {
  const { database, waker, due } = context;
  const claims = new Map<string, Coalescer<Ask, HeldMessage[]>>();

  function claimsOf(queueId: number, visibilitySeconds: number | null): Coalescer<Ask, HeldMessage[]> {
    const key = `${queueId}/${visibilitySeconds}`;
    const known = claims.get(key);
    if (known) return known;
    const claim = makeClaimer(context, queueId);
    const made = coalescer<Ask, HeldMessage[]>({
      itemsMax: 100,
      flushesMax: 2,
      cost: ({ countMax }) => countMax,
      ...overTurns(48),
      async flush(all) {
        const asks = all.map((ask) => (ask.signal?.aborted ? { ...ask, countMax: 0 } : ask));
        const count = asks.reduce((sum, ask) => sum + ask.countMax, 0);
        return deal(count > 0 ? await claim({ count, ownerId: null, visibilitySeconds }) : [], asks);
      },
    });
    claims.set(key, made);
    void made.idle().then(() => claims.size > 1000 && claims.delete(key));
    return made;
  }

  async function claimFifo(queue: QueueRecord, request: ReceiveRequest): Promise<HeldMessage[]> {
    const { countMax, visibilitySeconds, attemptId } = request;
    if (attemptId !== undefined) {
      const repeated = await repeatAttempt(database, queue.id, attemptId, visibilitySeconds);
      if (repeated.length > 0) return repeated;
      if (await isAttemptTouched(database, queue.id, attemptId)) throw touchedSince(queue, attemptId);
    }
    const asked = { queueId: queue.id, count: countMax, ownerId: null, visibilitySeconds };
    for (let look = 0; look < fifoLooksMax; look++) {
      // It locks groups beside those that sends, moves and purges lock.
      const claimed = await again(() =>
        attemptId === undefined
          ? claimFifoMessages(database, asked)
          : database.transaction((tx) => claimAttempt(tx, asked, attemptId)),
      );
      tellClaimed(context, queue.id, claimed);
      // What ended instead had stood in front of other groups.
      if (claimed.messages.length > 0 || claimed.dead + claimed.expired === 0) return claimed.messages;
    }
    return [];
  }

  /** A queue that was deleted meanwhile, or made anew, has nothing for whoever waits at the old one. */
  async function checkThere({ id, name, ...scope }: QueueRecord): Promise<void> {
    const current = await catalog.find(scope, name);
    if (current?.id !== id)
      throw queueErrors.error("TUNTAS_QUEUE_MISSING", `queue ${name} was deleted`, {
        details: { queue: name },
      });
  }

  async function claimNow(queue: QueueRecord, request: ReceiveRequest): Promise<HeldMessage[]> {
    if (queue.pausedAtMs !== null) return [];
    await due.catchUp();
    const messages = queue.fifo
      ? await claimFifo(queue, request)
      : await claimsOf(queue.id, request.visibilitySeconds).add(request);
    if (messages.length === 0) return messages;
    const visibilitySeconds = request.visibilitySeconds ?? queue.visibilitySeconds;
    due.note(visibilitySeconds * 1000);
    // Visible again at once: before the answer, so that the next receive finds them in whichever process it runs.
    if (visibilitySeconds === 0) await due.sweep();
    return messages;
  }

  return {
    async receive(queue, request) {
      const until = performance.now() + request.waitMs;
      const bell = makeBell(waker, readyKey(queue.id));
      try {
        for (;;) {
          const messages = await claimNow(queue, request);
          if (messages.length > 0 || request.signal?.aborted) return messages;
          if (request.waitMs > 0) await checkThere(queue);
          const leftMs = until - performance.now();
          if (leftMs <= 0) return messages;
          // A notification may be lost; the heartbeat looks all the same.
          await bell.wait(leftMs, request.signal);
        }
      } finally {
        bell.close();
      }
    },
    async giveBack(queue, messages) {
      const items = messages.map((message) => ({ ...message, delayMs: 0 }));
      if (queue.fifo) {
        await settleFifo(database, async (tx) => {
          await forgetAttempts(tx, queue.id, messages);
          return settleRetry(tx, items);
        });
      } else await settleRetry(database, items);
      wakeQueues(context, [queue.id]);
    },
  };
}
