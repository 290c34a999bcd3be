import type { Key } from "tuntas/access";
import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

const endOf = ({ revokedAtMs, expiresAtMs }: Key): string =>
  revokedAtMs !== null ? `revoked ${instant(revokedAtMs)}` : instant(expiresAtMs);

export const keyList: Command = {
  name: "key list",
  summary: "Lists the keys of machines and what they may do; never their secrets.",
  examples: [["tuntas key list --json", "for a script"]],
  run: () =>
    withPlatform(async ({ access }) => {
      const keys = await access.keys.list();
      const text = table(keys, {
        ID: (key) => key.id,
        NAME: (key) => key.name,
        ACCOUNT: (key) => key.account,
        SCOPES: (key) => key.scopes.join(" "),
        "CREATED BY": (key) => key.createdBy,
        ENDS: endOf,
      });
      return { document: { keys }, text };
    }),
};
