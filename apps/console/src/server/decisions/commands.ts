import type { CommandReport, CommandRun } from "tuntas/operation";
import type { Decision } from "../../api/index.ts";
import { pageAt, type Look } from "./decision.ts";

const rowsMax = 50;

function decisionOf(run: CommandRun, report: CommandReport | undefined, nowMs: number): Decision {
  const { id, command, state, actor, reason, approver, failure, askedAtMs, endedAtMs } = run;
  const waits = state === "awaiting_approval";
  const failed = state === "failed" || state === "aborted";
  return {
    id: `command:${id}`,
    kind: "operation",
    urgency: failed ? "now" : "soon",
    title: waits
      ? `${actor} asks ${approver} to approve ${command}`
      : `Run ${id} of ${command} ${failed ? "failed" : "is done"} and has no evidence yet`,
    detail: waits ? reason : (failure ?? reason),
    owner: report?.owner ?? actor,
    runbook: report?.runbook ?? null,
    ageMs: Math.max(0, nowMs - (endedAtMs ?? askedAtMs)),
    action: {
      label: waits ? "Approve or decline" : "Look at it and close it",
      href: pageAt("/operations", { operation: id }),
    },
  };
}

export const commands: Look = {
  name: "runs of one-off commands that wait for approval or for their evidence",
  async find({ platform }) {
    const open = await platform.commands.runs({ open: true, limit: rowsMax });
    const runs = open.filter(({ state }) => state !== "running" && state !== "declined");
    if (runs.length === 0) return [];
    const declared = new Map((await platform.commands.list()).map((each) => [each.name, each]));
    const nowMs = platform.workflows.nowMs();
    return runs.map((run) => decisionOf(run, declared.get(run.command), nowMs));
  },
};
