import type { Command } from "../../command.ts";
import { actorOf, actorOption, scopeOptions, withQueue } from "../../session.ts";

export const queueDelete: Command = {
  name: "queue delete",
  summary: "Deletes a queue with every message in it.",
  arguments: [{ name: "QUEUE", required: true }],
  options: { ...actorOption, ...scopeOptions },
  examples: [["tuntas queue delete old-work --yes", "there is no way back"]],
  no: "there is no such queue",
  destructive: true,
  run: (call) =>
    withQueue(call, async ({ queues: { catalog } }, queue) => {
      await catalog.delete(queue, actorOf(call));
      return { document: { status: "deleted", queue: queue.name }, text: `deleted ${queue.name}` };
    }),
};
