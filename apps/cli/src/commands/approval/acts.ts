import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { decisionOptions, personOf } from "./person.ts";

export const approvalDelegate: Command = {
  name: "approval delegate",
  summary: "Gives your right to sign an approval to another person, who has it alone from then on.",
  arguments: [{ name: "ID", required: true }],
  options: { to: { value: "NAME", meaning: "to whom (required)" }, ...decisionOptions },
  examples: [
    [
      'tuntas approval delegate ID --to kim --actor ben --role supervisor --reason "on leave"',
      "kim signs for ben",
    ],
  ],
  no: "you may not sign it, or the other person may not",
  async run(call) {
    const act = { by: personOf(call), to: call.required("to"), reason: actOf(call).reason };
    return withPlatform(async ({ workflows }) => {
      const approval = await workflows.approvals.delegate(call.argument(0), act);
      return { document: approval, text: `${act.to} may sign ${approval.subject} for ${act.by.name}` };
    });
  },
};

export const approvalEscalate: Command = {
  name: "approval escalate",
  summary: "Lets those decide now to whom an approval would be escalated later.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [
    ['tuntas approval escalate ID --reason "the ship leaves tonight"', "not in three days, but now"],
  ],
  no: "it is over, or has nobody to be escalated to",
  async run(call) {
    const act = { by: personOf(call), reason: actOf(call).reason };
    return withPlatform(async ({ workflows }) => {
      const approval = await workflows.approvals.escalate(call.argument(0), act);
      return { document: approval, text: `${approval.subject} is escalated` };
    });
  },
};

export const approvalWithdraw: Command = {
  name: "approval withdraw",
  summary: "Ends an approval without a decision; its task fails by ApprovalWithdrawn.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [['tuntas approval withdraw ID --reason "asked twice"', "nobody needs to decide"]],
  no: "it is over",
  async run(call) {
    const act = { by: personOf(call), reason: actOf(call).reason };
    return withPlatform(async ({ workflows }) => {
      const approval = await workflows.approvals.withdraw(call.argument(0), act);
      return { document: approval, text: `${approval.subject} is withdrawn` };
    });
  },
};
