import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const scheduleNext: Command = {
  name: "schedule next",
  summary:
    "Says when a schedule is due next, in its zone too, and which local times a change of the clocks leaves out.",
  arguments: [{ name: "SCHEDULE", required: true }],
  options: { count: { value: "N", meaning: "so many instants; 10 by default" } },
  examples: [["tuntas schedule next nightly-report --count 30", "the next month of a daily schedule"]],
  no: "there is no such schedule",
  run: (call) =>
    withPlatform(async ({ schedules }) => {
      const name = call.argument(0);
      const { timeZone } = await schedules.find(name);
      const upcoming = await schedules.next(name, call.count("count", [1, 1000]) ?? 10);
      const local = localTime(timeZone);
      const text = table(upcoming, {
        DUE: ({ dueMs }) => instant(dueMs),
        "IN ITS ZONE": ({ dueMs }) => local(dueMs),
        "LEFT OUT BEFORE": ({ leftOut }) => leftOut.join(", "),
        HOLIDAY: ({ holiday, movedToMs }) =>
          holiday === null ? "" : movedToMs === null ? "skipped" : `moved to ${instant(movedToMs)}`,
      });
      const document = upcoming.map(({ dueMs, leftOut, holiday, movedToMs }) => ({
        due: new Date(dueMs).toISOString(),
        leftOut,
        holiday,
        movedTo: movedToMs === null ? null : new Date(movedToMs).toISOString(),
      }));
      return { document: { schedule: name, timeZone, upcoming: document }, text };
    }),
};

/** What the clocks there show; Node 20 knows no zones that are offsets. */
function localTime(timeZone: string): (ms: number) => string {
  if (/^[+-]/.test(timeZone)) return () => timeZone;
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" });
  return (ms) => format.format(ms);
}
