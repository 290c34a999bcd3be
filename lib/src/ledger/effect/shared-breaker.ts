// One circuit breaker for a provider, of all processes. Each counts the failures that it sees in a row; the first to have
// enough of them has the provider left alone by all. When that is over, one call of one process tries whether it is back.
// The database is asked at most once a second while calls are made, and not at all in between.
import { defaultBreaker } from "../../engine/outside/breaker.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import type { Runner } from "../../pg/join.ts";
import { claimTrial, closeProvider, openProvider, readOpenMs } from "./guard-store.ts";

/** Leave for one call. */
export interface Leave {
  /** On its outcome it depends whether the provider is back. */
  readonly trial: boolean;
}

export interface SharedBreaker {
  /** Undefined while the provider is left alone. */
  enter(sql: Runner): Promise<Leave | undefined>;
  run<T>(sql: Runner, leave: Leave, call: () => Promise<T>): Promise<T>;
}

export interface SharedBreakerOptions {
  readonly name: string;
  readonly failures: number;
  /** How long a trial may take. */
  readonly timeoutMs: number;
}

const lookEveryMs = 1000;
const { trialMs, trialMaxMs } = defaultBreaker;

export function makeSharedBreaker({ name, failures, timeoutMs }: SharedBreakerOptions): SharedBreaker {
  let inARow = 0;
  let lookAtMs = 0;
  let openUntilMs: number | null = null;
  let looking: Promise<void> | undefined;

  function note(openMs: number | null): void {
    const nowMs = performance.now();
    lookAtMs = nowMs + lookEveryMs;
    openUntilMs = openMs === null ? null : nowMs + openMs;
  }

  const look = (sql: Runner): Promise<void> =>
    (looking ??= readOpenMs(sql, name)
      .then(note)
      .finally(() => (looking = undefined)));

  /** What the others are told must not change what the call came to. */
  const tell = (telling: Promise<unknown>): Promise<unknown> => telling.catch(() => undefined);

  async function leaveAlone(sql: Runner, afterTrial: boolean): Promise<void> {
    inARow = 0;
    await openProvider(sql, { name, trialMs, trialMaxMs, afterTrial });
    await look(sql);
  }

  async function isBack(sql: Runner): Promise<void> {
    await closeProvider(sql, name);
    note(null);
  }

  /** An answer, if not the one that was hoped for, says that the provider is there. */
  async function answered(sql: Runner, { trial }: Leave): Promise<void> {
    inARow = 0;
    if (trial) await tell(isBack(sql));
  }

  async function failed(sql: Runner, { trial }: Leave): Promise<void> {
    if (trial || ++inARow >= failures) await tell(leaveAlone(sql, trial));
  }

  async function tryIt(sql: Runner): Promise<Leave | undefined> {
    const isOurs = await claimTrial(sql, name, timeoutMs);
    note(timeoutMs);
    return isOurs ? { trial: true } : undefined;
  }

  return {
    async enter(sql) {
      if (performance.now() >= lookAtMs) await look(sql);
      if (openUntilMs === null) return { trial: false };
      return openUntilMs <= performance.now() ? tryIt(sql) : undefined;
    },
    async run(sql, leave, call) {
      try {
        const result = await call();
        await answered(sql, leave);
        return result;
      } catch (cause) {
        await (isUnavailable(cause) ? failed : answered)(sql, leave);
        throw cause;
      }
    },
  };
}
