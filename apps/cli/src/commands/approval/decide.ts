import type { DecideAnswer, DecisionWord } from "tuntas/workflow";
import type { Command } from "../../command.ts";
import { actOf, applicationOption, withApplication } from "../../session.ts";
import { decisionOptions, personOf } from "./person.ts";

const says = ({ status, approval }: DecideAnswer): string => {
  const { subject, signaturesMissing, status: now } = approval;
  if (status === "signed") return `signed; ${subject} needs ${signaturesMissing} more`;
  return `${subject} ${status === "duplicate" ? "was signed so before; it " : ""}is ${now}`;
};

const decideCommand = (decision: DecisionWord, summary: string): Command => ({
  name: `approval ${decision}`,
  summary,
  arguments: [{ name: "ID", required: true }],
  options: { ...decisionOptions, ...applicationOption },
  examples: [
    [`tuntas approval ${decision} ID --actor ben --role supervisor --reason "read the file"`, "as ben"],
    [
      `tuntas approval ${decision} ID --app dist/cases.js --actor ben --role supervisor --reason "read the file"`,
      "where the application changes its data with the decision",
    ],
  ],
  no: "it was refused: not yours, your own, signed, over, or late",
  async run(call) {
    const { reason } = actOf(call);
    return withApplication(call, async ({ workflows }) => {
      const answer = await workflows.approvals.decide(call.argument(0), {
        by: personOf(call),
        decision,
        reason,
      });
      return { document: answer, text: says(answer) };
    });
  },
});

export const approvalApprove = decideCommand(
  "approve",
  "Signs an approval with a yes. With the last signature its execution goes on.",
);

export const approvalReject = decideCommand("reject", "Says no to an approval; one no is enough.");
