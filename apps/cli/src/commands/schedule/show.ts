import type { Occurrence } from "tuntas/schedule";
import type { Command } from "../../command.ts";
import { bold, elapsed, facts, instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { nextText, standingOf, targetText } from "./report.ts";

export const occurrenceTable = (occurrences: readonly Occurrence[]): string =>
  table(occurrences, {
    DUE: (each) => instant(each.dueMs),
    RUN: (each) => each.run,
    STATE: (each) => each.state,
    "WINDOW FROM": (each) => instant(each.windowStartMs),
    BEGAN: (each) =>
      each.beginAtMs === null ? instant(each.startedAtMs) : `not before ${instant(each.beginAtMs)}`,
    TOOK: (each) =>
      each.startedAtMs === null || each.endedAtMs === null ? "" : elapsed(each.endedAtMs - each.startedAtMs),
    WROTE: (each) => each.recordsWritten,
    WORK: (each) => each.reference,
    BY: (each) => each.actor,
    WHY: (each) => each.reason,
  });

export const scheduleShow: Command = {
  name: "schedule show",
  summary: "Shows a schedule and what became of its occurrences, the latest first.",
  arguments: [{ name: "SCHEDULE", required: true }],
  options: { limit: { value: "N", meaning: "at most so many occurrences; 20 by default" } },
  examples: [
    ["tuntas schedule show nightly-report", "did it fire, what runs, what was skipped or missed, and why"],
    ["tuntas schedule show nightly-report --limit 100 --json", "with the window and the work of each"],
  ],
  no: "there is no such schedule",
  run: (call) =>
    withPlatform(async ({ schedules }) => {
      const name = call.argument(0);
      const report = await schedules.find(name);
      const occurrences = await schedules.occurrences(name, call.count("limit", [1, 10_000]) ?? 20);
      const head = facts({
        schedule: name,
        stands: standingOf(report),
        when: `${report.expression} in ${report.timeZone}`,
        next: nextText(report),
        starts: targetText(report),
        overlap: report.overlap,
        "catch-up": report.catchUp,
        "success expected by": instant(report.expectedByMs),
        paused: report.pausedAtMs === null ? "" : `by ${report.pausedBy}: ${report.pausedReason}`,
        owner: report.owner,
        runbook: report.runbook,
      });
      const text = [head, bold("Occurrences"), occurrenceTable(occurrences)].join("\n");
      return { document: { ...report, occurrences }, text };
    }),
};
