// One message on its way out: which of its attributes a receive asked for, and how it looks on the wire.
import { hash } from "node:crypto";
import type { HeldMessage, QueueRecord } from "tuntas/queue";
import { encodeReceipt, sequenceNumber } from "tuntas/queue";
import type { Protocol } from "../wire.ts";
import { isAttributeName, unknownAttribute } from "./attributes.ts";
import type { AttributeMap } from "./message-attributes.ts";
import { attributesMd5, parseAttributes, selectAttributes } from "./message-attributes.ts";

/** What a system attribute is worked out from. `sourceArn` answers the ARN of the queue that a message died in. */
interface Origin {
  readonly queue: QueueRecord;
  readonly sourceArn: (queueId: number) => string | undefined;
}

type Reader = (message: HeldMessage, origin: Origin) => string | undefined;

const millis = (ms: number): string => String(Math.trunc(ms));

const readers = new Map<string, Reader>(
  Object.entries({
    SenderId: (message) => message.sender,
    SentTimestamp: (message) => millis(message.sentAtMs),
    ApproximateReceiveCount: (message) => String(message.receives),
    ApproximateFirstReceiveTimestamp: (message) => millis(message.firstReceivedAtMs),
    SequenceNumber: (message, { queue }) => (queue.fifo ? sequenceNumber(message.id) : undefined),
    MessageDeduplicationId: (message, { queue }) =>
      queue.fifo ? (message.deduplicationId ?? undefined) : undefined,
    MessageGroupId: (message) => message.groupId ?? undefined,
    AWSTraceHeader: (message) => message.traceHeader ?? undefined,
    DeadLetterQueueSourceArn: (message, { sourceArn }) =>
      message.sourceQueueId === null ? undefined : sourceArn(message.sourceQueueId),
  } satisfies Record<string, Reader>),
);

const sourceName = "DeadLetterQueueSourceArn";

/** The system attributes that a receive means. Where both lists are given, JSON honours the second and Query the first. */
export function systemNames(
  protocol: Protocol,
  attributeNames: readonly string[] | undefined,
  systemAttributeNames: readonly string[] | undefined,
): readonly string[] {
  const [first, second] =
    protocol === "json" ? [systemAttributeNames, attributeNames] : [attributeNames, systemAttributeNames];
  const names = first && first.length > 0 ? first : (second ?? []);
  for (const name of names) {
    if (name !== "All" && !readers.has(name) && !isAttributeName(name)) throw unknownAttribute(name);
  }
  return names.includes("All") ? [...readers.keys()] : names;
}

/** The queues whose ARN the answer will name. */
export function sourceQueueIds(messages: readonly HeldMessage[], names: readonly string[]): number[] {
  if (!names.includes(sourceName)) return [];
  return [
    ...new Set(messages.flatMap(({ sourceQueueId }) => (sourceQueueId === null ? [] : [sourceQueueId]))),
  ];
}

function renderSystem(
  message: HeldMessage,
  names: readonly string[],
  origin: Origin,
): Record<string, string> | undefined {
  if (names.length === 0) return undefined;
  const texts: Record<string, string> = {};
  for (const name of names) {
    const text = readers.get(name)?.(message, origin);
    if (text !== undefined) texts[name] = text;
  }
  return Object.keys(texts).length > 0 ? texts : undefined;
}

function renderUser(
  message: HeldMessage,
  filters: readonly string[],
): { map?: AttributeMap; md5?: string | undefined } {
  if (message.attributes === null || filters.length === 0) return {};
  const selected = selectAttributes(parseAttributes(message.attributes), filters);
  const md5 = attributesMd5(selected);
  return md5 === undefined ? {} : { map: selected, md5 };
}

export interface Rendering extends Origin {
  readonly systemNames: readonly string[];
  readonly attributeFilters: readonly string[];
}

export function renderMessage(message: HeldMessage, rendering: Rendering) {
  const { map, md5 } = renderUser(message, rendering.attributeFilters);
  return {
    MessageId: message.messageId,
    ReceiptHandle: encodeReceipt(message),
    MD5OfBody: hash("md5", message.body, "hex"),
    Body: message.body,
    Attributes: renderSystem(message, rendering.systemNames, rendering),
    MD5OfMessageAttributes: md5,
    MessageAttributes: map,
  };
}
