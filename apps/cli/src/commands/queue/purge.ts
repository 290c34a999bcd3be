import type { Command } from "../../command.ts";
import { cliErrors } from "../../errors.ts";
import { plural } from "../../render.ts";
import { actOf, actOptions, scopeOptions, withQueue } from "../../session.ts";

export const queuePurge: Command = {
  name: "queue purge",
  summary: "Removes every message of a queue, whatever its state. At most once a minute, as on AWS.",
  arguments: [{ name: "QUEUE", required: true }],
  options: { ...actOptions, ...scopeOptions },
  examples: [
    [
      'tuntas queue purge order-work --reason "a test went wrong" --yes',
      "empties it; dead letters have better ways: tuntas help dlq reject",
    ],
  ],
  no: "there is no such queue, or it was purged within the last minute",
  destructive: true,
  run: async (call) => {
    const { by, reason } = actOf(call);
    return withQueue(call, async ({ queues: { catalog } }, queue) => {
      const { ready, inFlight, delayed } = await catalog.count(queue);
      const purged = await catalog.purge(queue, by, reason);
      if (!purged)
        throw cliErrors.error(
          "TUNTAS_QUEUE_PURGED_LATELY",
          `queue ${queue.name} was purged less than 60 seconds ago`,
        );
      const count = ready + inFlight + delayed;
      return {
        document: { status: "purged", queue: queue.name, count },
        text: `removed ${plural(count, "message")} from ${queue.name}`,
      };
    });
  },
};
