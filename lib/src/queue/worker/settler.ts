// Writing what attempts came to: many of them in one commit, each told whether its own message moved.
import { gatherer, type Gatherer } from "../../core/coalesce.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { leaseMs } from "../../engine/process/presence.ts";
import { isTransient } from "../../pg/faults.ts";
import type { QueueContext } from "../client/context.ts";
import { wakeQueues } from "../client/context.ts";
import type { Done, Ended, Retry } from "../store/settle.ts";
import {
  settleDone,
  settleDoneInGroups,
  settleFifo,
  settleQuarantine,
  settleReject,
  settleRetry,
} from "../store/settle.ts";
import type { Claim, HeldMessage } from "../contract.ts";

type Store<Item, Row extends { id: string }> = (
  sql: Pick<Sql | Tx, "run">,
  items: readonly Item[],
) => Promise<readonly Row[]>;
type Standard<Item> = Store<Item, { id: string }>;
type Grouped<Item> = Store<Item, { id: string; queueId: number; groupId: string | null }>;

/** Whether the message moved (another owner may have it), or why its statement failed. */
export type Ending = boolean | { readonly failure: unknown };
type Told = (ending: Ending) => void;
type After<Item> = (items: readonly Item[]) => void;

/** One way to end, for standard and for FIFO queues. Resolves to false where another owner has the message. */
export type End<Item> = (item: Item, fifo: boolean) => Promise<boolean>;

export interface Settler {
  /** Ends a message whose work is done, and calls back; without a promise, because every message comes this way. */
  readonly acknowledge: (item: Done, fifo: boolean, told: Told) => void;
  readonly done: End<Done>;
  readonly retry: End<Retry>;
  readonly quarantine: End<Ended & HeldMessage>;
  readonly reject: End<Ended & HeldMessage>;
  idle(): Promise<void>;
}

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

interface Waiting<Item> {
  readonly item: Item;
  readonly told: Told;
}

/** A promise of what the callback gets. */
export function promised(ask: (told: Told) => void): Promise<boolean> {
  return new Promise((resolve, reject) =>
    ask((ending) => (typeof ending === "object" ? reject(ending.failure) : resolve(ending))),
  );
}

/**
 * Gathers what ends the same way into shared commits, and tells each whether its own claim moved. `after` gets those that
 * did, once that is committed.
 */
export function shareEndings<Item extends Claim>(
  store: (items: readonly Item[]) => Promise<readonly { id: string }[]>,
  after?: After<Item>,
): Gatherer<Waiting<Item>> {
  async function write(waiting: readonly Waiting<Item>[]): Promise<void> {
    const items = waiting.map((entry) => entry.item);
    const rows = await persist(() => store(items));
    // Usually all moved, and then nobody needs looking up.
    const moved = rows.length === items.length ? undefined : new Set(rows.map((row) => row.id));
    after?.(moved ? items.filter((item) => moved.has(item.id)) : items);
    for (const { item, told } of waiting) told(moved?.has(item.id) ?? true);
  }

  async function flush(waiting: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(waiting);
    } catch (failure) {
      const shared = waiting.length > 1 && !isTransient(failure);
      // One item may have failed the statement of all: alone, each answers for itself.
      if (shared) await Promise.all(waiting.map((entry) => flush([entry])));
      else for (const { told } of waiting) told({ failure });
    }
  }

  // A turn of the event loop carries many short handlers to their ends; they share one commit.
  return gatherer<Waiting<Item>>({ itemsMax: 500, flushesMax: 2, flush, schedule: setImmediate });
}

export function makeSettler(context: QueueContext): Settler {
  const { database, due } = context;
  const all: Pick<Gatherer<never>, "idle">[] = [];

  function gather<Item extends Claim>(
    store: (items: readonly Item[]) => Promise<readonly { id: string }[]>,
    after?: After<Item>,
  ) {
    const made = shareEndings(store, after);
    all.push(made);
    return made;
  }

  async function inGroups<Item>(store: Grouped<Item>, items: readonly Item[]) {
    const rows = await settleFifo(database, (tx) => store(tx, items));
    wakeQueues(
      context,
      rows.map((row) => row.queueId),
    );
    return rows;
  }

  function tell<Item extends Claim>(standard: Standard<Item>, grouped: Grouped<Item>, after?: After<Item>) {
    const plain = gather<Item>((items) => standard(database, items), after);
    const fifo = gather<Item>((items) => inGroups(grouped, items), after);
    return (item: Item, inGroup: boolean, told: Told) => (inGroup ? fifo : plain).add({ item, told });
  }

  function end<Item extends Claim>(store: Grouped<Item>, after?: After<Item>): End<Item> {
    const ask = tell(store, store, after);
    return (item, grouped) => promised((told) => ask(item, grouped, told));
  }

  function afterRetry(items: readonly Retry[]): void {
    const soonest = items.reduce((least, item) => Math.min(least, item.delayMs), Infinity);
    if (soonest > 0) due.note(soonest);
    wakeQueues(
      context,
      items.filter((item) => item.delayMs <= 0).map((item) => item.queueId),
    );
  }

  const acknowledge = tell<Done>(settleDone, settleDoneInGroups);
  return {
    acknowledge,
    done: (item, grouped) => promised((told) => acknowledge(item, grouped, told)),
    retry: end(settleRetry, afterRetry),
    quarantine: end(settleQuarantine),
    reject: end(settleReject),
    idle: async () => {
      await Promise.all(all.map((each) => each.idle()));
    },
  };
}
