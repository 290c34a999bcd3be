import type { DeadGroup } from "tuntas/queue";
import { defaultScope } from "tuntas/queue";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

function decisionOf(group: DeadGroup, nowMs: number): Decision {
  const { queue, liesIn, place, count, code, message, fingerprint, owner, runbook, outcome } = group;
  const what = place === "quarantined" ? "quarantined message" : "dead letter";
  return {
    id: `dead-letters:${liesIn}:${place}:${fingerprint}:${group.schemaVersion ?? ""}`,
    kind: "dead-letters",
    urgency: outcome === "unknown" ? "now" : "soon",
    title: `${counted(count, what)} of ${queue ?? liesIn}`,
    detail: `${code}: ${message}`,
    owner: owner === "none" ? null : owner,
    runbook,
    ageMs: Math.max(0, nowMs - group.firstSeenAtMs),
    action: { label: "Triage", href: pageAt("/dead-letters", { queue, fingerprint, place }) },
  };
}

export const deadLetters: Look = {
  name: "dead letters and quarantine",
  async find({ platform }) {
    const groups = await platform.queues.deadLetters.groups(defaultScope, {});
    const nowMs = platform.workflows.nowMs();
    return groups.map((group) => decisionOf(group, nowMs));
  },
};
