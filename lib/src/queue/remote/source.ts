// A queue that lives elsewhere as the source of a worker. What is received is taken in here (store/inbox.ts) before a
// handler sees it: its fence then stands for the receipt in every commit, and a message whose work has ended is known.
import { setMaxListeners } from "node:events";
import type { Database } from "../../pg/database.ts";
import { makeBell } from "../../engine/wake.ts";
import { backoffMs } from "../../core/backoff.ts";
import type { Claim, HeldMessage, QueueRecord } from "../contract.ts";
import type { Catalog } from "../client/catalog.ts";
import type { QueueContext } from "../client/context.ts";
import { readyKey } from "../client/context.ts";
import { queueSignals } from "../signals.ts";
import { endAll, takeInMessages, type TakenIn } from "../store/inbox.ts";
import type { Retry } from "../store/settle.ts";
import type { Endings, Source } from "../worker/source.ts";
import { makeWriter } from "../worker/writes.ts";
import { noOffer } from "../handover/offer.ts";
import type { Log } from "../../engine/log.ts";
import type { Held, Remote, RemoteMessage } from "./contract.ts";
import { makeRemoteSettler } from "./settler.ts";

export interface RemoteParts {
  readonly context: QueueContext;
  readonly catalog: Pick<Catalog, "find">;
  readonly remote: Remote;
  readonly log: Log;
}

const endings: Endings = { one: (claim) => endAll([claim]), all: endAll, after: () => [] };

const pausedMs = 1000;
const failedBackoff = { baseMs: 500, maxMs: 30_000 };

/** Of a message that came twice in one answer, the later receipt. */
const eachOnce = (messages: readonly RemoteMessage[]): RemoteMessage[] => [
  ...new Map(messages.map((message) => [message.messageId, message])).values(),
];

function heldOf(queue: QueueRecord, message: RemoteMessage, { id, fence, ended }: TakenIn): HeldMessage {
  const { receipt: _receipt, receivedAtMs: _at, ...rest } = message;
  return { ...rest, queueId: queue.id, id, fence, turn: "0", sourceQueueId: null, bundled: false, ended };
}

const pick = ({ receipt, receivedAtMs, receives }: RemoteMessage) => ({ receipt, receivedAtMs, receives });

// Every receive counts there, also one after which nothing was tried: each such return doubles the time to the next, so
// that a message that waits for another is not dead before that has ended.
const untriedDelayMs = (delayMs: number, receives: number): number =>
  delayMs === 0 ? 0 : Math.max(delayMs, 1000 * Math.min(2 ** receives, 900));

/** What of a receive is to be known until it has ended. */
interface Open extends Held {
  readonly receives: number;
}

/** The receives that are worked on, by their fences; what becomes of each is told to the other service in the background. */
function makeReceives({ remote, log }: RemoteParts, { name }: QueueRecord) {
  const open = new Map<string, Open>();

  function forget({ fence }: Pick<Claim, "fence">): Open | undefined {
    const receive = open.get(fence);
    if (open.delete(fence)) remote.drop(fence);
    return receive;
  }

  function tell(telling: Promise<void>, what: string): void {
    telling.catch((cause: unknown) =>
      log.warn({ cause, queue: name }, `${what}; the message will come back`),
    );
  }

  return {
    forget,
    add(held: readonly Open[]): void {
      remote.hold(held);
      for (const each of held) open.set(each.fence, each);
    },
    ended(claim: Pick<Claim, "fence">): void {
      const receive = forget(claim);
      if (receive) tell(remote.remove(receive), "could not delete a message that has ended");
    },
    givenBack({ fence, delayMs, failure }: Retry): void {
      const receive = forget({ fence });
      if (!receive) return;
      const afterMs = failure ? delayMs : untriedDelayMs(delayMs, receive.receives);
      tell(remote.giveBack(receive, afterMs), "could not say when a message is to come back");
    },
    /** Gives back at once what was not taken in. */
    refuse(messages: readonly RemoteMessage[]): void {
      for (const message of messages) tell(remote.giveBack(message, 0), "could not give a message back");
    },
  };
}

export function makeRemoteSource(parts: RemoteParts, queue: QueueRecord): Source {
  const { context, catalog, remote } = parts;
  const database: Database = context.database;
  const receives = makeReceives(parts, queue);
  const bell = makeBell(context.waker, readyKey(queue.id));
  const ending = new AbortController();
  setMaxListeners(0, ending.signal); // Receives side by side, each of several tries, all listen to it.
  let paused = false;
  let failures = 0;

  async function isPaused(): Promise<boolean> {
    const current = await catalog.find(queue, queue.name);
    return (paused = current?.pausedAtMs !== null);
  }

  async function takeIn(messages: readonly RemoteMessage[]): Promise<HeldMessage[]> {
    const byId = new Map(messages.map((message) => [message.messageId, message]));
    const rows = await takeInMessages(database, queue.id, messages);
    const messageOf = ({ messageId }: TakenIn) => byId.get(messageId)!;
    receives.add(rows.map((row) => ({ ...pick(messageOf(row)), fence: row.fence })));
    queueSignals.publish("queue.received", { queueId: queue.id, count: rows.length });
    return rows.map((row) => heldOf(queue, messageOf(row), row));
  }

  async function receive(count: number): Promise<HeldMessage[]> {
    if (await isPaused()) return [];
    const messages = eachOnce(await remote.receive(count, ending.signal));
    if (messages.length === 0) return [];
    try {
      if (!ending.signal.aborted && !(await isPaused())) return await takeIn(messages);
      receives.refuse(messages);
      return [];
    } catch (cause) {
      receives.refuse(messages);
      throw cause;
    }
  }

  return {
    settler: makeRemoteSettler(database, receives),
    writer: makeWriter(database, endings),
    endings,
    async claim(count) {
      const held = await receive(count);
      failures = 0;
      return held;
    },
    // A receive waits by itself.
    async rest(failed) {
      if (failed) await bell.wait(backoffMs(failedBackoff, ++failures, Math.random()));
      else if (paused) await bell.wait(pausedMs);
    },
    offer: () => noOffer,
    ring() {
      ending.abort();
      context.waker.wake(readyKey(queue.id));
    },
    committed: receives.ended,
    forget: (held) => void receives.forget(held),
    wake: () => undefined,
    close: () => bell.close(),
  };
}
