// What the ledger does by the clock, in every process that has a platform: expire reservations and tell their owners,
// clear up calls whose answer was lost, run the reconciliations that are due. Whoever looks first does it; the others find nothing.
import type { Log } from "../engine/log.ts";
import { workAgendum, type Agendum } from "../engine/agenda.ts";
import { startPeriodic } from "../engine/periodic.ts";
import type { Waker } from "../engine/wake.ts";
import type { Sql } from "../pg/contract.ts";
import type { Provider } from "./effect/provider.ts";
import { reconcileEffects } from "./effect/reconcile.ts";
import type { Reconciliation } from "./reconcile/contract.ts";
import { makeRegistry } from "./reconcile/registry.ts";
import type { Announce } from "./reservation/sweep.ts";
import { overdueEffects } from "./effect/store.ts";
import { overdueReservations } from "./reservation/store.ts";
import { sweepReservations } from "./reservation/sweep.ts";

export interface LedgerServiceOptions {
  readonly database: Sql;
  readonly waker: Waker;
  readonly log: Pick<Log, "warn">;
  readonly announce: Announce;
}

export interface LedgerService {
  /** What it asks at each beat. */
  readonly agenda: readonly Agendum[];
  /** Has the provider asked about unknown calls from now on. Answers what ends it. */
  watch(provider: Provider): () => void;
  /** Has each of them run on its period, in one process of all. Answers what ends it. */
  register(declared: readonly Reconciliation[]): Promise<() => void>;
  close(): Promise<void>;
}

const key = "ledger";

const leastMs = 1000;
/** A provider that could not say is asked again after this long. */
const askAgainMs = 5000;

export function startLedger({ database, waker, log, announce }: LedgerServiceOptions): LedgerService {
  const providers = new Set<Provider>();
  let askedAt = -Infinity;
  const registry = makeRegistry(database, (cause) => log.warn({ cause }, "a reconciliation failed"));
  const onError = (cause: unknown) =>
    log.warn({ cause }, "the ledger's sweep failed and will be tried again");

  async function round(): Promise<number> {
    await sweepReservations(database, announce);
    if (performance.now() - askedAt >= askAgainMs) {
      askedAt = performance.now();
      await reconcileEffects(database, [...providers], onError);
    }
    await registry.look();
    return registry.nextLookMs();
  }

  const wake = () => waker.wake(key);
  const periodic = startPeriodic({ waker, key, round, onError, leastMs });
  return {
    agenda: [
      workAgendum(overdueReservations, wake),
      workAgendum(overdueEffects, wake),
      {
        ask: `exists (select from tuntas.side_effect where state = 'unknown' and provider = any($given))`,
        given: { type: "text[]", read: () => [...providers].map(({ options }) => options.name) },
        hear: (unknown) => unknown === true && wake(),
      },
    ],
    watch(provider) {
      providers.add(provider);
      return () => providers.delete(provider);
    },
    async register(declared) {
      const end = await registry.register(declared);
      if (declared.length > 0) wake();
      return end;
    },
    async close() {
      await periodic.close();
      await registry.idle();
    },
  };
}
