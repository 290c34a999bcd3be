import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { nextText, standingOf, targetText } from "./report.ts";

export const scheduleList: Command = {
  name: "schedule list",
  summary: "Lists the schedules: when each is due next, what runs and waits, when one succeeded last.",
  examples: [
    ["tuntas schedule list", "how everything stands, with its owner"],
    ["tuntas schedule list --json", "for a script: status 1 where a success is overdue"],
  ],
  no: "a success is overdue",
  run: () =>
    withPlatform(async ({ schedules }) => {
      const all = await schedules.list();
      const text = table(all, {
        SCHEDULE: (each) => each.name,
        STANDS: standingOf,
        WHEN: (each) => each.expression,
        ZONE: (each) => each.timeZone,
        NEXT: nextText,
        LAST: ({ last }) => last && `${instant(last.dueMs)} ${last.state}`,
        RUNNING: (each) => each.running,
        WAITING: (each) => each.waiting,
        SUCCEEDED: (each) => instant(each.lastSuccessAtMs),
        STARTS: targetText,
        OWNER: (each) => each.owner,
      });
      return { document: all, text, status: all.some(({ overdue }) => overdue) ? 1 : 0 };
    }),
};
