// How much a worker holds ahead of its handlers: enough to keep them busy for 100 ms at the present pace, so that fast
// work never waits for a claim and slow work is not hoarded; and no more than may run while the database is slow.
import type { Ease } from "../../engine/handler/ease.ts";

export const concurrencyDefault = 16;

export interface Pace {
  /** A handler has ended. */
  ended(): void;
  /** How many messages to hold from this claim on, running ones included. */
  target(): number;
  /** Whether so many held are few enough to claim again: a claim is a commit, so not at each message. */
  isLow(held: number): boolean;
}

const busyMs = 100;
const aheadMax = 1000;

export function makePace(
  ease: Pick<Ease, "places" | "isEased">,
  capped: boolean,
  now: () => number = () => performance.now(),
): Pace {
  const concurrency = ease.places();
  let claimedAt = now();
  let ended = 0;
  // Where the whole queue has a cap, what one process holds others may not run.
  const least = capped ? 0 : concurrency;
  let ahead = least;
  return {
    ended: () => void ended++,
    target() {
      if (ease.isEased()) return ease.places();
      const sinceMs = now() - claimedAt;
      // Two claims that are asked for together have one pace.
      if (sinceMs < 1) return concurrency + ahead;
      const perMs = ended / sinceMs;
      const enough = Math.ceil(Math.max(perMs * busyMs, ahead / 2));
      ahead = enough < concurrency ? least : Math.min(aheadMax, enough);
      claimedAt = now();
      ended = 0;
      return concurrency + ahead;
    },
    isLow: (held) => (ease.isEased() ? held < ease.places() : held <= (concurrency + ahead) / 2),
  };
}
