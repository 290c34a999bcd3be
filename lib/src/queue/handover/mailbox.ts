// What is handed over to this process. Its notification brings it along, or says where it lies; where that is lost, the
// heartbeat's look finds it, at most a second later. Each goes to a worker once; what none can take goes back at once, as if it
// had not been received.
import { randomBytes } from "node:crypto";
import type { Agendum } from "../../engine/agenda.ts";
import type { SlotTable } from "../../engine/process/slots.ts";
import type { HeldMessage } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import { findHandedOver, handedOverSince, readHandedOver, readLetter } from "./store.ts";
import { settleRetry } from "../store/settle.ts";
import type { QueueContext } from "../client/context.ts";
import { wakeQueues } from "../client/context.ts";
import { makeOffers, type Offers } from "./offers.ts";

export interface MailboxParts extends Pick<QueueContext, "database" | "waker" | "announce" | "trouble"> {
  readonly slots: Pick<SlotTable, "held" | "offer">;
  readonly processId: () => string;
}

/** Takes a message, or answers false where it cannot now. */
export type Take = (message: HeldMessage) => boolean;

export interface Mailbox {
  /** The channel, without the schema, on which this process hears of what is handed over to it. */
  readonly channel: string;
  readonly offers: Offers;
  readonly agendum: Agendum;
  /** What the channel's notifications say. */
  hear(letter: string): void;
  /** Takes what this process has handed over to itself. */
  put(message: HeldMessage): void;
  /** Whether the channel is listened to; after each new connection what was missed is looked for. */
  connected(hearing: boolean): void;
  /** Gives messages of the queue to this worker until the answer is called, which resolves once no more can come. */
  attach(queueId: number, take: Take): () => Promise<void>;
  idle(): Promise<void>;
}

/** The last so many; whatever comes a second time comes soon. */
function makeRecent(most: number) {
  const known = new Set<string>();
  return {
    has: (name: string) => known.has(name),
    /** False where it is known. */
    add(name: string): boolean {
      if (known.has(name)) return false;
      if (known.size >= most) known.delete(known.values().next().value!);
      known.add(name);
      return true;
    },
  };
}

// A look begins at the last fence of three heartbeats ago: what was being handed over then is committed by now. Should it not
// be, each sixteenth begins at the start.
const [looksBack, wholeLookOnceIn] = [3, 16];

/** From which fence on the heartbeat looks. */
function makeMark() {
  const lasts: string[] = Array.from({ length: looksBack }, () => "0");
  let looks = 0;
  return {
    read: () => (looks % wholeLookOnceIn === 0 ? "0" : lasts[0]!),
    looked(last: string): void {
      looks++;
      lasts.push(last);
      lasts.shift();
    },
  };
}

export function makeMailbox(parts: MailboxParts): Mailbox {
  const { database, slots, processId, trouble } = parts;
  const channel = `to-${randomBytes(6).toString("hex")}`;
  const offers = makeOffers(`${database.schema}.${channel}`, parts);
  const takers = new Map<number, Set<Take>>();
  const recent = makeRecent(10_000);
  const mark = makeMark();
  const underWay = new Set<Promise<void>>();

  /** What fails leaves messages behind that are in flight, of which nobody here knows. */
  function carryOut(work: Promise<void>): Promise<void> {
    const ended = work.catch(trouble).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return ended;
  }

  async function giveBack(message: HeldMessage): Promise<void> {
    await settleRetry(database, [{ ...message, delayMs: 0 }]);
    wakeQueues(parts, [message.queueId]);
  }

  function refuse(message: HeldMessage): Promise<void> {
    void offers.withdraw(message.queueId);
    return carryOut(giveBack(message));
  }

  function put(message: HeldMessage): Promise<void> | undefined {
    if (!recent.add(message.fence)) return undefined;
    for (const take of takers.get(message.queueId) ?? []) {
      if (!take(message)) continue;
      queueSignals.publish("queue.handed_over", { queueId: message.queueId, count: 1 });
      queueSignals.publish("queue.received", { queueId: message.queueId, count: 1 });
      return undefined;
    }
    return refuse(message);
  }

  /** Takes those of the fences, or of all that was handed over, that nobody here knows of. */
  async function look(given?: readonly string[]): Promise<void> {
    const ownerId = processId();
    const found = given ?? (await findHandedOver(database, ownerId));
    if (found.length === 0) return;
    const known = new Set(slots.held().map(({ fence }) => fence));
    const unknown = found.filter((fence) => !recent.has(fence) && !known.has(fence));
    if (unknown.length === 0) return;
    await Promise.all((await readHandedOver(database, ownerId, unknown)).map(put));
  }

  return {
    channel,
    offers,
    agendum: {
      ask: handedOverSince,
      given: { type: "bigint[]", read: () => [processId(), mark.read()] },
      hear(answer) {
        const { last, fences } = answer as { last: string; fences: string[] };
        mark.looked(last);
        void carryOut(look(fences));
        void offers.renew();
      },
    },
    hear(letter) {
      const { ownerId, fence, message } = readLetter(letter);
      // What this process held before it was taken for dead is others' business.
      if (ownerId !== processId()) return;
      if (message) void put(message);
      else void carryOut(look([fence]));
    },
    put: (message) => void put(message),
    connected(hearing) {
      offers.hears(hearing);
      if (hearing) void carryOut(look());
    },
    attach(queueId, take) {
      const all = takers.get(queueId) ?? new Set();
      takers.set(queueId, all.add(take));
      return async () => {
        all.delete(take);
        await offers.withdraw(queueId);
        await carryOut(look());
      };
    },
    idle: async () => void (await Promise.all(underWay)),
  };
}
