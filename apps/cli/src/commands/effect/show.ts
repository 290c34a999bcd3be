import { effectById, ledgerErrors } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, facts, printable } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const effectShow: Command = {
  name: "effect show",
  summary: "Shows one call to the outside: what was asked for, what came back, whose work it is.",
  arguments: [{ name: "ID", required: true }],
  examples: [["tuntas effect show 17", "what do I have to ask the provider about?"]],
  no: "there is no such call",
  async run(call) {
    const id = call.rowId(0);
    return withPlatform(async ({ database }) => {
      const row = await effectById(database, id);
      if (!row) throw ledgerErrors.error("TUNTAS_EFFECT_MISSING", `side effect ${id} does not exist`);
      const { request, response, calledAgoMs, failureCode, failureMessage, ...rest } = row;
      const { requestHash: _, fence: __, final, overdue, ...names } = rest;
      const text = facts({
        ...names,
        state: overdue && row.state === "pending" ? "unknown (its caller fell silent)" : row.state,
        called: `${elapsed(calledAgoMs)} ago`,
        failure: failureCode === null ? null : `${failureCode}: ${failureMessage}${final ? " (final)" : ""}`,
        request: printable(request),
        response: response === null ? null : printable(response),
      });
      return { document: row, text };
    });
  },
};
