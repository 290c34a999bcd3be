import type { Command } from "../../command.ts";
import { withPlatform } from "../../session.ts";
import { operationSelection, selectionOptions } from "./selection.ts";

export const operationPreview: Command = {
  name: "operation preview",
  summary: "Says what an operation would be done to, and what a rule forbids; changes nothing.",
  arguments: [{ name: "KIND", required: true }],
  options: selectionOptions,
  examples: [
    [
      "tuntas operation preview replay --queue order-work --code DB_DOWN",
      "how many, and which are forbidden?",
    ],
    ["tuntas operation preview redrive --machine ARN --error Timeout --since 2h", "of failed executions"],
  ],
  no: "nothing is selected",
  run: (call) =>
    withPlatform(async ({ operations }) => {
      const kind = call.argument(0);
      const survey = await operations.preview(kind, operationSelection(call, kind));
      const text = [
        `${kind}: ${survey.count} selected`,
        ...survey.forbidden.map(({ rule, count }) => `forbidden: ${count} (rule: ${rule})`),
        ...survey.sample.map((item) => `  ${item}`),
      ].join("\n");
      return { document: survey, text, status: survey.count === 0 ? 1 : 0 };
    }),
};
