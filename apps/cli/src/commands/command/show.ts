import type { Command } from "../../command.ts";
import { printable, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

export const commandShow: Command = {
  name: "command show",
  summary:
    "Shows a run of a one-off command: the ten questions before it, its result, the seven records after it.",
  arguments: [{ name: "RUN", required: true }],
  examples: [["tuntas command show 12", "what to look at before an approval, and after the run"]],
  no: "it failed, was stopped or declined",
  run: (call) => withPlatform(async ({ commands }) => answerOf(await commands.get(call.argument(0)))),
};

export const commandOutput: Command = {
  name: "command output",
  summary:
    "Prints what a run of a one-off command made: its handler's output, or the last that its program printed.",
  arguments: [{ name: "RUN", required: true }],
  examples: [["tuntas command output 12", "the report of a dry run"]],
  no: "it made nothing",
  run: (call) =>
    withPlatform(async ({ commands }) => {
      const output = await commands.output(call.argument(0));
      return { document: { output }, text: printable(output ?? ""), status: output === null ? 1 : 0 };
    }),
};

export const commandCheck: Command = {
  name: "command check",
  summary: "Looks whether a one-off command is ready to be run: ten things.",
  arguments: [{ name: "COMMAND", required: true }],
  examples: [
    ["tuntas command check repair-case-ledger", "status 1 where its role or its release is missing"],
  ],
  no: "one of the ten is missing",
  run: (call) =>
    withPlatform(async ({ commands }) => {
      const found = await commands.check(call.argument(0));
      return {
        document: found,
        text: table(found, {
          OK: ({ ok }) => (ok ? "yes" : "no"),
          WHAT: ({ item }) => item,
          BECAUSE: ({ because }) => because,
        }),
        status: found.every(({ ok }) => ok) ? 0 : 1,
      };
    }),
};
