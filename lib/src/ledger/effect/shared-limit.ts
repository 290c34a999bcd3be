// One rate limit for a provider, of all processes. A process takes calls for about a second at a time, as many as it made
// in the second before, so that the database is asked about once a second; what it does not use is lost to all.
import { setTimeout as sleep } from "node:timers/promises";
import type { Runner } from "../../pg/join.ts";
import { ledgerErrors } from "../contract.ts";
import { takeCalls } from "./guard-store.ts";
import { waitOfMs } from "./state.ts";

export interface SharedLimit {
  /** Waits for leave to make one call, for at most so long. Errors: TUNTAS_EFFECT_THROTTLED. */
  throttle(sql: Runner, waitMaxMs: number): Promise<void>;
}

/** Calls that were taken together. */
interface Batch {
  /** How many there were when they were taken. */
  readonly before: number;
  readonly count: number;
  readonly takenAtMs: number;
  used: number;
}

const keptMs = 1000;
const windowMs = 1000;

export function makeSharedLimit(name: string, perSecond: number): SharedLimit {
  let batch: Batch | undefined;
  let taking: Promise<void> | undefined;
  let waiting = 0;
  let window = { sinceMs: 0, calls: 0, before: 0 };

  /** Counts a call; a second and the one before are remembered. */
  function count(): void {
    const nowMs = performance.now();
    const agoMs = nowMs - window.sinceMs;
    if (agoMs >= windowMs)
      window = { sinceMs: nowMs, calls: 0, before: agoMs < 2 * windowMs ? window.calls : 0 };
    window.calls++;
  }

  /** How many calls a second there were lately. */
  const demand = (): number => Math.min(Math.ceil(perSecond), Math.max(window.calls, window.before));

  const isSpent = (): boolean =>
    !batch || batch.used >= batch.count || performance.now() > batch.takenAtMs + lastWaitMs(batch) + keptMs;

  const lastWaitMs = ({ before, count }: Batch): number => waitOfMs(count, before, perSecond);

  async function take(sql: Runner): Promise<void> {
    const calls = Math.max(waiting, demand());
    const before = await takeCalls(sql, name, { perSecond, count: calls });
    batch = { before, count: calls, takenAtMs: performance.now(), used: 0 };
  }

  /** The wait for the next call of the batch, counted from now. */
  function nextWaitMs({ before, used, takenAtMs }: Batch): number {
    return Math.max(0, takenAtMs + waitOfMs(used + 1, before, perSecond) - performance.now());
  }

  async function nextCall(sql: Runner): Promise<Batch> {
    waiting++;
    try {
      while (isSpent()) await (taking ??= take(sql).finally(() => (taking = undefined)));
      return batch!;
    } finally {
      waiting--;
    }
  }

  return {
    async throttle(sql, waitMaxMs) {
      const from = await nextCall(sql);
      const waitMs = nextWaitMs(from);
      if (waitMs > waitMaxMs) {
        const message = `provider ${name}: expected room within ${Math.round(waitMaxMs)} ms at ${perSecond} calls a second of all processes, got ${Math.round(waitMs)} ms to wait`;
        throw ledgerErrors.error("TUNTAS_EFFECT_THROTTLED", message);
      }
      from.used++;
      count();
      if (waitMs > 0) await sleep(waitMs);
    },
  };
}
