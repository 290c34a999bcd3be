// A message before it goes in: whether its queue takes it, and what it is then.
import { createHash, randomUUID } from "node:crypto";
import { isSqsName, isSqsText, isStorable } from "../core/text.ts";
import { attributesOf, checkAttributes, type Attribute } from "./attributes.ts";
import type { NewMessage, QueueRecord } from "./contract.ts";
import { queueErrors } from "./contract.ts";

/** What somebody wants to send, before the queue was asked whether it takes it. */
export interface Draft extends Pick<NewMessage, "body" | "delaySeconds" | "groupId" | "deduplicationId"> {
  /** Message attributes; a text is one of type String. */
  readonly attributes?: Readonly<Record<string, string | Attribute>> | undefined;
}

/** What SQS counts: name, type and value of each attribute, not the JSON around them. */
function attributeBytes(attributes: string | undefined): number {
  if (attributes === undefined) return 0;
  const all = Object.entries(JSON.parse(attributes) as Record<string, Partial<Attribute>>);
  return all.reduce(
    (sum, [name, { DataType = "", StringValue = "", BinaryValue = "" }]) =>
      sum + Buffer.byteLength(name + DataType + StringValue) + Buffer.byteLength(BinaryValue, "base64"),
    0,
  );
}

/** Whether the queue takes these texts. Errors: TUNTAS_MESSAGE_TEXT, TUNTAS_MESSAGE_SIZE. */
export function checkTexts(queue: QueueRecord, body: string, attributes: string | undefined): void {
  if (!isSqsText(body))
    throw queueErrors.error(
      "TUNTAS_MESSAGE_TEXT",
      `message to ${queue.name}: the body has a character that SQS refuses`,
    );
  if (attributes !== undefined && !isStorable(attributes)) {
    throw queueErrors.error(
      "TUNTAS_MESSAGE_TEXT",
      `message to ${queue.name}: an attribute has a character that text cannot hold`,
    );
  }
  // A character has at most three bytes for each of its units, and most bodies are far from the limit.
  if (attributes === undefined && body.length * 3 <= queue.messageBytesMax) return;
  const bytes = Buffer.byteLength(body) + attributeBytes(attributes);
  if (bytes > queue.messageBytesMax) {
    throw queueErrors.error(
      "TUNTAS_MESSAGE_SIZE",
      `message to ${queue.name}: expected at most ${queue.messageBytesMax} bytes, got ${bytes}`,
    );
  }
}

/** As SQS has it, so that the message goes wherever its code goes. */
function checkName(queue: QueueRecord, what: string, name: string | undefined): void {
  if (name === undefined || isSqsName(name)) return;
  throw queueErrors.error(
    "TUNTAS_MESSAGE_GROUP",
    `message to ${queue.name}: expected ${what} of 1 to 128 letters, digits and punctuation, got ${JSON.stringify(name).slice(0, 60)}`,
  );
}

function groupOf(
  queue: QueueRecord,
  { body, groupId, ...draft }: Draft,
): Pick<NewMessage, "groupId" | "deduplicationId"> {
  checkName(queue, "a group", groupId);
  checkName(queue, "a deduplication id", draft.deduplicationId);
  if (!queue.fifo) return { groupId };
  const deduplicationId =
    draft.deduplicationId ??
    (queue.contentDeduplication ? createHash("sha256").update(body).digest("hex") : undefined);
  if (groupId === undefined || deduplicationId === undefined) {
    throw queueErrors.error(
      "TUNTAS_MESSAGE_GROUP",
      `message to ${queue.name}: expected a group and a deduplication id for a FIFO queue`,
    );
  }
  return { groupId, deduplicationId };
}

/**
 * The message as this queue takes it. Errors: TUNTAS_MESSAGE_TEXT, TUNTAS_MESSAGE_ATTRIBUTE, TUNTAS_MESSAGE_SIZE,
 * TUNTAS_MESSAGE_GROUP.
 */
export function composeMessage(queue: QueueRecord, draft: Draft): NewMessage {
  const { body, delaySeconds } = draft;
  checkAttributes(queue.name, draft.attributes);
  const attributes = attributesOf(draft.attributes);
  checkTexts(queue, body, attributes);
  return { messageId: randomUUID(), body, attributes, delaySeconds, ...groupOf(queue, draft) };
}
