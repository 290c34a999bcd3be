import { findDiscrepancy, ledgerErrors } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { facts } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const discrepancyShow: Command = {
  name: "discrepancy show",
  summary: "Shows one discrepancy: what should hold, what each side says, who decided what and why.",
  arguments: [{ name: "ID", required: true }],
  examples: [["tuntas discrepancy show 17", "before a decision"]],
  no: "there is no such discrepancy",
  async run(call) {
    const id = call.rowId(0);
    return withPlatform(async ({ database }) => {
      const row = await findDiscrepancy(database, id);
      if (!row) throw ledgerErrors.error("TUNTAS_DISCREPANCY_STATE", `discrepancy ${id} does not exist`);
      const { source, derived, ...rest } = row;
      const missing = "does not have it";
      const text = facts({ ...rest, source: source ?? missing, derived: derived ?? missing });
      return { document: row, text };
    });
  },
};
