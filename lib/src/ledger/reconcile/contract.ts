// What a reconciliation declares and finds. It never repairs by itself: a person approves each repair.
import type { Duration } from "../../core/duration.ts";
import type { Sql, Tx } from "../../pg/contract.ts";

/** One side's view of one thing, as text that a person can read in a report. */
export type View = ReadonlyMap<string, string>;

export interface Difference {
  readonly key: string;
  /** Undefined where that side does not have it. */
  readonly source: string | undefined;
  readonly derived: string | undefined;
}

export type Judgement =
  /** They agree. */
  | "sound"
  /** They differ, and `repair` knows what to do. */
  | "broken"
  /** They differ, and nobody but a person can say what is true. */
  | "uncertain";

/** What a reconciliation watches over; a declared queue or workflow is one. */
export interface Workload {
  readonly kind: "queue" | "workflow" | "application";
  readonly name: string;
}

export interface ReconciliationOptions {
  readonly name: string;
  /** What should hold, in words. */
  readonly invariant: string;
  /** The kind of anomaly, as it is counted. */
  readonly anomaly: string;
  /** Who is told of it and decides. */
  readonly owner: string;
  /** The workload beside which it is declared. */
  readonly of: Workload;
  /** How often an application that has it runs it, in one process of all. */
  readonly every: Duration | "on demand";
  /** The truth, by key. */
  readonly source: (sql: Sql) => Promise<View>;
  /** What should follow from it, by key. */
  readonly derived: (sql: Sql) => Promise<View>;
  /** Judges a pair; equal texts are sound and anything else is broken where it is not given. */
  readonly judge?: (difference: Difference) => Judgement;
  /**
   * Mends one discrepancy. What is written through `tx` commits together with the record of the repair; what reaches
   * outside must be safe to do again.
   */
  readonly repair?: (tx: Tx, difference: Difference) => Promise<void>;
}

export interface Reconciliation {
  readonly kind: "reconciliation";
  readonly options: ReconciliationOptions;
}

export interface RunReport {
  readonly runId: string;
  readonly name: string;
  readonly invariant: string;
  readonly compared: number;
  readonly found: number;
  /** Those that were not standing already. */
  readonly added: readonly Discrepancy[];
}

export type DiscrepancyState = "open" | "manual" | "approved" | "repaired" | "dismissed";

export interface Discrepancy {
  readonly id: string;
  readonly name: string;
  readonly invariant: string;
  readonly anomaly: string;
  readonly key: string;
  readonly source: string | null;
  readonly derived: string | null;
  readonly state: DiscrepancyState;
  readonly decidedBy: string | null;
  readonly decidedReason: string | null;
}

export interface Decision {
  readonly by: string;
  readonly reason: string;
}
