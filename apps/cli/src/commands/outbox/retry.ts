import { retryParked } from "tuntas/outbox";
import type { Command } from "../../command.ts";
import { plural } from "../../render.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { targetOf, targetOption } from "./target.ts";

export const outboxRetry: Command = {
  name: "outbox retry",
  summary: "Puts parked announcements back: they are published again by themselves, with all their tries.",
  arguments: [{ name: "ID", required: false, many: true }],
  options: { ...targetOption, all: { meaning: "every parked row, of every target" }, ...actOptions },
  examples: [
    ['tuntas outbox retry 17 18 --reason "the schema is deployed"', "these two"],
    ['tuntas outbox retry --target http:search --reason "search is back"', "all of one target"],
  ],
  no: "nothing was parked",
  async run(call) {
    const target = targetOf(call);
    const ids = call.positionals.map((_, index) => call.rowId(index));
    if (ids.length === 0 && !target && !call.flag("all"))
      throw call.wrong("say which (ID, --target), or --all");
    const act = actOf(call);
    return withPlatform(async ({ database }) => {
      const filter = { ...(target && { target }), ...(ids.length > 0 && { ids }) };
      const count = await retryParked(database, filter, act);
      return {
        document: { status: "retried", count },
        text: `${plural(count, "row")} put back`,
        status: count === 0 ? 1 : 0,
      };
    });
  },
};
