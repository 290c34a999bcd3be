// Who waits for something, and how it is woken. A wake that nobody waits for is lost on purpose: whoever begins to
// wait has looked before, with the subscription already in place.

export interface Waker {
  /** Wakes everybody who waits for the key. */
  wake(key: string): void;
  /** Wakes everybody: something may have been missed. */
  wakeAll(): void;
  /** Calls `woken` at each wake of the key until the answer is called. */
  subscribe(key: string, woken: () => void): () => void;
  /** Says that somebody sleeps on the key until the answer is called. */
  sleep(key: string): () => void;
  /** What follows the prefix in the keys that somebody sleeps on now. */
  asleep(prefix: string): string[];
}

export function makeWaker(): Waker {
  const waiting = new Map<string, Set<() => void>>();
  const sleepers = new Map<string, number>();
  return {
    wake: (key) => waiting.get(key)?.forEach((woken) => woken()),
    wakeAll: () => waiting.forEach((all) => all.forEach((woken) => woken())),
    asleep: (prefix) =>
      [...sleepers.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
    sleep(key) {
      sleepers.set(key, (sleepers.get(key) ?? 0) + 1);
      return () => {
        const left = sleepers.get(key)! - 1;
        if (left > 0) sleepers.set(key, left);
        else sleepers.delete(key);
      };
    },
    subscribe(key, woken) {
      const all = waiting.get(key) ?? new Set();
      waiting.set(key, all.add(woken));
      return () => {
        all.delete(woken);
        if (all.size === 0 && waiting.get(key) === all) waiting.delete(key);
      };
    },
  };
}

/** A wait that a wake, the time or an abort ends; `arm` before looking, then `wait`. */
export interface Bell {
  /** Resolves at the next wake since the last call, or after `ms`, or when the signal aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

const timerMaxMs = 2 ** 31 - 1;

/** The longest that anybody sleeps whom the beat wakes as well, which looks once a second. */
export const longestSleepMs = 600_000;

export function makeBell(waker: Waker, key: string): Bell {
  let rung = false;
  let resolve: (() => void) | undefined;
  const ring = () => {
    rung = true;
    resolve?.();
  };
  const unsubscribe = waker.subscribe(key, ring);
  return {
    close: unsubscribe,
    async wait(ms, signal) {
      if (!rung && !signal?.aborted && ms > 0) {
        let timer: NodeJS.Timeout | undefined;
        const awake = waker.sleep(key);
        await new Promise<void>((done) => {
          resolve = done;
          timer = setTimeout(done, Math.min(ms, timerMaxMs));
          signal?.addEventListener("abort", ring, { once: true });
        });
        awake();
        clearTimeout(timer);
        signal?.removeEventListener("abort", ring);
        resolve = undefined;
      }
      rung = false;
    },
  };
}
