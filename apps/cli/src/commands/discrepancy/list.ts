import { listByState, type DiscrepancyState } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const states = ["open", "manual", "approved", "repaired", "dismissed"] as const satisfies DiscrepancyState[];
const standing: readonly DiscrepancyState[] = ["open", "manual", "approved"];

export const discrepancyList: Command = {
  name: "discrepancy list",
  summary: "Lists where two sides do not agree; by default what stands and waits for somebody, oldest first.",
  options: {
    name: { value: "NAME", meaning: "only those of this reconciliation" },
    state: { value: "STATE", meaning: `only those that are ${states.join(", ")}` },
  },
  examples: [
    ["tuntas discrepancy list", "open: a repair is known; manual: only a person can say what is true"],
    ["tuntas discrepancy list --state repaired --json", "what was mended"],
  ],
  no: "something waits for a person",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const state = call.oneOf("state", states);
      const rows = await listByState(database, state ? [state] : standing, call.text("name"));
      const text = table(rows, {
        id: (row) => row.id,
        name: (row) => row.name,
        anomaly: (row) => row.anomaly,
        key: (row) => row.key,
        source: (row) => row.source,
        derived: (row) => row.derived,
        state: (row) => row.state,
        "decided by": (row) => row.decidedBy,
      });
      return { document: rows, text, status: rows.some((row) => standing.includes(row.state)) ? 1 : 0 };
    }),
};
