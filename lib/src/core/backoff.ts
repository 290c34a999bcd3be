// How long to wait before the next try: exponential, capped, with full jitter, so that many failures at one moment do
// not come back at one moment. The random number comes in, which keeps this pure.

export interface Backoff {
  /** The wait before the second try, in ms, before jitter. */
  readonly baseMs: number;
  /** No wait is longer, however many tries there were. */
  readonly maxMs: number;
}

export const defaultBackoff: Backoff = { baseMs: 1000, maxMs: 300_000 };

/** The wait after the `attempt`-th failed try (1, 2, …): between half of the exponential step and all of it. */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  const step = Math.min(backoff.maxMs, backoff.baseMs * 2 ** Math.min(attempt - 1, 40));
  return Math.round(step * (0.5 + random / 2));
}
