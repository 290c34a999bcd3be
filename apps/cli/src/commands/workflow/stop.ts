import type { Command } from "../../command.ts";
import { scopeOptions } from "../../session.ts";
import { withExecution } from "./lookup.ts";

export const workflowStop: Command = {
  name: "workflow stop",
  summary: "Stops an execution: what runs is aborted, and it ends as ABORTED.",
  arguments: [{ name: "WORKFLOW/NAME", required: true }],
  options: {
    error: { value: "NAME", meaning: "the error that its history shows" },
    reason: { value: "TEXT", meaning: "why, for its history" },
    ...scopeOptions,
  },
  examples: [[`tuntas workflow stop CaseActivation/k1 --reason "case withdrawn" --yes`, "for good"]],
  no: "it had ended already",
  destructive: true,
  run: (call) =>
    withExecution(call, async ({ workflows }, execution) => {
      const [error, cause] = [call.text("error"), call.text("reason")];
      const stopped = await workflows.executions.stop(execution, {
        ...(error === undefined ? {} : { error }),
        ...(cause === undefined ? {} : { cause }),
      });
      return {
        document: { arn: execution.arn, stopped },
        text: stopped ? `stopped: ${execution.arn}` : `it had ended: ${execution.arn}`,
        status: stopped ? 0 : 1,
      };
    }),
};
