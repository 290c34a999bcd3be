// What `send` of a declared queue does: check the message, make its text, hand it to the client.
import { createHash, randomUUID } from "node:crypto";
import { toSeconds } from "../core/duration.ts";
import { describeIssues, type SchemaResult } from "../core/schema.ts";
import { isSqsName, isSqsText, isStorable } from "../core/text.ts";
import { attributesOf } from "./attributes.ts";
import type { NewMessage, QueueRecord, Sent } from "./contract.ts";
import { defaultScope, queueErrors } from "./contract.ts";
import type { Queues } from "./client/index.ts";
import type { QueueDefinition, SendOptions } from "./declaration.ts";

/** The text of what was given: transforms and defaults of the schema apply when it is received. */
function textOf(name: string, message: unknown, { issues }: SchemaResult<unknown>): string {
  if (issues)
    throw queueErrors.error("TUNTAS_MESSAGE_INVALID", `message to ${name}: ${describeIssues(issues)}`);
  const body = JSON.stringify(message) as string | undefined;
  if (body !== undefined) return body;
  throw queueErrors.error(
    "TUNTAS_MESSAGE_INVALID",
    `message to ${name}: expected something that JSON can hold, got ${typeof message}`,
  );
}

/** What SQS counts: name, type and value of each attribute, not the JSON around them. */
function attributeBytes(attributes: string | undefined): number {
  if (attributes === undefined) return 0;
  const all = JSON.parse(attributes) as Record<string, { DataType?: string; StringValue?: string }>;
  return Object.entries(all)
    .map(([name, { DataType = "", StringValue = "" }]) => Buffer.byteLength(name + DataType + StringValue))
    .reduce((sum, bytes) => sum + bytes, 0);
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

/** What somebody wants to send, before the queue was asked whether it takes it. */
export interface Draft extends Pick<NewMessage, "body" | "delaySeconds" | "groupId" | "deduplicationId"> {
  /** Message attributes of type String. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** The message as this queue takes it. Errors: TUNTAS_MESSAGE_TEXT, TUNTAS_MESSAGE_SIZE, TUNTAS_MESSAGE_GROUP. */
export function composeMessage(queue: QueueRecord, draft: Draft): NewMessage {
  const { body, delaySeconds } = draft;
  const attributes = attributesOf(draft.attributes);
  checkTexts(queue, body, attributes);
  return { messageId: randomUUID(), body, attributes, delaySeconds, ...groupOf(queue, draft) };
}

/** Checks and sends; in the caller's transaction where `options.tx` is given. */
export async function sendDeclared(
  queues: Queues,
  definition: QueueDefinition,
  message: unknown,
  options: SendOptions,
): Promise<Sent> {
  const { name } = definition;
  const { tx, delay, correlationId, attributes, groupId, deduplicationId } = options;
  const checked = definition.options.message["~standard"].validate(message);
  const body = textOf(name, message, checked instanceof Promise ? await checked : checked);
  const queue = queues.catalog.known(defaultScope, name) ?? (await queues.catalog.get(defaultScope, name));
  const wanted = composeMessage(queue, {
    body,
    attributes: correlationId === undefined ? attributes : { ...attributes, correlationId },
    delaySeconds: delay === undefined ? undefined : toSeconds(delay, "send: delay"),
    groupId,
    deduplicationId,
  });
  return tx
    ? queues.sender.sendIn(tx, queue, wanted, defaultScope.account)
    : queues.sender.send(queue, wanted, defaultScope.account);
}
