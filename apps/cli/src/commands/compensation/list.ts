import { listCompensations } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const states = ["parked", "registered", "running", "done"] as const;

export const compensationList: Command = {
  name: "compensation list",
  summary:
    "Lists undos of steps; by default those that failed and wait for a person, with all that the work did before.",
  options: {
    work: {
      value: "WORK",
      meaning: "all undos of this execution, message or work, in the order in which they are run",
    },
    state: { value: "STATE", meaning: `${states.join(", ")}; parked by default` },
    limit: { value: "N", meaning: "at most so many, the newest; 100 by default" },
  },
  examples: [
    ["tuntas compensation list", "what could not be undone, and why?"],
    ["tuntas compensation list --work 'order o1' --json", "how far the undoing of one order has come"],
  ],
  no: "some are parked",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const work = call.text("work");
      const state = call.oneOf("state", states) ?? (work === undefined ? "parked" : undefined);
      const rows = await listCompensations(database, {
        work,
        state,
        rowsMax: call.count("limit", [1, 1000]),
      });
      const text = table(rows, {
        id: (row) => row.id,
        work: (row) => row.work,
        name: (row) => row.name,
        key: (row) => row.key,
        state: (row) => row.state,
        age: (row) => elapsed(row.ageMs),
        attempts: (row) => row.attempts,
        failure: (row) => row.failureCode,
        message: (row) => row.failureMessage,
        "settled by": (row) => row.settledBy,
      });
      return { document: rows, text, status: rows.some((row) => row.state === "parked") ? 1 : 0 };
    }),
};
