import { text as readAll } from "node:stream/consumers";
import { composeMessage } from "tuntas/queue";
import type { Call, Command } from "../../command.ts";
import { scopeOf, scopeOptions, withQueue } from "../../session.ts";

function attributesOf(call: Call): Record<string, string> {
  const entries = call.texts("attribute").map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw call.wrong(`--attribute: expected NAME=VALUE, got ${JSON.stringify(pair)}`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

export const messageSend: Command = {
  name: "message send",
  summary: "Sends a message.",
  arguments: [
    { name: "QUEUE", required: true },
    { name: "BODY", required: true },
  ],
  options: {
    delay: { value: "DURATION", meaning: "hides it so long, at most 15m" },
    group: { value: "ID", meaning: "its group: kept in order (FIFO), or served fairly" },
    "deduplication-id": { value: "ID", meaning: "FIFO: a second one with it within 5 minutes is not sent" },
    attribute: { value: "NAME=VALUE", meaning: "a message attribute", multiple: true },
    ...scopeOptions,
  },
  examples: [
    [
      `tuntas message send order-work '{"orderId":"ord_1"}'`,
      "the body is text, and comes back byte for byte",
    ],
    ["tuntas message send order-work - < body.json", "a body from a file"],
  ],
  no: "there is no such queue, or it does not take the message",
  run: (call) =>
    withQueue(call, async ({ queues: { sender } }, queue) => {
      const body = call.argument(1) === "-" ? await readAll(process.stdin) : call.argument(1);
      if (body === "") throw call.wrong("BODY is empty, which SQS does not take");
      const delayMs = call.durationMs("delay");
      const delaySeconds = delayMs === undefined ? undefined : Math.round(delayMs / 1000);
      if ((delaySeconds ?? 0) > 900)
        throw call.wrong(`--delay: expected at most 15m, got ${call.text("delay")}`);
      const message = composeMessage(queue, {
        body,
        attributes: attributesOf(call),
        delaySeconds,
        groupId: call.text("group"),
        deduplicationId: call.text("deduplication-id"),
      });
      const sent = await sender.send(queue, message, scopeOf(call).account);
      return { document: sent, text: `${sent.status}: ${sent.messageId}` };
    }),
};
