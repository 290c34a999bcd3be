// Which offers of this process stand: what its workers want, written and taken back, one statement at a time. What fails is
// tried again at the next heartbeat; whatever stands for longer than it should brings messages that go back at once.
import { insertOffers, removeOffers } from "./store.ts";
import type { Database } from "../../pg/database.ts";
import type { SlotTable } from "../../engine/process/slots.ts";

export interface OffersParts {
  readonly database: Pick<Database, "run" | "schema">;
  readonly slots: Pick<SlotTable, "offer">;
  readonly processId: () => string;
}

export interface Offers {
  /** A worker of the queue rests. */
  stand(queueId: number): void;
  /** Nothing of the queue is to be handed over; resolves once nothing can be, or could not be withdrawn. */
  withdraw(queueId: number): Promise<void>;
  stands(queueId: number): boolean;
  /** Whether what is handed over is heard of: without it, nothing stands. */
  hears(hearing: boolean): void;
  /** What stood does not any more, and is to stand again at the next heartbeat. */
  forget(): void;
  /** Writes what is not yet as it should be. */
  renew(): Promise<void>;
}

export function makeOffers(mailbox: string, { database, slots, processId }: OffersParts): Offers {
  const wanted = new Set<number>();
  /** What is written, and under which id: a process that was taken for dead has another one. */
  const standing = new Map<number, string>();
  const leaving = new Set<number>();
  let hearing = false;
  let agreeing: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function agree(): Promise<void> {
    const ownerId = processId();
    const gone = [...leaving];
    if (gone.length > 0) {
      await removeOffers(database, ownerId, gone);
      for (const queueId of gone) leaving.delete(queueId);
    }
    const missing = hearing ? [...wanted].filter((queueId) => standing.get(queueId) !== ownerId) : [];
    slots.offer(missing.length + standing.size > 0);
    if (missing.length === 0) return;
    for (const queueId of missing) standing.set(queueId, ownerId);
    try {
      await insertOffers(database, ownerId, mailbox, missing);
    } catch (cause) {
      for (const queueId of missing) standing.delete(queueId);
      throw cause;
    }
  }

  /** After what is under way, so that what was wanted last is what is written last. */
  function renew(): Promise<void> {
    next ??= (agreeing ?? Promise.resolve()).then(() => {
      next = undefined;
      agreeing = agree().catch(() => undefined);
      return agreeing;
    });
    return next;
  }

  function leave(queueId: number): void {
    standing.delete(queueId);
    leaving.add(queueId);
  }

  return {
    renew,
    stands: (queueId) => wanted.has(queueId),
    stand(queueId) {
      wanted.add(queueId);
      void renew();
    },
    withdraw(queueId) {
      wanted.delete(queueId);
      leave(queueId);
      return renew();
    },
    hears(now) {
      hearing = now;
      if (!hearing) for (const queueId of standing.keys()) leave(queueId);
      void renew();
    },
    forget: () => standing.clear(),
  };
}
