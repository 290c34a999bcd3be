import type { Command } from "../../command.ts";
import { bold, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { changeTable, stepTable } from "./report.ts";

export const changeShow: Command = {
  name: "change show",
  summary:
    "Shows a change: each step with who, when and what was seen, what runs, and what the next step lacks.",
  arguments: [{ name: "CHANGE", required: true }],
  examples: [
    ["tuntas change show item-label", "looks at the database now: all rows, where the next step asks for it"],
  ],
  no: "there is no such change, or its next step lacks something",
  run: (call) =>
    withPlatform(async ({ changes }) => {
      const report = await changes.show(call.argument(0));
      const outlook = await changes.outlook(report.name);
      const running = table(report.live, {
        PROCESS: ({ process }) => process,
        RELEASE: ({ release }) => release,
      });
      const { lacks = [] } = outlook ?? {};
      const next = lacks.length > 0 ? lacks.map((each) => `  ${each}`).join("\n") : "  nothing: advance it";
      const ahead = report.next === null ? [] : [bold(`What ${report.next} lacks`), next];
      return {
        document: { ...report, outlook: outlook ?? null },
        text: [changeTable([report]), stepTable(report), bold("Running"), running, ...ahead].join("\n"),
        status: lacks.length > 0 ? 1 : 0,
      };
    }),
};
