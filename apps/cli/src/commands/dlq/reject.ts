import type { Command } from "../../command.ts";
import { cliErrors } from "../../errors.ts";
import { actorOf, scopeOf, withPlatform } from "../../session.ts";
import { settle } from "../operation/start.ts";
import { checkQueue, operationOptions, selectionOf } from "./filter.ts";
import { ended, planned } from "./report.ts";

export const dlqReject: Command = {
  name: "dlq reject",
  summary:
    "Ends dead letters and quarantined messages for a reason. Their bodies are gone then; what remains is the record.",
  options: {
    ...operationOptions,
    as: { value: "CODE", meaning: "the code that they end with; REJECTED_BY_OPERATOR by default" },
    yes: { meaning: "yes, end them; there is no question" },
  },
  examples: [
    [
      'tuntas dlq reject --queue order-work --code CASE_CLOSED --reason "case is closed" --dry-run',
      "how many would it be?",
    ],
    ['tuntas dlq reject --queue order-work --code CASE_CLOSED --reason "case is closed" --yes', "end them"],
  ],
  no: "nothing was selected, or it was aborted (Ctrl-C)",
  async run(call) {
    const [limit, code] = [call.count("limit"), call.text("as")];
    const selection = { scope: scopeOf(call), filter: selectionOf(call), limit, code };
    const act = { actor: actorOf(call), reason: call.required("reason") };
    const dryRun = call.flag("dry-run");
    if (!dryRun && !call.flag("yes"))
      throw cliErrors.error("TUNTAS_CLI_UNCONFIRMED", "`tuntas dlq reject` ends messages for good");
    return withPlatform(async (platform) => {
      await checkQueue(platform, call);
      const { operations } = platform;
      if (dryRun) return planned(await operations.preview("reject", selection), "rejected");
      const { operation } = await operations.start({ kind: "reject", selection, ...act });
      return ended(await settle(platform, operation), "rejected");
    });
  },
};
