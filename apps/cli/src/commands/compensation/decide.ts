import { retryCompensation, settleCompensation } from "tuntas/ledger";
import type { Call, Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

async function decide(call: Call, decision: typeof retryCompensation) {
  const [id, act] = [call.rowId(0), actOf(call)];
  return withPlatform(async ({ database }) => {
    const row = await decision(database, id, act);
    return { document: row, text: `${row.name} of ${row.work} is ${row.state}` };
  });
}

export const compensationRetry: Command = {
  name: "compensation retry",
  summary: "Lets a parked undo be tried again, with all its tries, when the work is undone the next time.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [['tuntas compensation retry 17 --reason "the bank takes refunds again"', "the cause is mended"]],
  no: "it is not parked",
  run: (call) => decide(call, retryCompensation),
};

export const compensationSettle: Command = {
  name: "compensation settle",
  summary:
    "Says that a person has undone it, or that there is nothing to undo; the steps before it may go on.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  examples: [['tuntas compensation settle 17 --reason "refunded by hand, see ticket 7"', "it is done"]],
  no: "it is not parked",
  run: (call) => decide(call, settleCompensation),
};
