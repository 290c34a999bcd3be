// Tries a call again where the other side could not answer, as long as tries are few beside calls. When it is down, every
// call would want another try, and they would together be the load that keeps it down: the budget ends that.
import { setTimeout as sleep } from "node:timers/promises";
import { BrokenCircuitError } from "cockatiel";
import { backoffMs, type Backoff } from "../../core/backoff.ts";
import { isUnavailable } from "../unavailable.ts";

export interface RetryOptions {
  /** Calls in all, the first one included. */
  readonly attempts: number;
  /** Further tries for each call, over time; 0.1 by default: one in ten. */
  readonly share?: number;
}

/** A quiet while earns no more tries than these. */
const savedMax = 10;
const backoff: Backoff = { baseMs: 100, maxMs: 2000 };

export type Retrying = <T>(call: () => Promise<T>) => Promise<T>;

export function makeRetrying({ attempts, share = 0.1 }: RetryOptions): Retrying {
  let saved = savedMax;

  /** Whether this failure deserves a further try, which is then paid for. */
  function mayTry(cause: unknown, made: number): boolean {
    // An open circuit stays open for longer than any backoff here.
    if (made >= attempts || saved < 1 || cause instanceof BrokenCircuitError || !isUnavailable(cause))
      return false;
    saved--;
    return true;
  }

  return async (call) => {
    saved = Math.min(savedMax, saved + share);
    for (let made = 1; ; made++) {
      try {
        return await call();
      } catch (cause) {
        if (!mayTry(cause, made)) throw cause;
        await sleep(backoffMs(backoff, made, Math.random()));
      }
    }
  };
}
