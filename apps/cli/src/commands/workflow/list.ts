import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { scopeOf, scopeOptions, withPlatform } from "../../session.ts";
import { findMachine } from "./lookup.ts";

const statuses = ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE"] as const;
const most = { limit: 1000, offset: 0 };

export const workflowList: Command = {
  name: "workflow list",
  summary: "Lists the workflows, or the latest executions of one.",
  arguments: [{ name: "WORKFLOW", required: false }],
  options: {
    status: {
      value: "STATUS",
      meaning: "only executions that are RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED or PENDING_REDRIVE",
    },
    limit: { value: "COUNT", meaning: "at most so many executions; 50 by default" },
    ...scopeOptions,
  },
  examples: [
    ["tuntas workflow list", "all workflows"],
    ["tuntas workflow list CaseActivation --status FAILED", "its executions that failed, the latest first"],
  ],
  run: (call) => {
    const status = call.oneOf("status", statuses);
    if (status !== undefined && call.positionals.length === 0)
      throw call.wrong("--status is about the executions of one WORKFLOW, and none is named");
    return withPlatform(async (platform) => {
      const { machines, executions } = platform.workflows;
      if (call.positionals.length === 0) {
        const all = await machines.list(scopeOf(call), most);
        const columns = {
          name: ({ name }: (typeof all)[number]) => name,
          type: ({ type }: (typeof all)[number]) => type,
          "own tasks": ({ handlers }: (typeof all)[number]) => handlers?.join(", ") ?? "not declared in code",
          changed: ({ updatedAtMs }: (typeof all)[number]) => instant(updatedAtMs),
        };
        return { document: all, text: table(all, columns) };
      }
      const machine = await findMachine(platform, call, call.argument(0));
      const limit = call.count("limit", [1, 1000]) ?? 50;
      const found = await executions.list(machine, { status }, { limit, offset: 0 });
      const columns = {
        name: ({ name }: (typeof found)[number]) => name,
        status: ({ status }: (typeof found)[number]) => status,
        started: ({ startedAtMs }: (typeof found)[number]) => instant(startedAtMs),
        ended: ({ stoppedAtMs }: (typeof found)[number]) =>
          stoppedAtMs === null ? "" : instant(stoppedAtMs),
      };
      return { document: found, text: table(found, columns) };
    });
  },
};
