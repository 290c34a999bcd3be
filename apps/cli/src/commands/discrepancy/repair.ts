import { findDiscrepancy, ledgerErrors, repair, type Reconciliation } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { declaredIn, named } from "../../declared.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";

export const discrepancyRepair: Command = {
  name: "discrepancy repair",
  summary: "Makes a repair that was approved, once, the way that the application's file declares it.",
  arguments: [
    { name: "ID", required: true },
    { name: "FILE", required: true },
  ],
  options: actorOption,
  examples: [["tuntas discrepancy repair 17 app.mjs", "after `tuntas discrepancy approve 17`"]],
  no: "nobody has approved it, or it has no repair",
  async run(call) {
    const id = call.rowId(0);
    const declared = await declaredIn<Reconciliation>(call.argument(1), "reconciliation");
    return withPlatform(async ({ database }) => {
      const row = await findDiscrepancy(database, id);
      if (!row) throw ledgerErrors.error("TUNTAS_DISCREPANCY_STATE", `discrepancy ${id} does not exist`);
      const nameOf = ({ options }: Reconciliation) => options.name;
      const of = named(call, declared, { name: row.name, nameOf, what: "reconciliation" });
      const outcome = await repair(database, of, id, actorOf(call));
      const text =
        outcome === "repaired" ? `repaired ${row.name} ${row.key}` : `${row.key} had gone by itself`;
      return { document: { status: outcome, id, name: row.name, key: row.key }, text };
    });
  },
};
