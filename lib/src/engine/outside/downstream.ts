// Guards something outside that can be slow, crowded or away: at most so many calls at once, none that takes for ever,
// and none at all for a while after it has failed several times in a row. What is refused is refused with a coded,
// retryable error, so that a worker tries the message again later while other work flows.
import { declaring } from "../../core/place.ts";
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import {
  BrokenCircuitError,
  bulkhead,
  BulkheadRejectedError,
  timeout,
  TaskCancelledError,
  TimeoutStrategy,
} from "cockatiel";
import { catalogue } from "../../core/error.ts";
import { toMs, type Duration } from "../../core/duration.ts";
import { noteCall } from "../handler/replay.ts";
import { defaultBreaker, makeBreaker, type BreakerOptions } from "./breaker.ts";
import { downstreamSignals } from "./signals.ts";
import { makeRetrying, type RetryOptions } from "./retry-budget.ts";

export const downstreamErrors = catalogue({
  TUNTAS_DOWNSTREAM_OPEN: {
    meaning: "A downstream failed several times in a row and is left alone for a while.",
    remedy: "Nothing to do: one call tries again after a while. See its health, not ours.",
    retryable: true,
  },
  TUNTAS_DOWNSTREAM_FULL: {
    meaning: "As many calls as a downstream may have are under way, and as many as may wait are waiting.",
    remedy: "The call may be tried again; raise `concurrency` or `waiting` if the downstream can take more.",
    retryable: true,
  },
  TUNTAS_DOWNSTREAM_TIMEOUT: {
    meaning: "A call to a downstream took longer than its timeout.",
    remedy:
      "Whether it took effect is not known; call again only what may be repeated. Pass `signal` on to the client.",
    retryable: true,
  },
});

export interface DownstreamOptions {
  /** Calls under way at once, in this process. */
  readonly concurrency: number;
  /** Calls that may wait for a place; unlimited by default, since a worker's concurrency bounds them already. */
  readonly waiting?: number;
  /** A call that takes longer fails, and its signal aborts. */
  readonly timeout: Duration;
  /** When to leave it alone; five failures in a row and then 1 s to 30 s by default. Only failures of the other side count. */
  readonly breaker?: Partial<BreakerOptions>;
  /** Only where a call may be made twice. None by default: a queue's worker tries the whole message again. */
  readonly retry?: RetryOptions;
}

export interface Downstream {
  readonly name: string;
  /** Makes the call when there is room. Errors: TUNTAS_DOWNSTREAM_OPEN, TUNTAS_DOWNSTREAM_FULL, TUNTAS_DOWNSTREAM_TIMEOUT, the call's own. */
  call<T>(work: (signal: AbortSignal) => Promise<T> | T): Promise<T>;
  /** For metrics. */
  state(): DownstreamState;
}

export interface DownstreamState {
  readonly running: number;
  readonly waiting: number;
  /** `open`: left alone; `trying`: one call may see whether it is back. */
  readonly circuit: "closed" | "open" | "trying";
}

const optionNames: NamesOf<DownstreamOptions> = {
  concurrency: true,
  waiting: true,
  timeout: true,
  breaker: { failures: true, trialMs: true, trialMaxMs: true },
  retry: { attempts: true, share: true },
};

function declareDownstream(name: string, options: DownstreamOptions): Downstream {
  refuseUnknown(`downstream ${JSON.stringify(name)}`, options, optionNames);
  const waitingMax = options.waiting ?? Number.MAX_SAFE_INTEGER;
  const places = bulkhead(options.concurrency, waitingMax);
  const clock = timeout(
    toMs(options.timeout, `downstream ${JSON.stringify(name)}: timeout`),
    TimeoutStrategy.Aggressive,
  );
  const breaker = makeBreaker({ ...defaultBreaker, ...options.breaker });
  const retrying = makeRetrying(options.retry ?? { attempts: 1 });

  const late = (cause: unknown) =>
    downstreamErrors.error("TUNTAS_DOWNSTREAM_TIMEOUT", `${name} took longer than ${options.timeout}`, {
      cause,
    });

  const tell = (outcome: string, durationMs = 0) =>
    downstreamSignals.publish("downstream.called", { downstream: name, outcome, durationMs });

  async function timed<T>(work: (signal: AbortSignal) => Promise<T> | T): Promise<T> {
    const begunAt = performance.now();
    let outcome = "failed";
    try {
      const result = await clock.execute(({ signal }) => work(signal));
      outcome = "ok";
      return result;
    } catch (cause) {
      if (!(cause instanceof TaskCancelledError)) throw cause;
      outcome = "timeout";
      throw late(cause);
    } finally {
      const tookMs = performance.now() - begunAt;
      noteCall(tookMs);
      tell(outcome, tookMs);
    }
  }

  function coded(cause: unknown): unknown {
    if (cause instanceof BrokenCircuitError) {
      tell("open");
      return downstreamErrors.error(
        "TUNTAS_DOWNSTREAM_OPEN",
        `${name} is left alone after failures in a row`,
        { cause },
      );
    }
    if (cause instanceof BulkheadRejectedError) {
      tell("full");
      return downstreamErrors.error(
        "TUNTAS_DOWNSTREAM_FULL",
        `${name} has ${options.concurrency} calls under way and ${waitingMax} waiting`,
        { cause },
      );
    }
    return cause;
  }

  return {
    name,
    async call(work) {
      try {
        // The breaker stands inside: a call that waited for its place asks it when its turn has come. It is bound, since
        // whoever leaves a place runs the next call, which is not to be taken for his own.
        return await places.execute(
          AsyncLocalStorage.bind(() => retrying(() => breaker.run(() => timed(work)))),
        );
      } catch (cause) {
        throw coded(cause);
      }
    },
    state() {
      const admits = breaker.admits();
      return {
        running: options.concurrency - places.executionSlots,
        waiting: waitingMax - places.queueSlots,
        circuit: admits === Infinity ? "closed" : admits === 0 ? "open" : "trying",
      };
    },
  };
}

/** Declares a downstream; one value for each, shared by all who call it. */
export const downstream = declaring(declareDownstream);
