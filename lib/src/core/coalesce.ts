// Sharing commits is the whole art of speed here: what many callers ask for while one statement is on its way goes
// into the next one together. Each caller is told about its own item only, after the commit.

export interface GatherOptions<Item> {
  /** Handles all items in one go, and tells whoever waits for them. Never rejects. */
  readonly flush: (items: readonly Item[]) => Promise<void>;
  /** The most items of one flush. */
  readonly itemsMax: number;
  /** The most flushes under way at a time. */
  readonly flushesMax: number;
  /** Costs at most this much in one flush (bytes, say), as `cost` counts; a single dearer item goes alone. */
  readonly costMax?: number;
  readonly cost?: (item: Item) => number;
  /**
   * When the first flush after a rest begins, where it does not linger. A microtask, by default: what was asked for at the same moment shares it.
   * `setImmediate` lets the whole turn of the event loop share it.
   */
  readonly schedule?: (begin: () => void) => void;
  /** How a flush waits for more where more comes turn by turn; where it does not, nothing waits. */
  readonly linger?: Linger;
}

/**
 * A server reads a request or two a turn of its event loop, so a flush after each turn would be a small one: where eight
 * are on their way, a flush of the first costs the other seven most of a round trip. Whether it is worth it is found out
 * by trying now and then: callers who all go on at the same moment gain nothing by it.
 */
export interface Linger {
  /** Comes back at the next turn: `setImmediate`. */
  readonly turn: (next: () => void) => void;
  /** So many turns at most. */
  readonly turnsMax: number;
  /** Ends at so many turns that brought nothing. */
  readonly emptyMax: number;
  /** Ends at so much, as `cost` counts (items, without it): then the database has enough to do while the next gather. */
  readonly enough: number;
}

// How many flushes linger after one that gained by it, and how seldom one tries where none gained.
const [lingersAfterGain, lingersOnceIn] = [16, 16];

export interface Gatherer<Item> {
  add(item: Item): void;
  /** Resolves once nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

function makeLingering<Item>({ turn, turnsMax, emptyMax, enough }: Linger, cost: (item: Item) => number) {
  let flushes = 0;
  let credit = 0;

  function isEnough(waiting: readonly Item[]): boolean {
    let sum = 0;
    return waiting.some((item) => (sum += cost(item)) >= enough);
  }

  return {
    isWorthIt: () => credit > 0 || flushes++ % lingersOnceIn === 0,
    /** Looks at what waits turn by turn, then ends. */
    begin(waiting: () => readonly Item[], end: () => void): void {
      let [turns, empty, first, seen] = [0, 0, 0, 0];
      const look = () => {
        const { length } = waiting();
        if (turns === 0) first = length;
        else if (length === seen) empty++;
        if (turns++ < turnsMax && empty <= emptyMax && !isEnough(waiting())) {
          seen = length;
          return turn(look);
        }
        credit = length > first ? lingersAfterGain : credit - 1;
        end();
      };
      turn(look);
    },
  };
}

/** Gathers items into shared flushes, without a promise for each. */
export function gatherer<Item>(options: GatherOptions<Item>): Gatherer<Item> {
  const { flush, itemsMax, flushesMax, costMax = Infinity, cost, schedule = queueMicrotask } = options;
  let waiting: Item[] = [];
  let underWay = 0;
  let scheduled = false;
  let idlers: (() => void)[] = [];
  const lingering = options.linger && makeLingering<Item>(options.linger, cost ?? (() => 1));

  /** How many of those that wait go into the next flush. */
  function countNext(): number {
    const most = Math.min(waiting.length, itemsMax);
    if (!cost) return most;
    let sum = 0;
    for (let count = 0; count < most; count++) {
      sum += cost(waiting[count]!);
      if (sum > costMax && count > 0) return count;
    }
    return most;
  }

  async function run(items: readonly Item[]): Promise<void> {
    try {
      await flush(items);
    } finally {
      underWay--;
      if (!scheduled) pump();
    }
  }

  function pump(): void {
    scheduled = false;
    while (waiting.length > 0 && underWay < flushesMax) {
      underWay++;
      void run(waiting.splice(0, countNext()));
    }
    if (waiting.length === 0 && underWay === 0) {
      for (const resolve of idlers) resolve();
      idlers = [];
    }
  }

  return {
    add(item) {
      waiting.push(item);
      if (scheduled || underWay >= flushesMax) return;
      scheduled = true;
      if (lingering?.isWorthIt()) lingering.begin(() => waiting, pump);
      else schedule(pump);
    },
    idle: () =>
      waiting.length === 0 && underWay === 0
        ? Promise.resolve()
        : new Promise((resolve) => idlers.push(resolve)),
  };
}

export interface CoalesceOptions<Item, Result> extends Omit<GatherOptions<never>, "flush" | "cost"> {
  /** Handles all items in one go and answers one result per item, in their order; an error is its own caller's alone. */
  readonly flush: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
  readonly cost?: (item: Item) => number;
}

export interface Coalescer<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves once nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (cause: unknown) => void;
}

function settle<Result>(
  { resolve, reject }: Omit<Waiting<unknown, Result>, "item">,
  result: Result | Error,
): void {
  if (result instanceof Error) reject(result);
  else resolve(result);
}

/** Gathers items into shared flushes; each caller gets a promise for the result of its own. */
export function coalescer<Item, Result>(options: CoalesceOptions<Item, Result>): Coalescer<Item, Result> {
  const { flush, cost, ...limits } = options;

  async function flushAll(entries: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await flush(entries.map((entry) => entry.item));
      entries.forEach((entry, index) => settle(entry, results[index]!));
    } catch (cause) {
      entries.forEach((entry) => entry.reject(cause));
    }
  }

  const gathered = gatherer<Waiting<Item, Result>>({
    ...limits,
    flush: flushAll,
    ...(cost && { cost: ({ item }: Waiting<Item, Result>) => cost(item) }),
  });
  return {
    add: (item) => new Promise((resolve, reject) => gathered.add({ item, resolve, reject })),
    idle: gathered.idle,
  };
}
