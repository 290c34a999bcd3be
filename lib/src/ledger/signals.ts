import { signals } from "../engine/signals.ts";

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
  "reconciliation.run": {
    meaning: "A reconciliation ended.",
    fields: { name: "its name", compared: "how many pairs", found: "how many differ" },
  },
  "reconciliation.repaired": {
    meaning: "A discrepancy was repaired.",
    fields: { name: "the reconciliation", anomalyType: "the anomaly" },
  },
});
