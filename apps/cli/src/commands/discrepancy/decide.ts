import { approveRepair, dismiss } from "tuntas/ledger";
import type { Call, Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

async function decide(call: Call, decision: typeof approveRepair) {
  const [id, act] = [call.rowId(0), actOf(call)];
  return withPlatform(async ({ database }) => {
    const row = await decision(database, id, act);
    return { document: row, text: `${row.name} ${row.key} is ${row.state}, by ${row.decidedBy}` };
  });
}

export const discrepancyApprove: Command = {
  name: "discrepancy approve",
  summary:
    "Approves the repair of one discrepancy; `tuntas discrepancy repair` makes it, at once or by somebody else.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [
    ['tuntas discrepancy approve 17 --reason "the workflow was never started"', "with a name and a reason"],
  ],
  no: "it is not open: decided before, or only a person can say what is true",
  run: (call) => decide(call, approveRepair),
};

export const discrepancyDismiss: Command = {
  name: "discrepancy dismiss",
  summary: "Lets a discrepancy be, or says that a person has dealt with it.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [
    ['tuntas discrepancy dismiss 17 --reason "corrected in the registry by hand"', "it stands no longer"],
  ],
  no: "it was decided before",
  run: (call) => decide(call, dismiss),
};
