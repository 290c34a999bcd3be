import type { Role } from "tuntas/access";
import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "./add.ts";

export const userRole: Command = {
  name: "user role",
  summary: "Gives a user another role, and ends the user's sessions.",
  arguments: [
    { name: "NAME", required: true },
    { name: "ROLE", required: true },
  ],
  options: actorOption,
  examples: [["tuntas user role ada approver", "ada signs in again as an approver"]],
  no: "there is no such user or role, or it is the only admin",
  run: (call) =>
    withPlatform(async ({ access }) => {
      const [name, role] = [call.argument(0), call.argument(1) as Role];
      await access.users.setRole(name, role, { actor: actorOf(call), from: commandLine });
      return { document: { status: "changed", name, role }, text: `${name} is ${role}` };
    }),
};
