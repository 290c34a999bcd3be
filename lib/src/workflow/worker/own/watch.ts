// Looks over what runs: attempts that take too long are ended, the start of those that last is written down.
import type { Attempt } from "./attempt.ts";

export interface Watch {
  add(attempt: Attempt): void;
  remove(attempt: Attempt): void;
  close(): void;
}

/** The result of a short step implies its start; that of a long one is written down, for whoever looks meanwhile. */
const lastingMs = 500;

export function makeWatch(note: (attempt: Attempt) => void): Watch {
  const all = new Set<Attempt>();
  let ticker: NodeJS.Timeout | undefined;

  function close(): void {
    clearInterval(ticker);
    ticker = undefined;
  }

  function lookOver(): void {
    if (all.size === 0) return close();
    const nowMs = performance.now();
    for (const attempt of all) {
      if (attempt.deadlineMs < nowMs) attempt.expire();
      else if (!attempt.noted && attempt.begunAtMs < nowMs - lastingMs) {
        attempt.noted = true;
        note(attempt);
      }
    }
  }

  return {
    close,
    /** Most are over long before their time: only short times have a timer of their own. */
    add(attempt) {
      all.add(attempt);
      ticker ??= setInterval(lookOver, lastingMs).unref();
      const leftMs = attempt.deadlineMs - attempt.begunAtMs;
      if (leftMs >= 10 * lastingMs) return;
      const timer = setTimeout(() => attempt.expire(), leftMs);
      void attempt.ended.then(() => clearTimeout(timer));
    },
    remove: (attempt) => void all.delete(attempt),
  };
}
