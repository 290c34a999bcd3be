import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

export const operationShow: Command = {
  name: "operation show",
  summary: "Shows an operation, and what became of each thing that it was done to.",
  arguments: [{ name: "ID", required: true }],
  options: {
    outcome: { value: "OUTCOME", meaning: "only items that were done, refused or skipped" },
    limit: { value: "N", meaning: "at most so many items; 20 by default" },
    after: { value: "NUMBER", meaning: "only items after this number" },
  },
  examples: [
    ["tuntas operation show 12", "how far is it?"],
    ["tuntas operation show 12 --outcome refused --json", "what may not be done, and why"],
  ],
  no: "it failed, was aborted or declined",
  run: (call) =>
    withPlatform(async ({ operations }) => {
      const answer = answerOf(await operations.get(call.argument(0)));
      const items = await operations.items(call.argument(0), {
        outcome: call.text("outcome"),
        limit: call.count("limit", [1, 10_000]) ?? 20,
        after: call.count("after", [0, Number.MAX_SAFE_INTEGER]),
      });
      const list = table(items, {
        number: ({ number }) => number,
        item: ({ item }) => item,
        outcome: ({ outcome }) => outcome,
        reason: ({ reason }) => reason,
        at: ({ atMs }) => instant(atMs),
      });
      return {
        ...answer,
        document: { ...(answer.document as object), items },
        text: `${answer.text}\n\n${list}`,
      };
    }),
};
