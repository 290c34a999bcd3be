import type { AlarmReport } from "tuntas/alarm";
import type { Decision } from "../../api/index.ts";
import { pageAt, type Look } from "./decision.ts";

const decisionOf = (
  { name, subject, sinceMs, reason, severity, owner, runbook }: AlarmReport,
  nowMs: number,
): Decision => ({
  id: `alarm:${name}:${subject}`,
  kind: "alarm",
  urgency: severity === "page" ? "now" : "soon",
  title: subject === "" ? `Alarm ${name}` : `Alarm ${name}: ${subject}`,
  detail: reason,
  owner: owner === "none" ? null : owner,
  runbook,
  ageMs: sinceMs === null ? null : Math.max(0, nowMs - sinceMs),
  action: { label: "Go through the runbook", href: pageAt("/alarms", { alarm: name, subject }) },
});

export const alarms: Look = {
  name: "alarms that fire",
  async find({ platform }) {
    const nowMs = platform.workflows.nowMs();
    return (await platform.alarms.list())
      .filter(({ state }) => state === "ALARM")
      .map((report) => decisionOf(report, nowMs));
  },
};
