import type { DeadGroup } from "tuntas/queue";
import { defaultScope } from "tuntas/queue";
import type { Decision } from "../../api/index.ts";
import { grouped } from "../grouped.ts";
import { counted, pageAt, type Look } from "./decision.ts";

type Urgency = Decision["urgency"];

/** What may have taken place already cannot wait; the rest can. */
const urgencyOf = ({ outcome }: DeadGroup): Urgency => (outcome === "unknown" ? "now" : "soon");

const causesMax = 3;

/** The causes by their size: `CARD_DECLINED 6, BAD_ADDRESS 2`; of a single one, what it said. */
function causesText(groups: readonly DeadGroup[]): string {
  if (groups.length === 1) return `${groups[0]!.code}: ${groups[0]!.message}`;
  const named = groups.slice(0, causesMax).map(({ code, count }) => `${code} ${count.toLocaleString("en")}`);
  const more = groups.length - named.length;
  return named.join(", ") + (more > 0 ? `, and ${counted(more, "other cause")}` : "");
}

/** What waits of one queue, however many causes it has. */
function decisionOf(queue: string, urgency: Urgency, groups: readonly DeadGroup[], nowMs: number): Decision {
  const [first] = groups as [DeadGroup, ...DeadGroup[]];
  const count = groups.reduce((sum, each) => sum + each.count, 0);
  const what = urgency === "now" ? "message of unknown effect" : "dead letter";
  const many = urgency === "now" ? "messages of unknown effect" : "dead letters";
  const only = groups.length === 1 ? { fingerprint: first.fingerprint, place: first.place } : {};
  return {
    id: `dead-letters:${queue}:${urgency}`,
    kind: "dead-letters",
    urgency,
    title: `${counted(count, what, many)} in ${queue}`,
    detail: causesText(groups),
    owner: first.owner === "none" ? null : first.owner,
    runbook: first.runbook,
    ageMs: Math.max(0, nowMs - Math.min(...groups.map(({ firstSeenAtMs }) => firstSeenAtMs))),
    action: { label: "Triage", href: pageAt("/dead-letters", { queue, ...only }) },
  };
}

export const deadLetters: Look = {
  name: "dead letters and quarantine",
  async find({ platform }) {
    const groups = await platform.queues.deadLetters.groups(defaultScope, {});
    const nowMs = platform.workflows.nowMs();
    const byQueue = grouped(groups, (group) => `${urgencyOf(group)}:${group.queue ?? group.liesIn}`);
    return [...byQueue.values()].map((own) =>
      decisionOf(own[0].queue ?? own[0].liesIn, urgencyOf(own[0]), own, nowMs),
    );
  },
};
