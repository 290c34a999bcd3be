import { createHash, randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import { checkTexts, queueErrors, type NewMessage, type QueueRecord } from "tuntas/queue";
import type { Call, Command } from "../../command.ts";
import { scopeOf, scopeOptions, withQueue } from "../../session.ts";

function attributesOf(call: Call): string | undefined {
  const entries = call.texts("attribute").map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw call.wrong(`--attribute: expected NAME=VALUE, got ${JSON.stringify(pair)}`);
    return [pair.slice(0, at), { DataType: "String", StringValue: pair.slice(at + 1) }];
  });
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}

function groupOf(
  call: Call,
  queue: QueueRecord,
  body: string,
): Pick<NewMessage, "groupId" | "deduplicationId"> {
  const groupId = call.text("group");
  if (!queue.fifo) return { groupId };
  const hash = queue.contentDeduplication ? createHash("sha256").update(body).digest("hex") : undefined;
  const deduplicationId = call.text("deduplication-id") ?? hash;
  if (groupId !== undefined && deduplicationId !== undefined) return { groupId, deduplicationId };
  throw queueErrors.error(
    "TUNTAS_MESSAGE_GROUP",
    `message to ${queue.name}: expected --group and --deduplication-id for a FIFO queue`,
  );
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
      const attributes = attributesOf(call);
      checkTexts(queue, body, attributes);
      const delayMs = call.durationMs("delay");
      const delaySeconds = delayMs === undefined ? undefined : Math.round(delayMs / 1000);
      if ((delaySeconds ?? 0) > 900)
        throw call.wrong(`--delay: expected at most 15m, got ${call.text("delay")}`);
      const message = {
        messageId: randomUUID(),
        body,
        attributes,
        delaySeconds,
        ...groupOf(call, queue, body),
      };
      const sent = await sender.send(queue, message, scopeOf(call).account);
      return { document: sent, text: `${sent.status}: ${sent.messageId}` };
    }),
};
