// What the workflow room tells whoever listens, after the commit.
import { signals } from "../engine/signals.ts";

export const workflowSignals = signals({
  "workflow.started": {
    meaning: "An execution began.",
    fields: { arn: "the execution", machineArn: "what it runs" },
  },
  "workflow.ended": {
    meaning: "An execution ended.",
    fields: { arn: "the execution", status: "SUCCEEDED, FAILED, TIMED_OUT or ABORTED" },
  },
  "workflow.taken_over": {
    meaning: "Calls of a process that died are made again by this one.",
    fields: { count: "how many" },
  },
});
