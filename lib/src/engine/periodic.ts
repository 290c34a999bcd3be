// Work that is done again and again, soon after somebody rings for it and once in a while anyway.
import { setTimeout as sleep } from "node:timers/promises";
import type { Waker } from "./wake.ts";
import { makeBell } from "./wake.ts";

export interface PeriodicOptions {
  readonly waker: Waker;
  /** A wake of this key ends the pause. */
  readonly key: string;
  /** Does one round; answers how long the pause after it may last, in ms. */
  readonly round: () => Promise<number>;
  readonly onError: (cause: unknown) => void;
  /** Rounds are at least this far apart, however often somebody rings. */
  readonly leastMs?: number;
}

const afterErrorMs = 1000;

/** Begins at once; `close` waits for the round under way. */
export function startPeriodic({ waker, key, round, onError, leastMs = 0 }: PeriodicOptions): {
  close(): Promise<void>;
} {
  const bell = makeBell(waker, key);
  const ending = new AbortController();

  async function attempt(): Promise<number> {
    try {
      return await round();
    } catch (cause) {
      onError(cause);
      return afterErrorMs;
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const pauseMs = await attempt();
      await sleep(leastMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await bell.wait(pauseMs - leastMs, ending.signal);
    }
    bell.close();
  }

  const running = run();
  return {
    async close() {
      ending.abort();
      await running;
    },
  };
}
