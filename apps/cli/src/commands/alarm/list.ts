import type { Command } from "../../command.ts";
import { instant, plural, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

/** The rows, and how many are not among them since they are OK. */
function withCount(rows: string, shown: number, [okCount, all]: readonly [number, number]): string {
  const ok = `${okCount} of ${plural(all, "alarm")} OK`;
  return shown === 0 ? `Nothing is in alarm: ${ok}.` : `${rows}\n${ok}; --all shows them.`;
}

/** Those of which nobody can say whether they are in alarm: hidden, they would read as OK. */
function unknownText(count: number): string {
  if (count === 0) return "";
  const are = count === 1 ? "is" : "are";
  return `\n${plural(count, "alarm")} ${are} neither: INSUFFICIENT_DATA, nobody has looked lately; tuntas alarm list shows them.`;
}

export const alarmList: Command = {
  name: "alarm list",
  summary: "Lists the alarms that are not OK, and says how many are.",
  options: {
    firing: { meaning: "only those in alarm" },
    all: { meaning: "those that are OK, too" },
  },
  examples: [
    ["tuntas alarm list", "what is not OK, with owner and runbook"],
    ["tuntas alarm list --all", "everything that is watched"],
    ["tuntas alarm list --firing --json", "for a script: status 1 where anything is in alarm"],
  ],
  no: "--firing was asked, and something is in alarm",
  run: (call) =>
    withPlatform(async ({ alarms }) => {
      const all = await alarms.list();
      const firing = all.filter(({ state }) => state === "ALARM");
      const notOk = all.filter(({ state }) => state !== "OK");
      const shown = call.flag("firing") ? firing : call.flag("all") ? all : notOk;
      const rows = table(shown, {
        STATE: (each) => each.state,
        ALARM: (each) => each.name,
        OF: (each) => each.subject,
        SINCE: (each) => instant(each.sinceMs),
        OWNER: (each) => each.owner,
        WHY: (each) => each.reason,
        RUNBOOK: (each) => each.runbook,
      });
      const counts = [all.length - notOk.length, all.length] as const;
      const unknown = call.flag("firing") ? notOk.length - firing.length : 0;
      const text = call.flag("all") ? rows : withCount(rows, shown.length, counts) + unknownText(unknown);
      const status = call.flag("firing") && firing.length > 0 ? 1 : 0;
      const document = call.flag("firing") ? { alarms: firing, insufficientData: unknown } : { alarms: all };
      return { document, text, status };
    }),
};
