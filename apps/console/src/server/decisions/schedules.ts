import type { ScheduleReport } from "tuntas/schedule";
import type { Decision } from "../../api/index.ts";
import { pageAt, type Look } from "./decision.ts";

const decided = (
  { name, owner, runbook }: ScheduleReport,
  of: Pick<Decision, "urgency" | "title" | "detail" | "ageMs">,
): Decision => ({
  id: `schedule:${name}`,
  kind: "schedule",
  owner,
  runbook,
  action: { label: "Look at it", href: pageAt(`/schedules/${encodeURIComponent(name)}`) },
  ...of,
});

/** What is overdue is told by its alarm. */
function decisionOf(report: ScheduleReport, nowMs: number): Decision | undefined {
  const { name, last, pausedAtMs, pausedBy, pausedReason } = report;
  if (last?.state === "failed")
    return decided(report, {
      urgency: "now",
      title: `The last occurrence of ${name} failed`,
      detail: `${last.reason ?? "Its work failed"}; its window can be run again`,
      ageMs: Math.max(0, nowMs - last.dueMs),
    });
  if (pausedAtMs !== null)
    return decided(report, {
      urgency: "soon",
      title: `${name} is paused by ${pausedBy}`,
      detail: `${pausedReason}; nothing of it becomes due until somebody resumes it`,
      ageMs: Math.max(0, nowMs - pausedAtMs),
    });
  return undefined;
}

export const schedules: Look = {
  name: "schedules that are paused, or whose last occurrence failed",
  async find({ platform }) {
    const nowMs = platform.workflows.nowMs();
    return (await platform.schedules.list()).flatMap((each) => decisionOf(each, nowMs) ?? []);
  },
};
