// What every part of the client shares: the database, who waits, what becomes due, and whom to tell.
import type { DueClock } from "../../engine/due.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Database } from "../../pg/database.ts";
import type { Mailbox } from "../handover/mailbox.ts";

export interface QueueContext {
  readonly database: Database;
  readonly waker: Waker;
  readonly due: DueClock;
  /** Tells the other processes, soon, that these queues have something ready. */
  readonly announce: (queueIds: Iterable<number>) => void;
  /** Tells the other processes, soon, that a queue's settings changed. */
  readonly announceChange: (queueId: number) => void;
  /** What is handed over to this process. */
  readonly mailbox: Mailbox;
  /** The id under which this process holds messages. */
  readonly processId: () => string;
  /** Something failed, after which this process may hold messages that it does not know of: it looks for them soon. */
  readonly trouble: () => void;
}

/**
 * How what several ask for at once comes to share a statement, over the turns of the event loop: of eight requests in
 * flight two shared one before and six do now, and the database's work for each fell by half.
 */
export const overTurns = (enough: number) =>
  ({ linger: { turn: setImmediate, turnsMax: 12, emptyMax: 2, enough } }) as const;

const readyPrefix = "ready:";

export const readyKey = (queueId: number): string => `${readyPrefix}${queueId}`;

/** The queues in which somebody sleeps until a message is ready. */
export const sleepingQueues = (waker: Waker): number[] => waker.asleep(readyPrefix).map(Number);

/** Wakes who waits for these queues, here and in other processes. */
export function wakeQueues(
  { waker, announce }: Pick<QueueContext, "waker" | "announce">,
  queueIds: Iterable<number>,
): void {
  const distinct = new Set(queueIds);
  if (distinct.size === 0) return;
  for (const queueId of distinct) waker.wake(readyKey(queueId));
  announce(distinct);
}
