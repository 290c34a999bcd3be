import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "./add.ts";

export const userRemove: Command = {
  name: "user remove",
  summary: "Removes a user and ends the user's sessions. The last admin stays.",
  arguments: [{ name: "NAME", required: true }],
  options: actorOption,
  examples: [["tuntas user remove ada --yes", "ada is signed out at once"]],
  no: "there is no such user, or it is the only admin",
  destructive: true,
  run: (call) =>
    withPlatform(async ({ access }) => {
      const name = call.argument(0);
      await access.users.remove(name, { actor: actorOf(call), from: commandLine });
      return { document: { status: "removed", name }, text: `removed ${name}` };
    }),
};
