import type { InboxItem } from "tuntas/workflow";
import type { Decision } from "../../api/index.ts";
import { counted, pageAt, type Look } from "./decision.ts";

const rowsMax = 200;

const ownerOf = ({ deciders }: InboxItem): string | null =>
  deciders.find(({ active }) => active)?.name ?? deciders[0]?.name ?? null;

const decisionOf = (item: InboxItem): Decision => ({
  id: `approval:${item.id}`,
  kind: "approval",
  urgency: item.overdue ? "now" : "soon",
  title: `${item.task}: ${item.subject}`,
  detail: `Asked by ${item.requestedBy} in ${item.workflow}; ${counted(item.signaturesMissing, "signature")} missing${item.overdue ? ", overdue" : ""}`,
  owner: ownerOf(item),
  runbook: null,
  ageMs: item.ageMs,
  action: { label: "Decide", href: pageAt("/approvals", { approval: item.id }) },
});

export const approvals: Look = {
  name: "approvals that wait for somebody",
  async find({ platform }) {
    const pending = await platform.workflows.approvals.list({ limit: rowsMax });
    return pending.filter(({ waiting }) => waiting).map(decisionOf);
  },
};
