// Outbox, side effects, reservations, leases, discrepancies: what makes a retry harmless.
import type { Discrepancy, EffectRow, LeaseRow, listReservations } from "tuntas/ledger";
import type { OutboxItem, OutboxStatus } from "tuntas/outbox";
import type { None, Reasoned } from "./basics.ts";

export type { Discrepancy, EffectRow, LeaseRow, OutboxItem, OutboxStatus };
export type ReservationRow = Awaited<ReturnType<typeof listReservations>>[number];

/** A list that ends at a bound; `more` where there are others beyond. */
export interface Bounded<T> {
  readonly items: readonly T[];
  readonly more: boolean;
}

/** A target of the outbox as one text: `http:crm`. */
export type TargetText = string;

export interface SafetyReads {
  "outbox.status": { query: None; answer: OutboxStatus };
  "outbox.items": {
    query: { readonly target?: TargetText; readonly state?: OutboxItem["state"] };
    answer: Bounded<OutboxItem>;
  };
  effects: {
    query: { readonly state?: EffectRow["state"]; readonly provider?: string; readonly work?: string };
    answer: Bounded<EffectRow>;
  };
  effect: { query: { readonly id: string }; answer: EffectRow };
  reservations: {
    query: {
      readonly kind?: string;
      readonly holder?: string;
      readonly state?: ReservationRow["state"];
      readonly overdue?: "true";
    };
    answer: Bounded<ReservationRow>;
  };
  leases: { query: { readonly state?: LeaseRow["state"] }; answer: Bounded<LeaseRow> };
  discrepancies: { query: { readonly name?: string }; answer: Bounded<Discrepancy> };
}

export interface SafetyActs {
  "outbox.retry": {
    body: Reasoned & { readonly target?: TargetText; readonly ids?: readonly string[] };
    answer: { readonly count: number };
  };
  "outbox.discard": { body: Reasoned & { readonly id: string }; answer: { readonly status: "discarded" } };
  "effect.settle": {
    body: Reasoned & {
      readonly id: string;
      readonly found: "succeeded" | "absent" | "refused";
      /** What the provider calls it, where it took place. */
      readonly reference?: string;
      readonly code?: string;
    };
    answer: EffectRow;
  };
  "reservation.release": { body: Reasoned & { readonly id: string }; answer: { readonly status: string } };
  "lease.free": { body: Reasoned & { readonly name: string }; answer: { readonly status: "freed" } };
  "discrepancy.decide": {
    body: Reasoned & { readonly id: string; readonly decision: "approve" | "dismiss" };
    answer: Discrepancy;
  };
}
