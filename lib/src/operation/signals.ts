import { signals } from "../engine/signals.ts";

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
