import { discardParked } from "tuntas/outbox";
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { targetText } from "./target.ts";

export const outboxDiscard: Command = {
  name: "outbox discard",
  summary:
    "Gives a parked announcement up, for a reason: nobody will ever be told. What remains is the record.",
  arguments: [{ name: "ID", required: true }],
  options: actOptions,
  destructive: true,
  examples: [['tuntas outbox discard 17 --reason "the customer is gone, see ticket 7" --yes', "this one"]],
  no: "there is no such parked row",
  async run(call) {
    const [id, act] = [call.rowId(0), actOf(call)];
    return withPlatform(async ({ database }) => {
      const { payload: _, ...gone } = await discardParked(database, id, act);
      return {
        document: { status: "discarded", ...gone },
        text: `discarded ${id} for ${targetText(gone.target)}`,
      };
    });
  },
};
