import type { Owned } from "./basics.ts";

/** What kind of thing waits for a person. */
export type DecisionKind =
  | "alarm"
  | "approval"
  | "backfill"
  | "batch"
  | "dead-letters"
  | "discrepancy"
  | "effect"
  | "execution"
  | "operation"
  | "outbox"
  | "queue"
  | "schedule"
  | "service"
  | "stream"
  | "undeclared";

/** One line of "needs a decision": what, whose, how old, and the one next act. */
export interface Decision extends Owned {
  readonly id: string;
  readonly kind: DecisionKind;
  /** `now`: work is stuck or an effect is in doubt. `soon`: it can wait until somebody has time. */
  readonly urgency: "now" | "soon";
  readonly title: string;
  readonly detail: string;
  /** How long it has waited; null where that is not known. */
  readonly ageMs: number | null;
  readonly action: { readonly label: string; readonly href: string };
}

/** What was looked at, so that an empty list means something. */
export interface Check {
  readonly name: string;
  readonly found: number;
  /** Why it could not be looked at. */
  readonly failure: string | null;
}

export interface Health {
  readonly processes: number;
  readonly queues: number;
  readonly ready: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly dead: number;
  readonly oldestAgeMs: number | null;
  readonly outboxWaiting: number;
}

export interface HomeView {
  readonly decisions: readonly Decision[];
  readonly checks: readonly Check[];
  readonly health: Health;
}
