// Tells of an execution that has come half-way to a limit at which it will fail: once for each limit, after the commit.
import { limits } from "../../../asl/index.ts";
import type { ExecutionState } from "../../../asl/contract.ts";
import { workflowSignals } from "../../signals.ts";

const half = limits.historyEvents / 2;

/** `before` is undefined where the execution has just begun. */
export function warnHalfway(
  before: ExecutionState | undefined,
  after: ExecutionState,
  history: boolean,
): void {
  const { id: arn, machineName: workflow } = after.execution;
  const warn = (limit: string, used: number, most: number) =>
    workflowSignals.publish("workflow.near_limit", { arn, workflow, limit, used, most });
  if (history && (before?.lastEventId ?? 0) < half && after.lastEventId >= half)
    warn("history events", after.lastEventId, limits.historyEvents);
  if (after.nearData !== undefined && before?.nearData === undefined)
    warn("bytes of state data", after.nearData, limits.dataBytes);
}
