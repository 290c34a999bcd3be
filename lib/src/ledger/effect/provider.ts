// A provider as it is declared, with what guards it in this process: a circuit breaker and a rate limit.
import { setTimeout as sleep } from "node:timers/promises";
import { toMs } from "../../core/duration.ts";
import { defaultBreaker, makeBreaker } from "../../engine/outside/breaker.ts";
import { ledgerErrors } from "../contract.ts";
import type { ProviderOptions } from "./contract.ts";
import { takeCall } from "./state.ts";

export interface Provider {
  readonly kind: "provider";
  readonly options: ProviderOptions;
  readonly timeoutMs: number;
  readonly arrivesWithinMs: number;
  /** Whether the breaker lets a call through now. */
  readonly admits: () => boolean;
  /** Waits for the rate limit's leave, for at most `waitMaxMs`. Errors: TUNTAS_EFFECT_THROTTLED. */
  readonly throttle: (waitMaxMs: number) => Promise<void>;
  readonly guarded: <T>(call: () => Promise<T>) => Promise<T>;
}

/** Declares a provider: every operation says how an unknown call is cleared up, or that a person does it. */
export function provider(options: ProviderOptions): Provider {
  const { name, callsPerSecond } = options;
  const breaker = makeBreaker({
    ...defaultBreaker,
    failures: options.breakerFailures ?? defaultBreaker.failures,
  });
  let bucket = { calls: callsPerSecond ?? 0, atMs: performance.now() };

  async function throttle(waitMaxMs: number): Promise<void> {
    if (callsPerSecond === undefined) return;
    const taken = takeCall(bucket, performance.now(), callsPerSecond);
    if (taken.waitMs > waitMaxMs) {
      const message = `provider ${name}: expected room within ${Math.round(waitMaxMs)} ms at ${callsPerSecond} calls a second, got ${Math.round(taken.waitMs)} ms to wait`;
      throw ledgerErrors.error("TUNTAS_EFFECT_THROTTLED", message);
    }
    bucket = taken.bucket;
    if (taken.waitMs > 0) await sleep(taken.waitMs);
  }

  const timeoutMs = toMs(options.timeout, `provider ${JSON.stringify(options.name)}: timeout`);
  const arrivesWithinMs =
    options.arrivesWithin === undefined
      ? 2 * timeoutMs
      : toMs(options.arrivesWithin, `provider ${JSON.stringify(options.name)}: arrivesWithin`);
  return {
    kind: "provider",
    options,
    timeoutMs,
    arrivesWithinMs,
    admits: () => breaker.admits() > 0,
    throttle,
    guarded: breaker.run,
  };
}
