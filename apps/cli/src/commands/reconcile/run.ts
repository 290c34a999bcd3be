import { reconcile, type Reconciliation } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { declaredIn, named } from "../../declared.ts";
import { table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const reconcileRun: Command = {
  name: "reconcile run",
  summary:
    "Runs the reconciliations that an application's file declares, or one of them. It reports; it repairs nothing.",
  arguments: [
    { name: "FILE", required: true },
    { name: "NAME", required: false },
  ],
  examples: [
    ["tuntas reconcile run app.mjs", "all that the file declares"],
    ["tuntas reconcile run app.mjs cases-started --json", "one of them, now"],
  ],
  no: "two sides do not agree",
  async run(call) {
    const declared = await declaredIn<Reconciliation>(call.argument(0), "reconciliation");
    const name = call.positionals[1];
    const nameOf = ({ options }: Reconciliation) => options.name;
    const chosen =
      name === undefined ? declared : [named(call, declared, { name, nameOf, what: "reconciliation" })];
    return withPlatform(async ({ database }) => {
      const reports = [];
      for (const each of chosen) reports.push(await reconcile(database, each));
      const found = reports.reduce((sum, report) => sum + report.found, 0);
      const text = table(reports, {
        name: (report) => report.name,
        invariant: (report) => report.invariant,
        compared: (report) => report.compared,
        found: (report) => report.found,
        new: (report) => report.added.length,
      });
      const hint = found > 0 ? "\n\nsee them with: tuntas discrepancy list" : "";
      return {
        document: reports,
        text: reports.length === 0 ? "the file declares no reconciliation" : `${text}${hint}`,
        status: found > 0 ? 1 : 0,
      };
    });
  },
};
