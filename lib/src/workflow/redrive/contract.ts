// What an operator sees before a redrive: everything that the failed execution has left behind, and what that means.
import { catalogue } from "../../core/error.ts";
import type { Queryable } from "../../pg/contract.ts";
import type { Approval } from "../approval/contract.ts";
import type { ExecutionRecord } from "../contract.ts";

/** The domain's own word on what the execution is about. */
export interface DomainRow {
  readonly status: string;
  readonly [field: string]: unknown;
}

/** How a workflow shows the domain row that it works on. */
export interface DomainView {
  /** The row's key, out of the execution's input. */
  readonly key: (input: any) => string;
  /** The row as it is now; undefined where there is none. */
  readonly read: (sql: Queryable, key: string) => Promise<DomainRow | undefined>;
  /** By state: the statuses that the row may have when that state begins. */
  readonly statuses?: Readonly<Record<string, readonly string[]>>;
  /** Statuses after which nothing may happen to the row any more. */
  readonly final?: readonly string[];
}

export type Verdict = "safe" | "reconcile first" | "forbidden";

export type Subject =
  "execution" | "domain" | "command" | "outbox" | "side effect" | "reservation" | "approval";

/** One reason for or against. */
export interface Finding {
  readonly verdict: Verdict;
  readonly about: Subject;
  readonly message: string;
  /** What to do about it; undefined where nothing need be done. */
  readonly remedy?: string;
  /** True where an operator's word cannot replace the facts. */
  readonly binding?: true;
}

export interface HaltedState {
  readonly state: string;
  readonly attempts: number;
  /** Whether it stood at a task, so that its token is void and a redrive makes a new one. */
  readonly atTask: boolean;
}

export interface CommandFact {
  readonly key: string;
  readonly outcome: string;
  readonly result: string | null;
  readonly createdAtMs: number;
}

export interface OutboxFact {
  readonly id: string;
  readonly target: string;
  readonly key: string | null;
  readonly type: string | null;
  readonly state: "waiting" | "parked" | "published";
  readonly failure: string | null;
  readonly createdAtMs: number;
}

export interface EffectFact {
  readonly id: string;
  readonly provider: string;
  readonly operation: string;
  readonly key: string;
  readonly state: "pending" | "succeeded" | "failed" | "unknown";
  readonly final: boolean;
  readonly overdue: boolean;
  readonly reference: string | null;
  readonly calls: number;
}

export interface ReservationFact {
  readonly id: string;
  readonly kind: string;
  readonly resource: string;
  readonly holder: string;
  readonly state: "reserved" | "confirmed" | "released" | "expired";
  readonly expiresAtMs: number;
}

export type DomainFact =
  | { readonly known: "none declared" }
  /** Its application does not run in this process. */
  | { readonly known: "not read here" }
  | { readonly known: "read"; readonly key: string; readonly row: DomainRow | undefined };

export interface Facts {
  readonly execution: ExecutionRecord;
  readonly halted: readonly HaltedState[];
  readonly domain: DomainFact;
  readonly commands: readonly CommandFact[];
  readonly outbox: readonly OutboxFact[];
  readonly effects: readonly EffectFact[];
  readonly reservations: readonly ReservationFact[];
  readonly approvals: readonly Approval[];
}

export interface Inspection extends Facts {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
}

export interface RedriveDecision {
  readonly by: string;
  readonly reason: string;
  /** The verdict that the operator has seen; a redrive after another one is refused. */
  readonly seen: Verdict;
  /** The operator's word that what was to be reconciled first has been. */
  readonly reconciled?: boolean;
}

export interface RedriveReport {
  readonly status: "redriven";
  readonly inspection: Inspection;
  readonly auditId: string;
}

export const redriveErrors = catalogue({
  TUNTAS_REDRIVE_FORBIDDEN: {
    meaning: "An execution is not to be redriven, or not before something else is cleared up.",
    remedy:
      "See `tuntas workflow inspect`: each reason names what to do. Where an operator's word suffices, give --reconciled.",
  },
  TUNTAS_REDRIVE_CHANGED: {
    meaning: "The facts have changed since the operator looked, and the verdict with them.",
    remedy: "Inspect the execution again and decide upon what is there now.",
  },
});
