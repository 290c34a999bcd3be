// What a worker that declares limits a tenant does beside the others: it claims within them, says which tenants fail and which are
// well again, and puts a message that is not in its tenant's group there before anything else is made of it.
import { coalescer } from "../../core/coalesce.ts";
import { toMs } from "../../core/duration.ts";
import type { Outcome } from "../../core/outcome.ts";
import { longestSleepMs } from "../../engine/wake.ts";
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import type { QueueContext } from "../client/context.ts";
import { wakeQueues } from "../client/context.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import {
  claimTenants,
  countFailures,
  forgetFailures,
  type TenantClaim,
  type TenantRequest,
} from "../store/tenant.ts";
import { healthOf, limitColumns, type TenantBreaker, type TenantOptions } from "../tenants.ts";

export interface Tenants {
  /** Claims of each tenant as many as it may have. */
  claim(sql: Pick<Sql, "run">, request: Pick<TenantRequest, "count" | "ownerId">): Promise<TenantClaim>;
  /** For how long a claim that found too few need not be repeated, unless somebody rings. */
  restMs(): number;
  /**
   * An attempt is about to end so: its failure is counted first. Were its message given back before, the next would be on its way
   * to what fails already.
   */
  failing(held: HeldMessage, outcome: Outcome): Promise<void>;
  /** An attempt has ended so, and that is written. */
  ended(held: HeldMessage, outcome: Outcome): void;
}

export interface TenantParts {
  readonly context: Pick<QueueContext, "database" | "waker" | "announce">;
  readonly log: Log;
  readonly queue: QueueRecord;
}

// What has no group was announced, or came over the wire or in SQL, and is found by a look at all that waits: as often as costs a
// tenth of the time, at least every 5 s.
const looksPerWork = 10;
const strayLookMaxMs = 5000;
const restLeastMs = 5;
// A claim sees 1,000 tenants: after so many in a row that found nothing all of them stand still, and the next rests as a look does.
const barrenMax = 10;

/** Writes down which tenants fail, and which are well again; many in one statement. Never rejects. */
function makeHealth(
  { context, log, queue }: TenantParts,
  { failures: failuresMax, standstill }: TenantBreaker,
) {
  const standstillSeconds = toMs(standstill) / 1000;
  const shared = { itemsMax: 1000, flushesMax: 1, schedule: setImmediate };

  async function stop(failures: readonly string[]): Promise<void> {
    const terms = { failuresMax, standstillSeconds, failures };
    for (const stopped of await countFailures(context.database, queue.id, terms)) {
      const fields = { queue: queue.name, ...stopped };
      queueSignals.publish("tenant.stopped", fields);
      log.warn(fields, `a tenant stands still for ${standstill}: its messages fail one after another`);
    }
  }

  async function resume(tenants: readonly string[]): Promise<void> {
    const resumed = await forgetFailures(context.database, queue.id, { tenants, failuresMax });
    for (const tenant of resumed) queueSignals.publish("tenant.resumed", { queue: queue.name, tenant });
    if (resumed.length > 0) wakeQueues(context, [queue.id]);
  }

  const noting = (note: (tenants: readonly string[]) => Promise<void>) =>
    coalescer<string, void>({
      ...shared,
      flush: async (tenants) => {
        await note(tenants).catch((cause: unknown) =>
          log.warn(
            { cause, queue: queue.name },
            "could not note how tenants are doing; the next outcome counts",
          ),
        );
        return tenants.map(() => undefined);
      },
    });
  return { stop: noting(stop), resume: noting(resume) };
}

export function makeTenants(parts: TenantParts, options: TenantOptions): Tenants {
  const limits = limitColumns(options);
  const failuresMax = options.breaker?.failures ?? null;
  const health = options.breaker && makeHealth(parts, options.breaker);
  let againMs: number | null = null;
  let strayLookAt = 0;
  /** Whether the last claim left strays out, so that one that came since the last look is still to be found. */
  let leftOut = false;
  let barren = 0;

  /** In how many ms a claim that found so much is worth another look, which itself took `tookMs`. */
  function againAfter({ messages, againMs: again }: TenantClaim, tookMs: number): number | null {
    barren = messages.length === 0 && again === 0 ? barren + 1 : 0;
    return barren > barrenMax ? looksPerWork * tookMs : again;
  }

  return {
    async claim(sql, request) {
      const begunAt = performance.now();
      const strays = begunAt >= strayLookAt;
      leftOut = !strays;
      const claimed = await claimTenants(sql, {
        ...request,
        queueId: parts.queue.id,
        limits,
        strays,
        failuresMax,
      });
      const tookMs = performance.now() - begunAt;
      againMs = againAfter(claimed, tookMs);
      if (strays) strayLookAt = begunAt + Math.min(strayLookMaxMs, looksPerWork * tookMs);
      return claimed;
    },
    restMs() {
      const lookMs = leftOut ? strayLookAt - performance.now() : longestSleepMs;
      return Math.max(restLeastMs, Math.min(againMs ?? longestSleepMs, lookMs, longestSleepMs));
    },
    async failing({ groupId }, outcome) {
      if (health && groupId !== null && healthOf(outcome) === "fails") await health.stop.add(groupId);
    },
    ended({ groupId, onTrial }, outcome) {
      if (health && onTrial && groupId !== null && healthOf(outcome) === "works")
        void health.resume.add(groupId);
    },
  };
}
