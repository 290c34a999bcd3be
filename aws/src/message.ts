// Messages as the SDK has them, and as the worker has them.
import type { Message, MessageAttributeValue, SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import type { Attribute, NewMessage } from "tuntas/queue";
import type { RemoteMessage } from "tuntas/queue/remote";

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

const attributeOf = ({ DataType, StringValue, BinaryValue }: MessageAttributeValue): Attribute => ({
  DataType: DataType!,
  ...(StringValue !== undefined && { StringValue }),
  ...(BinaryValue !== undefined && { BinaryValue: base64(BinaryValue) }),
});

type Attributes = Readonly<Record<string, MessageAttributeValue>> | undefined;

const textOf = (attributes: Attributes): string | null =>
  attributes && Object.keys(attributes).length > 0
    ? JSON.stringify(
        Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, attributeOf(value)])),
      )
    : null;

/** A received message, of which all attributes were asked for. */
export function received({ Attributes = {}, ...message }: Message, receivedAtMs: number): RemoteMessage {
  return {
    receivedAtMs,
    messageId: message.MessageId!,
    receipt: message.ReceiptHandle!,
    body: message.Body ?? "",
    attributes: textOf(message.MessageAttributes),
    traceHeader: Attributes.AWSTraceHeader ?? null,
    sender: Attributes.SenderId ?? "",
    receives: Number(Attributes.ApproximateReceiveCount ?? 1),
    sentAtMs: Number(Attributes.SentTimestamp ?? 0),
    firstReceivedAtMs: Number(Attributes.ApproximateFirstReceiveTimestamp ?? 0),
    groupId: Attributes.MessageGroupId ?? null,
    deduplicationId: Attributes.MessageDeduplicationId ?? null,
  };
}

const valueOf = ({ DataType, StringValue, BinaryValue }: Attribute): MessageAttributeValue => ({
  DataType,
  ...(StringValue !== undefined && { StringValue }),
  ...(BinaryValue !== undefined && { BinaryValue: Buffer.from(BinaryValue, "base64") }),
});

/** What a composed message is as an entry of a batch. */
export function entryOf(message: NewMessage): Omit<SendMessageBatchRequestEntry, "Id"> {
  const attributes = JSON.parse(message.attributes ?? "{}") as Record<string, Attribute>;
  const named = Object.entries(attributes).map(([name, value]) => [name, valueOf(value)]);
  const trace = message.traceHeader;
  return {
    MessageBody: message.body,
    MessageGroupId: message.groupId,
    MessageDeduplicationId: message.deduplicationId,
    DelaySeconds: message.delaySeconds,
    ...(named.length > 0 && { MessageAttributes: Object.fromEntries(named) }),
    ...(trace && { MessageSystemAttributes: { AWSTraceHeader: { DataType: "String", StringValue: trace } } }),
  };
}
