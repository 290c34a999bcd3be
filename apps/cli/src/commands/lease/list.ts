import { listLeases } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const states = ["running", "expired", "released", "completed"] as const;

export const leaseList: Command = {
  name: "lease list",
  summary:
    "Lists who holds which job, how long it still holds without a heartbeat, and how often it was taken over.",
  options: {
    name: { value: "NAME", meaning: "only this job" },
    state: { value: "STATE", meaning: `only those that are ${states.join(", ")}` },
  },
  examples: [
    ["tuntas lease list --state running", "who works on what?"],
    ["tuntas lease list --name 'duplicates of case c1' --json", "one job"],
  ],
  no: "a holder fell silent and nobody has taken over",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const rows = await listLeases(database, {
        name: call.text("name"),
        state: call.oneOf("state", states),
      });
      const text = table(rows, {
        name: (row) => row.name,
        state: (row) => row.state,
        owner: (row) => row.owner,
        "holds for": (row) => (row.state === "running" ? elapsed(row.expiresInMs) : null),
        claimed: (row) => instant(row.claimedAtMs),
        heartbeat: (row) => instant(row.heartbeatAtMs),
        takeovers: (row) => row.takeovers,
      });
      return { document: rows, text, status: rows.some((row) => row.state === "expired") ? 1 : 0 };
    }),
};
