import { metrics, signals } from "../engine/signals.ts";

const scope = "the command's scope";
const provider = "the provider's name";
const operation = "the provider's operation";

/** What the ledger announces. Those of a joined transaction tell what was found, not that it has committed. */
export const ledgerSignals = signals({
  "command.duplicate": {
    meaning: "A command was asked for again and got its stored result.",
    fields: { scope, key: "the command's key" },
  },
  "command.conflict": {
    meaning: "A command's key came with another request.",
    fields: { scope, key: "the command's key" },
  },
  "effect.called": {
    meaning: "A call to a provider ended.",
    fields: { provider, operation, state: "what it came to", durationMs: "how long it took" },
  },
  "effect.unknown": {
    meaning: "Nobody can say whether a call took effect.",
    fields: { provider, operation, count: "how many" },
  },
  "effect.reconciled": {
    meaning: "A provider said what became of an unknown call.",
    fields: { provider, operation, state: "what it came to" },
  },
  "reservation.expired": { meaning: "Reservations ran out.", fields: { count: "how many" } },
  "lease.lost": { meaning: "An owner lost its lease while it worked.", fields: { name: "the lease's name" } },
  "compensation.done": {
    meaning: "What a step had done was undone.",
    fields: { name: "the compensation's name", work: "whose step it was" },
  },
  "compensation.parked": {
    meaning: "An undo failed and waits for a person, and with it everything that the work did before.",
    fields: { name: "the compensation's name", work: "whose step it was", code: "why" },
  },
  "reconciliation.run": {
    meaning: "A reconciliation ended.",
    fields: { name: "its name", compared: "how many pairs", found: "how many differ" },
  },
  "reconciliation.repaired": {
    meaning: "A discrepancy was repaired.",
    fields: { name: "the reconciliation", anomalyType: "the anomaly" },
  },
});

export const ledgerMetrics = metrics({
  tuntas_commands_total: {
    kind: "counter",
    meaning: "Commands that came again: duplicate (got the stored result) or conflict (another request).",
    labels: ["scope", "type"],
    from: [
      { signal: "command.duplicate", fixed: { type: "duplicate" } },
      { signal: "command.conflict", fixed: { type: "conflict" } },
    ],
  },
  tuntas_side_effect_calls_total: {
    kind: "counter",
    meaning: "Calls to providers by what they came to.",
    labels: ["provider", "operation", "state"],
    from: [{ signal: "effect.called" }],
    kept: true,
  },
  tuntas_side_effect_seconds: {
    kind: "histogram",
    meaning: "How long calls to providers took.",
    labels: ["provider", "operation"],
    from: [{ signal: "effect.called" }],
  },
  tuntas_side_effects: {
    kind: "gauge",
    meaning: "Side effects that are not settled: pending or unknown.",
    labels: ["provider", "operation", "state"],
    kept: true,
  },
  tuntas_reservations_expired_total: {
    kind: "counter",
    meaning: "Reservations that ran out.",
    labels: [],
    from: [{ signal: "reservation.expired", amount: "count" }],
  },
  tuntas_leases_lost_total: {
    kind: "counter",
    meaning: "Leases that were lost while their owner worked.",
    labels: ["name"],
    from: [{ signal: "lease.lost" }],
    kept: true,
  },
  tuntas_compensations_total: {
    kind: "counter",
    meaning: "Undos of steps: done, or parked because they failed.",
    labels: ["name", "outcome"],
    from: [
      { signal: "compensation.done", fixed: { outcome: "done" } },
      { signal: "compensation.parked", fixed: { outcome: "parked" } },
    ],
    kept: true,
  },
  tuntas_discrepancies: {
    kind: "gauge",
    meaning: "Discrepancies that wait for a decision or a repair.",
    labels: ["name", "anomaly"],
    kept: true,
  },
  tuntas_reconciliation_repairs_total: {
    kind: "counter",
    meaning: "Repaired discrepancies.",
    labels: ["name", "anomalyType"],
    from: [{ signal: "reconciliation.repaired" }],
    kept: true,
  },
});
