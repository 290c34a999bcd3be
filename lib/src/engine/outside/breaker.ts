// One circuit breaker for one target or provider: after some failures in a row that are the other side's, calls stop,
// and after a while one of them tries whether it is back.
import { circuitBreaker, CircuitState, ConsecutiveBreaker, DelegateBackoff, handleWhen } from "cockatiel";
import { isUnavailable } from "../unavailable.ts";

export interface BreakerOptions {
  /** So many failures in a row open it. */
  readonly failures: number;
  /** The first trial comes after this long; each failed trial doubles it, up to `trialMaxMs`. */
  readonly trialMs: number;
  readonly trialMaxMs: number;
}

export const defaultBreaker: BreakerOptions = { failures: 5, trialMs: 1000, trialMaxMs: 30_000 };

export interface Breaker {
  /** Runs the call, or rejects with a BrokenCircuitError without calling. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** How many calls it would let through now: none while open, one as a trial, else any number. */
  admits(): number;
  /** Lets no call through for so long: the other side has asked for it. */
  rest(ms: number): void;
}

export function makeBreaker({ failures, trialMs, trialMaxMs }: BreakerOptions = defaultBreaker): Breaker {
  let [trials, waitMs, openedAt, restsUntil] = [0, 0, 0, 0];
  const policy = circuitBreaker(handleWhen(isUnavailable), {
    breaker: new ConsecutiveBreaker(failures),
    // What is admitted may not be refused, so there is one time to wait, and none that the policy draws by itself.
    halfOpenAfter: new DelegateBackoff(() => (waitMs = Math.min(trialMaxMs, trialMs * 2 ** trials++))),
  });
  // By the policy's own clock.
  policy.onBreak(() => (openedAt = Date.now()));
  policy.onReset(() => (trials = 0));
  return {
    run: (call) => policy.execute(call),
    admits() {
      if (Date.now() < restsUntil) return 0;
      if (policy.state === CircuitState.Closed) return Infinity;
      return Date.now() - openedAt >= waitMs ? 1 : 0;
    },
    rest(ms) {
      restsUntil = Math.max(restsUntil, Date.now() + ms);
    },
  };
}
