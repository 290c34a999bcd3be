import type { Role } from "tuntas/access";
import type { Command } from "../../command.ts";
import { readPassword } from "../../password.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";

export const commandLine = "command line";

export const userAdd: Command = {
  name: "user add",
  summary:
    "Adds a person who may sign in to the console. The password comes on standard input, or is typed unseen.",
  arguments: [{ name: "NAME", required: true }],
  options: {
    role: { value: "ROLE", meaning: "viewer, operator, approver or admin" },
    ...actorOption,
  },
  examples: [
    ["tuntas user add ada --role admin", "asks for the password on a terminal"],
    ["pass show tuntas/ada | tuntas user add ada --role admin", "takes it from a program"],
  ],
  no: "there is such a user, or name, role or password are not ones",
  run: async (call) => {
    const name = call.argument(0);
    const role = call.required("role") as Role;
    const password = await readPassword();
    return withPlatform(async ({ access }) => {
      await access.users.add({ name, role, password }, { actor: actorOf(call), from: commandLine });
      return { document: { status: "added", name, role }, text: `added ${name}, ${role}` };
    });
  },
};
