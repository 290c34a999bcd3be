import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { personOf, personOptions } from "./person.ts";

const statuses = ["pending", "approved", "rejected", "expired", "withdrawn", "any"] as const;

export const approvalList: Command = {
  name: "approval list",
  summary: "Lists approvals, those that are due first at the top; with --mine those that you may sign now.",
  options: {
    mine: { meaning: "only what --actor, with --role and --group, may sign now" },
    overdue: { meaning: "only those past their due time" },
    status: { value: "STATUS", meaning: `${statuses.join(", ")}; pending by default` },
    subject: { value: "TEXT", meaning: "only those about this" },
    workflow: { value: "NAME", meaning: "only those of this workflow" },
    limit: { value: "N", meaning: "at most so many; 100 by default" },
    actor: { value: "NAME", meaning: "whose inbox; the system's user by default" },
    ...personOptions,
  },
  examples: [
    ["tuntas approval list --overdue", "what should have been decided by now?"],
    ["tuntas approval list --mine --actor ben --role supervisor --json", "ben's inbox"],
  ],
  no: "some are overdue",
  run: (call) =>
    withPlatform(async ({ workflows }) => {
      const { overdue, mine } = { overdue: call.flag("overdue"), mine: call.flag("mine") };
      const [subject, workflow, limit] = [call.text("subject"), call.text("workflow"), call.count("limit")];
      const rows = await workflows.approvals.list({
        overdue,
        status: call.oneOf("status", statuses) ?? "pending",
        ...(mine && { for: personOf(call) }),
        ...(subject !== undefined && { subject }),
        ...(workflow !== undefined && { workflow }),
        ...(limit !== undefined && { limit }),
      });
      const text = table(rows, {
        id: (row) => row.id,
        subject: (row) => row.subject,
        workflow: (row) => `${row.workflow} ${row.task}`,
        status: (row) => (row.status === "pending" && !row.waiting ? "nobody waits" : row.status),
        signed: (row) => `${row.signatures.length} of ${row.signaturesNeeded}`,
        "asked by": (row) => row.requestedBy,
        age: (row) => elapsed(row.ageMs),
        due: (row) => (row.overdue ? "overdue" : elapsed(row.dueAtMs - row.requestedAtMs - row.ageMs)),
      });
      return { document: rows, text, status: rows.some((row) => row.overdue) ? 1 : 0 };
    }),
};
