// A provider as it is declared, with what guards it in all processes: a circuit breaker and a rate limit.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import { toMs } from "../../core/duration.ts";
import { defaultBreaker } from "../../engine/outside/breaker.ts";
import type { ProviderOptions } from "./contract.ts";
import { makeSharedBreaker, type SharedBreaker } from "./shared-breaker.ts";
import { makeSharedLimit, type SharedLimit } from "./shared-limit.ts";

export interface Provider {
  readonly kind: "provider";
  readonly options: ProviderOptions;
  readonly timeoutMs: number;
  readonly arrivesWithinMs: number;
  readonly breaker: SharedBreaker;
  /** Undefined where nothing limits the calls. */
  readonly limit: SharedLimit | undefined;
}

const optionNames: NamesOf<ProviderOptions> = {
  name: true,
  timeout: true,
  reconcile: true,
  arrivesWithin: true,
  callsPerSecond: true,
  breakerFailures: true,
};

/** Declares a provider: every operation says how an unknown call is cleared up, or that a person does it. */
export function provider(options: ProviderOptions): Provider {
  refuseUnknown("provider", options, optionNames);
  const { name, callsPerSecond, breakerFailures: failures = defaultBreaker.failures } = options;
  const timeoutMs = toMs(options.timeout);
  const arrivesWithinMs = options.arrivesWithin === undefined ? 2 * timeoutMs : toMs(options.arrivesWithin);
  return {
    kind: "provider",
    options,
    timeoutMs,
    arrivesWithinMs,
    breaker: makeSharedBreaker({ name, failures, timeoutMs }),
    limit: callsPerSecond === undefined ? undefined : makeSharedLimit(name, callsPerSecond),
  };
}
