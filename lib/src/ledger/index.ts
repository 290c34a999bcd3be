// The door of the ledger room: `tuntas/ledger`.
export { ledgerErrors } from "./contract.ts";
export { ledgerSignals } from "./signals.ts";
export { canonicalText, requestHash, stepKey } from "./canonical.ts";
export { once, rejection } from "./command/once.ts";
export type { OnceAnswer, OnceOptions, Rejection } from "./command/once.ts";
export { takeIn } from "./inbox.ts";
export type { InboxOptions } from "./inbox.ts";
export { effect } from "./effect/effect.ts";
export type { EffectOptions } from "./effect/effect.ts";
export { refusal } from "./effect/contract.ts";
export type {
  CallOptions,
  EffectAnswer,
  EffectContext,
  EffectRow,
  EffectState,
  Finding,
  ProviderOptions,
} from "./effect/contract.ts";
export { readOpenMs } from "./effect/guard-store.ts";
export { provider } from "./effect/provider.ts";
export type { Provider } from "./effect/provider.ts";
export { assertRedrivable, reconcileEffects } from "./effect/reconcile.ts";
export { askByHand, freeByHand, releaseByHand, settleByHand } from "./operator.ts";
export type { Act, Asked } from "./operator.ts";
export { effectById, listEffects, unknownCallers, unknownEffects } from "./effect/store.ts";
export { confirm, release, renew, reserve } from "./reservation/reservation.ts";
export type {
  MoveAnswer,
  Reservation,
  ReservationState,
  ReserveAnswer,
  ReserveOptions,
} from "./reservation/contract.ts";
export { findReservation, listReservations } from "./reservation/store.ts";
export { sweepReservations } from "./reservation/sweep.ts";
export type { Announce } from "./reservation/sweep.ts";
export { claimLease, completeLease, heartbeatLease, releaseLease } from "./lease/lease.ts";
export type { ClaimOptions, Lease, LeaseAnswer } from "./lease/lease.ts";
export { listLeases } from "./lease/store.ts";
export type { LeaseFilter, LeaseRow } from "./lease/store.ts";
export { underLease } from "./lease/hold.ts";
export type { LeasedAnswer, LeasedWork } from "./lease/hold.ts";
export { compensation } from "./compensation/contract.ts";
export type {
  CompensateAnswer,
  Compensation,
  CompensationOptions,
  CompensationRow,
  UndoContext,
} from "./compensation/contract.ts";
export {
  compensate,
  forgetCompensations,
  registerCompensation,
  retryCompensation,
  settleCompensation,
} from "./compensation/run.ts";
export { listCompensations } from "./compensation/store.ts";
export { timing } from "./timing/declaration.ts";
export type { TimingDefinition } from "./timing/declaration.ts";
export { checkTiming } from "./timing/check.ts";
export type { MeasuredP99, TimedValue, TimingDeclaration, TimingFinding } from "./timing/check.ts";
export { reconciliation } from "./reconcile/declaration.ts";
export type {
  Decision,
  Difference,
  Discrepancy,
  DiscrepancyState,
  Judgement,
  Reconciliation,
  ReconciliationOptions,
  RunReport,
  View,
  Workload,
} from "./reconcile/contract.ts";
export { approveRepair, dismiss, reconcile, repair, standing } from "./reconcile/run.ts";
export {
  findDiscrepancy,
  listByState,
  listRegistered,
  listRuns,
  repairsByAnomaly,
} from "./reconcile/store.ts";
export type { RegisteredRow, RunSummary } from "./reconcile/store.ts";
export * from "./reconcile/anomalies.ts";
export { startLedger } from "./service.ts";
export type { LedgerService } from "./service.ts";
export { inSchema } from "../pg/join.ts";
export type { Sql, Tx } from "../pg/contract.ts";
export type { Transaction } from "../pg/join.ts";
