// Working under a lease: it is renewed while the work goes on, and the work is told when it is lost.
import { isTuntasError } from "../../core/error.ts";
import type { Sql } from "../../pg/contract.ts";
import { ledgerErrors } from "../contract.ts";
import { ledgerSignals } from "../signals.ts";
import type { ClaimOptions, Lease, LeaseAnswer } from "./lease.ts";
import { claimLease, completeLease, heartbeatLease, releaseLease } from "./lease.ts";

export interface LeasedWork {
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  readonly lease: Lease;
}

export type LeasedAnswer<T> =
  { readonly status: "completed"; readonly result: T } | Extract<LeaseAnswer, { status: "held" }>;

/** Beats at a third of the lease; where the database cannot be reached, the lease is lost at the time it runs out. */
function keepAlive(sql: Sql, lease: Lease, lose: (cause: Error) => void): () => void {
  let heldUntil = performance.now() + lease.leaseMs;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;

  async function beat(): Promise<void> {
    const begunAt = performance.now();
    try {
      await heartbeatLease(sql, lease);
      heldUntil = begunAt + lease.leaseMs;
    } catch (cause) {
      if (isTuntasError(cause, "TUNTAS_LEASE_LOST")) return lose(cause);
    }
    if (performance.now() >= heldUntil)
      return lose(
        ledgerErrors.error(
          "TUNTAS_LEASE_LOST",
          `lease ${lease.name}: no heartbeat reached the database in time`,
        ),
      );
    arm();
  }

  function arm(): void {
    if (ended) return;
    timer = setTimeout(
      () => void beat(),
      Math.min(lease.leaseMs / 3, Math.max(0, heldUntil - performance.now())),
    );
    timer.unref();
  }

  arm();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/**
 * Runs `work` if the job is free, renewing the lease meanwhile, and stores what it returns. A job that was completed
 * answers its stored result. Errors: TUNTAS_LEASE_LOST, and whatever `work` throws (the job is then free again).
 */
export async function underLease<T>(
  sql: Sql,
  options: ClaimOptions,
  work: (leased: LeasedWork) => Promise<T>,
): Promise<LeasedAnswer<T>> {
  const claimed = await claimLease(sql, options);
  if (claimed.status === "held") return claimed;
  if (claimed.status === "completed") return { status: "completed", result: claimed.result as T };
  const { lease } = claimed;
  const loss = new AbortController();
  const stop = keepAlive(sql, lease, (cause) => {
    ledgerSignals.publish("lease.lost", { name: lease.name });
    loss.abort(cause);
  });
  try {
    const result = await work({ signal: loss.signal, lease });
    await completeLease(sql, lease, result);
    return { status: "completed", result };
  } catch (cause) {
    await releaseLease(sql, lease).catch(() => undefined);
    throw cause;
  } finally {
    stop();
  }
}
