import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";

export const messagePeek: Command = {
  name: "message peek",
  summary: "Shows the first messages of a queue without receiving them.",
  arguments: [{ name: "QUEUE", required: true }],
  options: { limit: { value: "N", meaning: "at most so many; 10 by default" }, ...scopeOptions },
  examples: [["tuntas message peek order-work --limit 50", "ready ones first; nothing is hidden or counted"]],
  no: "there is no message",
  run: (call) =>
    withQueue(call, async ({ queues: { inspector } }, queue) => {
      const messages = await inspector.peek(queue, call.count("limit", [1, 1000]) ?? 10);
      return {
        document: messages,
        text: table(messages, {
          "message id": (message) => message.messageId,
          state: (message) => message.state,
          receives: (message) => message.receives,
          sent: (message) => instant(message.sentAtMs),
          group: (message) => message.groupId,
          body: (message) => message.body,
        }),
        status: messages.length === 0 ? 1 : 0,
      };
    }),
};
