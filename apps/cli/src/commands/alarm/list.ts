import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const alarmList: Command = {
  name: "alarm list",
  summary: "Lists the alarms with what each one watches, those in alarm first.",
  options: { firing: { meaning: "only those in alarm" } },
  examples: [
    ["tuntas alarm list", "how everything stands, with owner and runbook"],
    ["tuntas alarm list --firing --json", "for a script: status 1 where anything is in alarm"],
  ],
  no: "--firing was asked, and something is in alarm",
  run: (call) =>
    withPlatform(async ({ alarms }) => {
      const all = await alarms.list();
      const firing = all.filter(({ state }) => state === "ALARM");
      const shown = call.flag("firing") ? firing : all;
      const text = table(shown, {
        STATE: (each) => each.state,
        ALARM: (each) => each.name,
        OF: (each) => each.subject,
        SINCE: (each) => instant(each.sinceMs),
        OWNER: (each) => each.owner,
        WHY: (each) => each.reason,
        RUNBOOK: (each) => each.runbook,
      });
      const status = call.flag("firing") && firing.length > 0 ? 1 : 0;
      return { document: { alarms: shown }, text, status };
    }),
};
