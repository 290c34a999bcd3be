import { outboxItems, readStatus } from "tuntas/outbox";
import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { targetOf, targetOption, targetText } from "./target.ts";

const states = ["waiting", "claimed", "behind", "parked"] as const;

export const outboxList: Command = {
  name: "outbox list",
  summary:
    "Lists what is announced and not yet published: the targets with their oldest row, then the rows, oldest first.",
  options: {
    ...targetOption,
    state: { value: "STATE", meaning: `only rows that are ${states.join(", ")}` },
    limit: { value: "N", meaning: "at most so many rows; 20 by default" },
  },
  examples: [
    ["tuntas outbox list", "does anything wait too long, and why?"],
    ["tuntas outbox list --state parked --json", "what was refused too often and waits for a person"],
  ],
  no: "rows are parked: a person has to decide",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const rowsMax = call.count("limit", [1, 1000]) ?? 20;
      const filter = { target: targetOf(call), state: call.oneOf("state", states), rowsMax };
      const [status, rows] = [await readStatus(database), await outboxItems(database, filter)];
      const parked = status.targets.reduce((sum, each) => sum + each.parked, 0);
      const targets = table(status.targets, {
        target: ({ target }) => targetText(target),
        waiting: (each) => each.waiting,
        parked: (each) => each.parked,
        oldest: (each) => elapsed(each.oldestAgeMs),
        owner: (each) => each.owner ?? "none",
      });
      const items = table(rows, {
        id: (row) => row.id,
        target: ({ target }) => targetText(target),
        state: (row) => row.state,
        age: (row) => elapsed(row.ageMs),
        key: (row) => row.key,
        type: (row) => row.type,
        refusals: (row) => row.refusals,
        failure: (row) => row.failureCode,
        message: (row) => row.failureMessage,
      });
      const text = status.targets.length === 0 ? "nothing waits" : `${targets}\n\n${items}`;
      return { document: { ...status, rows }, text, status: parked > 0 ? 1 : 0 };
    }),
};
