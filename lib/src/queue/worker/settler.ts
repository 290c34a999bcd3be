// Writing what attempts came to: many of them in one commit, each told whether its own message moved.
import { coalescer, type Coalescer } from "../../core/coalesce.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { leaseMs } from "../../engine/presence.ts";
import { isTransient } from "../../pg/faults.ts";
import type { QueueContext } from "../client/context.ts";
import { wakeQueues } from "../client/context.ts";
import type { Done, Ended, Retry } from "../store/settle.ts";
import { settleDone, settleFifo, settleQuarantine, settleReject, settleRetry } from "../store/settle.ts";
import type { Claim } from "../contract.ts";

type Store<Item> = (
  sql: Pick<Sql | Tx, "run">,
  items: readonly Item[],
) => Promise<{ id: string; queueId: number; groupId: string | null }[]>;

/** One way to end, for standard and for FIFO queues. Resolves to false where another owner has the message. */
export type End<Item> = (item: Item, fifo: boolean) => Promise<boolean>;

export interface Settler {
  readonly done: End<Done>;
  readonly retry: End<Retry>;
  readonly quarantine: End<Ended>;
  readonly reject: End<Ended>;
  idle(): Promise<void>;
}

/** Whether it moved, or why its statement failed. */
type Ending = boolean | { readonly failure: unknown };
type After<Item> = (items: readonly Item[]) => void;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// By then this process has been taken for dead, or its heartbeat has found the database again.
const persistMs = 2 * leaseMs;

/** Runs `work` again while the database is away, for as long as the lease could still be ours. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + persistMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (cause) {
      const final = (cause as { retryable?: boolean }).retryable !== true && !isTransient(cause);
      if (final || performance.now() > until) throw cause;
      await sleep(Math.min(2000, 50 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }
}

export function makeSettler(context: QueueContext): Settler {
  const { database, due } = context;
  const all: Pick<Coalescer<never, never>, "idle">[] = [];

  function makeEnd<Item extends Claim>(store: Store<Item>, fifo: boolean, after?: After<Item>) {
    async function write(items: readonly Item[]): Promise<Ending[]> {
      const rows = await persist(() =>
        fifo ? settleFifo(database, (tx) => store(tx, items)) : store(database, items),
      );
      const queueIds = rows.map((row) => row.queueId);
      if (fifo) wakeQueues(context, queueIds);
      after?.(items);
      const moved = new Set(rows.map((row) => row.id));
      return items.map((item) => moved.has(item.id));
    }

    /** One item may have failed the statement of all: alone, each answers for itself. */
    const alone = (item: Item): Promise<Ending> =>
      write([item]).then(
        ([ending]) => ending!,
        (failure: unknown) => ({ failure }),
      );

    async function flush(items: readonly Item[]): Promise<Ending[]> {
      try {
        return await write(items);
      } catch (cause) {
        if (items.length === 1 || isTransient(cause)) throw cause;
        return Promise.all(items.map(alone));
      }
    }

    const made = coalescer<Item, Ending>({ itemsMax: 500, flushesMax: 2, flush });
    all.push(made);
    return made;
  }

  function end<Item extends Claim>(store: Store<Item>, after?: After<Item>): End<Item> {
    const [standard, fifo] = [makeEnd(store, false, after), makeEnd(store, true, after)];
    return async (item, grouped) => {
      const ending = await (grouped ? fifo : standard).add(item);
      if (typeof ending === "object") throw ending.failure;
      return ending;
    };
  }

  function afterRetry(items: readonly Retry[]): void {
    const soonest = items.reduce((least, item) => Math.min(least, item.delayMs), Infinity);
    if (soonest > 0) due.note(soonest);
    wakeQueues(
      context,
      items.filter((item) => item.delayMs <= 0).map((item) => item.queueId),
    );
  }

  return {
    done: end(settleDone),
    retry: end(settleRetry, afterRetry),
    quarantine: end(settleQuarantine),
    reject: end(settleReject),
    idle: async () => {
      await Promise.all(all.map((each) => each.idle()));
    },
  };
}
