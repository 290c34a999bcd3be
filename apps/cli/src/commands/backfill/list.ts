import { runStates, type OffPeak } from "tuntas/batch";
import type { Command } from "../../command.ts";
import { bold, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { runTable } from "./report.ts";

export const windowText = (window: OffPeak | "any"): string =>
  window === "any" ? "any time" : `${window.from} to ${window.to} ${window.timeZone}`;

export const backfillList: Command = {
  name: "backfill list",
  summary:
    "Lists the backfills and their runs, the newest first: how far each is, and what waits for a person.",
  options: {
    backfill: { value: "BACKFILL", meaning: "runs of this backfill only" },
    state: { value: "STATE", meaning: `runs in this state only: ${runStates.join(", ")}` },
    limit: { value: "N", meaning: "at most so many runs; 20 by default" },
  },
  examples: [
    ["tuntas backfill list", "what runs, how fast, and what has become of the latest runs"],
    ["tuntas backfill list --state paused --json", "for a script: status 1 where trouble has paused one"],
  ],
  no: "one of the runs was paused by trouble, and waits for a person",
  run: (call) =>
    withPlatform(async ({ backfills }) => {
      const state = call.oneOf("state", runStates);
      const [all, runs] = await Promise.all([
        backfills.list(),
        backfills.runs({
          backfill: call.text("backfill"),
          states: state && [state],
          limit: call.count("limit", [1, 1000]) ?? 20,
        }),
      ]);
      const declared = table(all, {
        BACKFILL: (each) => each.name,
        TABLE: (each) => each.policy.table,
        RATE: (each) => `${each.perSecond}/s`,
        WINDOW: (each) => windowText(each.window),
        "RUNS ON": (each) => each.policy.runsOn ?? "anywhere",
        OWNER: (each) => each.owner,
        RUNBOOK: (each) => each.runbook,
      });
      return {
        document: { backfills: all, runs },
        text: [declared, bold("Runs"), runTable(runs)].join("\n"),
        status: runs.some(({ pause }) => pause === "trouble") ? 1 : 0,
      };
    }),
};
