import { freeByHand } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

export const leaseFree: Command = {
  name: "lease free",
  summary:
    "Takes a job from its holder, so that another may claim it at once; what the old one still does is refused.",
  arguments: [{ name: "NAME", required: true }],
  options: actOptions,
  destructive: true,
  examples: [
    [
      `tuntas lease free 'duplicates of case c1' --reason "the host is gone" --yes`,
      "instead of waiting until it runs out",
    ],
  ],
  no: "nobody holds it",
  async run(call) {
    const [name, act] = [call.argument(0), actOf(call)];
    return withPlatform(async ({ database }) => {
      const row = await freeByHand(database, name, act);
      return {
        document: { status: "freed", name, owner: row.owner },
        text: `freed ${name}, held by ${row.owner}`,
      };
    });
  },
};
