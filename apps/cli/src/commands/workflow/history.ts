import { instant, printable, table } from "../../render.ts";
import type { Command } from "../../command.ts";
import { scopeOptions } from "../../session.ts";
import type { HistoryEvent } from "tuntas/workflow";
import { withExecution } from "./lookup.ts";

const detailsOf = (event: HistoryEvent): string => {
  const key = Object.keys(event).find((name) => name.endsWith("EventDetails")) as
    `${string}EventDetails` | undefined;
  return key === undefined ? "" : printable(JSON.stringify(event[key]));
};

export const workflowHistory: Command = {
  name: "workflow history",
  summary: "Prints all events of an execution, in order, as GetExecutionHistory gives them.",
  arguments: [{ name: "WORKFLOW/NAME", required: true }],
  options: scopeOptions,
  examples: [["tuntas workflow history CaseActivation/k1 --json", "its audit trail, for a script"]],
  run: (call) =>
    withExecution(call, async ({ workflows }, execution) => {
      const events = await workflows.executions.history(execution);
      return {
        document: events,
        text: table(events, {
          id: ({ id }) => id,
          time: ({ timestamp }) => instant(timestamp * 1000),
          event: ({ type }) => type,
          details: detailsOf,
        }),
      };
    }),
};
