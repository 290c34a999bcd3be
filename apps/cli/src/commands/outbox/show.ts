import { outboxItem } from "tuntas/outbox";
import type { Command } from "../../command.ts";
import { elapsed, facts, printable } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { targetText } from "./target.ts";

export const outboxShow: Command = {
  name: "outbox show",
  summary: "Shows one announcement that is not yet published: why it waits, and its payload.",
  arguments: [{ name: "ID", required: true }],
  examples: [["tuntas outbox show 17", "why is it parked, and what does it say?"]],
  no: "there is no such row; what was published is gone from the outbox",
  async run(call) {
    const id = call.rowId(0);
    return withPlatform(async ({ database }) => {
      const item = await outboxItem(database, id);
      const { target, payload, ageMs, dueInMs, failureCode, failureMessage, ...rest } = item;
      const text = facts({
        ...rest,
        target: targetText(target),
        age: elapsed(ageMs),
        "tried again in": dueInMs === null ? "not by itself" : elapsed(Math.max(0, dueInMs)),
        failure: failureCode === null ? null : `${failureCode}: ${failureMessage}`,
      });
      return { document: item, text: `${text}\n\n${printable(payload)}` };
    });
  },
};
