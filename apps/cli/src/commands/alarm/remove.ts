import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "../user/add.ts";

export const alarmRemove: Command = {
  name: "alarm remove",
  summary:
    "Removes an alarm that no application declares any more; one that is declared comes back at the next start.",
  arguments: [{ name: "ALARM", required: true }],
  options: actorOption,
  examples: [["tuntas alarm remove orders-old --yes", "after it was taken out of the code"]],
  no: "there is no declared alarm of that name",
  destructive: true,
  run: (call) =>
    withPlatform(async ({ alarms }) => {
      const name = call.argument(0);
      await alarms.remove(name, { actor: actorOf(call), from: commandLine });
      return { document: { status: "removed", alarm: name }, text: `removed ${name}` };
    }),
};
