import type { Command } from "../../command.ts";
import { table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const serviceList: Command = {
  name: "service list",
  summary:
    "Lists services: how many instances are to run, how many do and are healthy, how the deployment is.",
  examples: [
    ["tuntas service list", "is everything that should run running?"],
    ["tuntas service list --json", "for a script"],
  ],
  no: "a service has fewer healthy instances than desired, or nobody runs it",
  run: () =>
    withPlatform(async ({ services }) => {
      const all = await services.list();
      const isSound = all.every(
        ({ healthy, desired, controlled }) => healthy >= desired && (controlled || desired === 0),
      );
      return {
        document: all,
        text: table(all, {
          name: ({ name }) => name,
          kind: ({ kind }) => kind,
          desired: ({ desired, active }) => (active ? desired : "stopped"),
          running: ({ running }) => running,
          healthy: ({ healthy }) => healthy,
          revision: ({ revision }) => revision,
          deployment: ({ deployment }) => deployment,
          "runs on": ({ host, controlled }) =>
            controlled ? host : `${host} (nobody runs it: tuntas service run)`,
        }),
        status: isSound ? 0 : 1,
      };
    }),
};
