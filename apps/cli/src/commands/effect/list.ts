import { listEffects } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const states = ["unknown", "pending", "succeeded", "failed"] as const;

export const effectList: Command = {
  name: "effect list",
  summary: "Lists calls to the outside; by default those of which nobody knows what became.",
  options: {
    state: { value: "STATE", meaning: `${states.join(", ")}; unknown by default` },
    all: { meaning: "of every state" },
    provider: { value: "NAME", meaning: "only calls to this provider" },
    of: { value: "WORK", meaning: "only calls of this subject, message id or execution ARN" },
    limit: { value: "N", meaning: "at most so many, the newest; 100 by default" },
  },
  examples: [
    ["tuntas effect list", "what must be cleared up before anything is done again?"],
    ["tuntas effect list --all --of 'order o1' --json", "every call that was made for one order"],
  ],
  no: "calls are unknown: they are neither made again nor given up until somebody finds out",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const rows = await listEffects(database, {
        state: call.flag("all") ? undefined : (call.oneOf("state", states) ?? "unknown"),
        provider: call.text("provider"),
        work: call.text("of"),
        rowsMax: call.count("limit", [1, 1000]),
      });
      const unknown = rows.some((row) => row.state === "unknown" || (row.state === "pending" && row.overdue));
      const text = table(rows, {
        id: (row) => row.id,
        provider: (row) => row.provider,
        operation: (row) => row.operation,
        key: (row) => row.key,
        of: (row) => row.subject ?? row.caller,
        state: (row) => row.state,
        called: (row) => `${elapsed(row.calledAgoMs)} ago`,
        calls: (row) => row.calls,
        failure: (row) => row.failureCode,
      });
      return { document: rows, text, status: unknown ? 1 : 0 };
    }),
};
