// Questions to people: the inbox, and their answers.
import type { Who } from "tuntas/access";
import type { InboxItem, Person } from "tuntas/workflow";
import type { ApprovalActs, ApprovalReads, ApprovalView } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Fields } from "../fields.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const rowsMax = 200;
const statuses = ["pending", "approved", "rejected", "expired", "withdrawn", "any"] as const;

const personOf = ({ name, role }: Who): Person => ({ name, roles: [role] });

/** Whoever signs. Where nobody signs in, whoever sits there says in whose place they answer. */
function signerOf(fields: Fields, who: Who): Person {
  const as = fields.optional("as");
  if (as === undefined || who.via !== "loopback") return personOf(who);
  const [, kind, name] = /^(person|role|group):(.+)$/s.exec(as) ?? [];
  if (!kind || !name)
    throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "as: expected person:NAME, role:NAME or group:NAME");
  if (kind === "person") return { name };
  return {
    name: who.name,
    roles: kind === "role" ? [name] : [who.role],
    groups: kind === "group" ? [name] : [],
  };
}

export const approvalReads = ({ platform: { workflows } }: Needs): ReadsOf<keyof ApprovalReads> => {
  const viewOf = (item: InboxItem): ApprovalView => ({
    ...item,
    decidedHere: workflows.approvals.isDecidedHere(item),
  });
  return {
    async approvals(query, who) {
      const workflow = query.optional("workflow");
      const subject = query.optional("subject");
      const items = await workflows.approvals.list({
        status: query.choice("status", statuses) ?? "pending",
        overdue: query.flag("overdue"),
        limit: rowsMax,
        ...(query.flag("mine") && { for: personOf(who) }),
        ...(workflow !== undefined && { workflow }),
        ...(subject !== undefined && { subject }),
      });
      return { items: items.map(viewOf), more: items.length >= rowsMax };
    },
    async approval(query, who) {
      const found = await workflows.approvals.show(query.text("id"), personOf(who));
      if (found) return viewOf(found);
      throw consoleErrors.error("TUNTAS_CONSOLE_MISSING", "there is no such approval");
    },
  };
};

export const approvalActs = ({ platform: { workflows } }: Needs): ActsOf<keyof ApprovalActs> => ({
  "approval.decide": {
    may: "approval.decide",
    async run(body, who) {
      const { status, approval } = await workflows.approvals.decide(body.text("id"), {
        by: signerOf(body, who),
        decision: body.oneOf("decision", ["approve", "reject"]),
        reason: body.text("reason"),
      });
      return { status, missing: approval.signaturesMissing };
    },
  },
  "approval.escalate": {
    may: "approval.decide",
    run: (body, who) =>
      workflows.approvals.escalate(body.text("id"), { by: signerOf(body, who), reason: body.text("reason") }),
  },
  "approval.withdraw": {
    may: "approval.decide",
    run: (body, who) =>
      workflows.approvals.withdraw(body.text("id"), { by: signerOf(body, who), reason: body.text("reason") }),
  },
});
