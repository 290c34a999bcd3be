// At most about 120,000 messages of a standard queue are in flight. Counting them for each receive would cost more than
// the receive; a count says how many more may be received before the next count can come to another answer.
import type { Catalog, QueueRecord } from "tuntas/queue";

export const inFlightMax = 120_000;
const queuesMax = 10_000;

export interface InFlightLimit {
  isReached(queue: QueueRecord): Promise<boolean>;
  /** So many messages were received. */
  note(queue: QueueRecord, count: number): void;
}

export function makeInFlightLimit(catalog: Pick<Catalog, "countInFlight">): InFlightLimit {
  const left = new Map<number, number>();
  return {
    async isReached(queue) {
      if ((left.get(queue.id) ?? 0) > 0) return false;
      if (left.size >= queuesMax) left.clear();
      const count = await catalog.countInFlight(queue, inFlightMax);
      left.set(queue.id, inFlightMax - count);
      return count >= inFlightMax;
    },
    note(queue, count) {
      left.set(queue.id, (left.get(queue.id) ?? 0) - count);
    },
  };
}
