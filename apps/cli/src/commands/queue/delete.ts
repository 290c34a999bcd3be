import type { Command } from "../../command.ts";
import { scopeOptions, withQueue } from "../../session.ts";

export const queueDelete: Command = {
  name: "queue delete",
  summary: "Deletes a queue with every message in it.",
  arguments: [{ name: "QUEUE", required: true }],
  options: scopeOptions,
  examples: [["tuntas queue delete old-work --yes", "there is no way back"]],
  no: "there is no such queue",
  destructive: true,
  run: (call) =>
    withQueue(call, async ({ queues: { catalog } }, queue) => {
      await catalog.delete(queue);
      return { document: { status: "deleted", queue: queue.name }, text: `deleted ${queue.name}` };
    }),
};
