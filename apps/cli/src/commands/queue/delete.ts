import type { Command } from "../../command.ts";
import { actOf, actOptions, scopeOptions, withQueue } from "../../session.ts";

export const queueDelete: Command = {
  name: "queue delete",
  summary: "Deletes a queue with every message in it.",
  arguments: [{ name: "QUEUE", required: true }],
  options: { ...actOptions, ...scopeOptions },
  examples: [
    ['tuntas queue delete old-work --reason "replaced by order-work" --yes', "there is no way back"],
  ],
  no: "there is no such queue",
  destructive: true,
  run: async (call) => {
    const { by, reason } = actOf(call);
    return withQueue(call, async ({ queues: { catalog } }, queue) => {
      await catalog.delete(queue, by, reason);
      return { document: { status: "deleted", queue: queue.name }, text: `deleted ${queue.name}` };
    });
  },
};
