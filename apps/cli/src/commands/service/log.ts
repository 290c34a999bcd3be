import type { Command } from "../../command.ts";
import { withService } from "./lookup.ts";
import { logTable } from "./report.ts";

export const serviceLog: Command = {
  name: "service log",
  summary:
    "Shows what happened to a service: batches, health checks between them, stops, rollbacks, scaling.",
  arguments: [{ name: "SERVICE", required: true }],
  options: {
    deployment: { value: "ID", meaning: "only of this deployment" },
    after: { value: "EVENT", meaning: "only what came after this event's id" },
    limit: { value: "N", meaning: "the newest so many; 100 by default" },
  },
  examples: [
    ["tuntas service log orders-api", "the newest last"],
    ["tuntas service log orders-api --deployment 7 --json", "of one roll-out"],
  ],
  no: "there is no such service",
  run(call) {
    const filter = {
      deploymentId: call.count("deployment")?.toString(),
      after: call.count("after", [0, Number.MAX_SAFE_INTEGER])?.toString(),
      limit: call.count("limit", [1, 10_000]),
    };
    return withService(call, async ({ services }, name) => {
      const events = await services.log(name, filter);
      return { document: events, text: logTable(events) };
    });
  },
};
