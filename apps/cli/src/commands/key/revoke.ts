import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "../user/add.ts";

export const keyRevoke: Command = {
  name: "key revoke",
  summary: "Ends a key for good. Gateways that run notice within three seconds.",
  arguments: [{ name: "ID", required: true }],
  options: actorOption,
  examples: [["tuntas key revoke TUNT2A3B4C5D6E7F2A3B --yes", "the id is in: tuntas key list"]],
  no: "there is no such key that still works",
  destructive: true,
  run: (call) =>
    withPlatform(async ({ access }) => {
      const id = call.argument(0);
      await access.keys.revoke(id, { actor: actorOf(call), from: commandLine });
      return { document: { status: "revoked", id }, text: `revoked ${id}` };
    }),
};
