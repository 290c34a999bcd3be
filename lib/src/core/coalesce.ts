// Sharing commits is the whole art of speed here: what many callers ask for while one statement is on its way goes
// into the next one together. Each caller is told about its own item only, after the commit.

export interface CoalesceOptions<Item, Result> {
  /** Handles all items in one go and answers one result per item, in their order. */
  readonly flush: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of one flush. */
  readonly itemsMax: number;
  /** The most flushes under way at a time. */
  readonly flushesMax: number;
  /** Costs at most this much in one flush (bytes, say), as `cost` counts; a single dearer item goes alone. */
  readonly costMax?: number;
  readonly cost?: (item: Item) => number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (cause: unknown) => void;
}

export interface Coalescer<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves once nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

export function coalescer<Item, Result>(options: CoalesceOptions<Item, Result>): Coalescer<Item, Result> {
  const { flush, itemsMax, flushesMax, costMax = Infinity, cost = () => 0 } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];

  function take(): Waiting<Item, Result>[] {
    let count = 0;
    for (let sum = 0; count < waiting.length && count < itemsMax; count++) {
      sum += cost(waiting[count]!.item);
      if (sum > costMax && count > 0) break;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  async function run(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await flush(batch.map((entry) => entry.item));
      batch.forEach((entry, index) => entry.resolve(results[index]!));
    } catch (cause) {
      batch.forEach((entry) => entry.reject(cause));
    } finally {
      underWay--;
      pump();
    }
  }

  function pump(): void {
    scheduled = false;
    while (waiting.length > 0 && underWay < flushesMax) {
      underWay++;
      void run(take());
    }
    if (waiting.length === 0 && underWay === 0) {
      for (const resolve of idlers) resolve();
      idlers = [];
    }
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (scheduled || underWay >= flushesMax) return;
        scheduled = true;
        // A microtask lets everything that was asked for in the same turn share the first flush.
        queueMicrotask(pump);
      });
    },
    idle: () =>
      waiting.length === 0 && underWay === 0
        ? Promise.resolve()
        : new Promise((resolve) => idlers.push(resolve)),
  };
}
