import { encodeReceipt, type HeldMessage } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { instant, printable } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";

const describe = ({ messageId, receives, sentAtMs, body }: HeldMessage, handle: string): string =>
  [
    `${messageId}  receives ${receives}  sent ${instant(sentAtMs)}`,
    printable(body),
    `receipt ${handle}`,
  ].join("\n");

export const messageReceive: Command = {
  name: "message receive",
  summary:
    "Receives messages, as a client over the wire would: they are hidden until their visibility timeout ends.",
  arguments: [{ name: "QUEUE", required: true }],
  options: {
    count: { value: "N", meaning: "at most so many, 1 to 10; 1 by default" },
    wait: { value: "DURATION", meaning: "waits so long for the first; not at all by default" },
    visibility: { value: "DURATION", meaning: "hides them so long; the queue's own by default" },
    delete: { meaning: "deletes them at once" },
    ...scopeOptions,
  },
  examples: [
    ["tuntas message receive order-work --wait 20s --delete", "takes the next one off the queue"],
    ["tuntas message peek order-work", "to look without receiving"],
  ],
  no: "there is no message",
  run: (call) =>
    withQueue(call, async ({ queues: { receiver, receipts } }, queue) => {
      const visibilityMs = call.durationMs("visibility");
      const messages = await receiver.receive(queue, {
        countMax: call.count("count", [1, 10]) ?? 1,
        waitMs: call.durationMs("wait") ?? 0,
        visibilitySeconds: visibilityMs === undefined ? null : Math.round(visibilityMs / 1000),
      });
      const handled = messages.map((message) => ({ message, handle: encodeReceipt(message) }));
      if (call.flag("delete")) for (const { handle } of handled) await receipts.delete(queue, handle);
      return {
        document: handled.map(({ message, handle }) => ({ ...message, receiptHandle: handle })),
        text:
          handled.map(({ message, handle }) => describe(message, handle)).join("\n\n") ||
          `no message in ${queue.name}`,
        status: messages.length === 0 ? 1 : 0,
      };
    }),
};
