import type { Command } from "../../command.ts";
import { readPassword } from "../../password.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "./add.ts";

export const userPasswd: Command = {
  name: "user passwd",
  summary: "Sets a user's password, from standard input or typed unseen, and ends the user's sessions.",
  arguments: [{ name: "NAME", required: true }],
  options: actorOption,
  examples: [["tuntas user passwd ada", "asks for it on a terminal"]],
  no: "there is no such user, or the password is too short",
  run: async (call) => {
    const name = call.argument(0);
    const password = await readPassword();
    return withPlatform(async ({ access }) => {
      await access.users.setPassword(name, password, { actor: actorOf(call), from: commandLine });
      return { document: { status: "changed", name }, text: `set the password of ${name}` };
    });
  },
};
