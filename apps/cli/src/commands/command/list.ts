import type { ArgumentSpec, CommandReport } from "tuntas/operation";
import type { Command } from "../../command.ts";
import { bold, elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { runTable } from "./report.ts";

const argumentText = ([name, spec]: [string, ArgumentSpec]): string => {
  const form = spec.type === "choice" ? spec.of.join("|") : spec.type === "text" ? spec.pattern : spec.type;
  return `${name}=${form}${spec.optional ? "?" : ""}`;
};

const commandTable = (all: readonly CommandReport[]): string =>
  table(all, {
    COMMAND: ({ name }) => name,
    DOES: ({ policy }) => policy.does,
    TAKES: ({ policy }) => Object.entries(policy.arguments).map(argumentText).join(" "),
    "MAY RUN": ({ policy }) => Object.keys(policy.mayRun).join(", "),
    DESTRUCTIVE: ({ policy }) => (policy.destructive ? "yes" : "no"),
    TIMEOUT: ({ policy }) => elapsed(policy.timeoutMs),
    OWNER: ({ owner }) => owner,
    RUNBOOK: ({ runbook }) => runbook,
  });

export const commandList: Command = {
  name: "command list",
  summary:
    "Lists the one-off commands that code declares, what each takes, and their runs, the newest first.",
  options: {
    command: { value: "COMMAND", meaning: "runs of this command only" },
    open: { meaning: "only runs that were applied and that nobody has closed" },
    limit: { value: "N", meaning: "at most so many runs; 20 by default" },
  },
  examples: [
    ["tuntas command list", "what may be run, and what was"],
    ["tuntas command list --open --json", "for a script: status 1 where a run waits for its evidence"],
  ],
  no: "with --open: a run has not been closed",
  run: (call) =>
    withPlatform(async ({ commands }) => {
      const open = call.flag("open");
      const [all, runs] = await Promise.all([
        commands.list(),
        commands.runs({
          command: call.text("command"),
          open,
          limit: call.count("limit", [1, 1000]) ?? 20,
        }),
      ]);
      return {
        document: { commands: all, runs },
        text: [commandTable(all), bold("Runs"), runTable(runs)].join("\n"),
        status: open && runs.length > 0 ? 1 : 0,
      };
    }),
};
