import type { ExecutionRecord, HistoryEvent, Position } from "tuntas/workflow";
import type { Command } from "../../command.ts";
import { facts, instant, printable, table } from "../../render.ts";
import { scopeOptions } from "../../session.ts";
import { withExecution } from "./lookup.ts";

/** The state that was entered last: where it stands, or where it failed. */
const placeOf = (history: readonly HistoryEvent[]): string | undefined =>
  history.findLast(({ type }) => type.endsWith("StateEntered"))?.stateEnteredEventDetails?.name as
    string | undefined;

const describe = (execution: ExecutionRecord, history: readonly HistoryEvent[]): string =>
  facts({
    execution: execution.arn,
    status: execution.status,
    state: placeOf(history),
    error: execution.error,
    cause: execution.cause === undefined ? undefined : printable(execution.cause),
    started: instant(execution.startedAtMs),
    ended: execution.stoppedAtMs === null ? "no" : instant(execution.stoppedAtMs),
    redrives: execution.redriveCount,
    events: history.length,
    input: printable(execution.input),
    output: execution.output === null ? null : printable(execution.output),
  });

/** Why each line of control goes no further. */
const waiting = (positions: readonly Position[]): string =>
  table(positions, {
    state: ({ path, state }) => [...path, state].join(" › "),
    since: ({ sinceMs }) => instant(sinceMs),
    "waits because": ({ reason }) => reason,
    until: ({ untilMs }) => (untilMs === null ? "" : instant(untilMs)),
    "what to do": ({ remedy }) => remedy ?? "",
  });

export const workflowDescribe: Command = {
  name: "workflow describe",
  summary:
    "Shows an execution: where it stands, why it goes no further, what it was given and what it came to.",
  arguments: [{ name: "WORKFLOW/NAME", required: true }],
  options: scopeOptions,
  examples: [
    ["tuntas workflow describe CaseActivation/CaseActivation-t1-c1-k1", "one execution; its ARN will do too"],
  ],
  no: "it failed, was stopped or ran out of time",
  run: (call) =>
    withExecution(call, async ({ workflows }, execution) => {
      const history = await workflows.executions.history(execution);
      const positions = await workflows.observer.positions(execution);
      const isWell = execution.status === "RUNNING" || execution.status === "SUCCEEDED";
      return {
        document: { ...execution, state: placeOf(history) ?? null, events: history.length, positions },
        text: [describe(execution, history), ...(positions.length > 0 ? [waiting(positions)] : [])].join(
          "\n\n",
        ),
        status: isWell ? 0 : 1,
      };
    }),
};
