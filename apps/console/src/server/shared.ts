// One look at the database for all who watch. An answer serves everybody until it is old; how soon that is follows from
// what it cost and from how many different looks there are, so that all of them together never take more than a
// thirtieth of the time: each of N looks of C ms is repeated after 30 × N × C ms at the earliest. C is the least of its last
// three, since a machine that is busy with something else (a start, say) makes a look seem dear that is not.

export interface Shared {
  /** The answer under this key, and how old it is. `read` is asked at most once at a time. */
  get<T>(key: string, read: () => Promise<T>): Promise<{ readonly value: T; readonly ageMs: number }>;
  /** Forgets everything: somebody has changed something. */
  forget(): void;
}

interface Entry {
  readonly answer: Promise<unknown>;
  readAt: number;
  /** Before this moment nobody reads again. */
  freshUntil: number;
}

const freshMs = 1000;
/** A look that nobody has asked for in this time does not count any more. */
const watchedMs = 60_000;
const costShare = 30;
/** So often is it measured before it is believed. */
const costsKept = 3;
const entriesMax = 300;
// Reads of the console run beside the engine's own statements, on the same connections.
const readsAtOnce = 2;

export function makeShared(clock: () => number = () => performance.now()): Shared {
  const entries = new Map<string, Entry>();
  const costs = new Map<string, readonly number[]>();
  const inTurn = atMost(readsAtOnce);

  const watched = (): number =>
    [...entries.values()].filter(({ readAt }) => readAt > clock() - watchedMs).length;

  /** Notes what a look cost, and says how long its answer may serve. */
  function serveMs(key: string, cost: number): number {
    const known = [...(costs.get(key) ?? []), cost].slice(-costsKept);
    costs.delete(key);
    costs.set(key, known);
    for (const oldest of costs.keys()) if (costs.size > entriesMax) costs.delete(oldest);
    return known.length < costsKept ? freshMs : Math.max(freshMs, Math.min(...known) * costShare * watched());
  }

  function begin(key: string, read: () => Promise<unknown>): Entry {
    const entry: Entry = {
      answer: inTurn(async () => {
        const begun = clock();
        const value = await read();
        entry.readAt = begun;
        entry.freshUntil = clock() + serveMs(key, clock() - begun);
        return value;
      }),
      readAt: clock(),
      freshUntil: Infinity,
    };
    entry.answer.catch(() => entries.get(key) === entry && entries.delete(key));
    entries.delete(key);
    entries.set(key, entry);
    for (const oldest of entries.keys()) if (entries.size > entriesMax) entries.delete(oldest);
    return entry;
  }

  return {
    async get<T>(key: string, read: () => Promise<T>) {
      const known = entries.get(key);
      const entry = known && known.freshUntil > clock() ? known : begin(key, read);
      const value = (await entry.answer) as T;
      return { value, ageMs: Math.max(0, clock() - entry.readAt) };
    },
    forget: () => entries.clear(),
  };
}

/** Runs what it is given, so many at once at most; the others wait their turn. */
export function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
