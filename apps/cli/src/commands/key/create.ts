import type { Command } from "../../command.ts";
import { facts } from "../../render.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "../user/add.ts";

export const keyCreate: Command = {
  name: "key create",
  summary:
    "Creates a key for a machine and shows its secret, once. From the first key on, the gateway takes signed requests only.",
  arguments: [{ name: "NAME", required: true }],
  options: {
    scope: {
      value: "SCOPE",
      meaning:
        "what it may do: sqs:SendMessage@order-*, sqs:*, states:*, console:viewer; give it several times",
      multiple: true,
    },
    account: { value: "ID", meaning: "the account that it works on; 000000000000 by default" },
    life: { value: "DURATION", meaning: "how long it works, such as 90d; until it is revoked by default" },
    ...actorOption,
  },
  examples: [
    [
      "tuntas key create orders-api --scope sqs:SendMessage@order-work",
      "may send to one queue, and nothing else",
    ],
    ['tuntas key create ops --scope "sqs:*" --scope "states:*" --life 90d', "may do everything, for 90 days"],
  ],
  no: "a scope, the account or the name is not one",
  run: (call) =>
    withPlatform(async ({ access }) => {
      const lifeMs = call.durationMs("life");
      const request = {
        name: call.argument(0),
        scopes: call.texts("scope"),
        account: call.text("account"),
        ...(lifeMs !== undefined && { lifeSeconds: lifeMs / 1000 }),
      };
      const key = await access.keys.create(request, { actor: actorOf(call), from: commandLine });
      const text = facts({
        AWS_ACCESS_KEY_ID: key.id,
        AWS_SECRET_ACCESS_KEY: key.secret,
        "as a bearer": `${key.id}.${key.secret}`,
        scopes: key.scopes.join(" "),
      });
      return { document: key, text: `${text}\nThe secret is shown this once.` };
    }),
};
