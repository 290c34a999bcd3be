import { metrics, signals } from "../engine/signals.ts";

const fields = { operationId: "the operation's id", kind: "its kind" };

/** What the operation room announces, each after its commit. */
export const operationSignals = signals({
  "operation.slice": {
    meaning: "An operation got on.",
    fields: {
      ...fields,
      done: "how many were done",
      refused: "how many a rule forbade",
      skipped: "how many were not there any more",
    },
  },
  "operation.ended": {
    meaning: "An operation has completed, or cannot go on.",
    fields: { ...fields, state: "completed or failed" },
  },
});

export const operationMetrics = metrics({
  tuntas_operations_total: {
    kind: "counter",
    meaning: "Operations that have completed, or cannot go on.",
    labels: ["kind", "state"],
    from: [{ signal: "operation.ended" }],
    kept: true,
  },
  tuntas_operation_items_total: {
    kind: "counter",
    meaning: "Things that operations were done to, that a rule forbade, or that were not there any more.",
    labels: ["kind", "outcome"],
    from: ["done", "refused", "skipped"].map((outcome) => ({
      signal: "operation.slice",
      fixed: { outcome },
      amount: outcome,
    })),
  },
});
