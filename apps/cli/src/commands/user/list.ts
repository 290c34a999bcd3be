import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const userList: Command = {
  name: "user list",
  summary: "Lists who may sign in, and with which role.",
  examples: [["tuntas user list", "names, roles, last sign-in"]],
  run: () =>
    withPlatform(async ({ access }) => {
      const users = await access.users.list();
      const text = table(users, {
        NAME: (user) => user.name,
        ROLE: (user) => user.role,
        "SIGNED IN": (user) => instant(user.signedInAtMs),
        "PASSWORD SET": (user) => instant(user.passwordSetAtMs),
      });
      return { document: { users }, text };
    }),
};
