// One message on its way in: what SendMessage and each entry of SendMessageBatch check, and what both answer.
import { hash, randomUUID } from "node:crypto";
import type { NewMessage, QueueRecord, Sent } from "tuntas/queue";
import { isSqsName, isSqsText, sequenceNumber } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { invalid, required, sqsError } from "./errors.ts";
import type { AttributeMap } from "./message-attributes.ts";
import {
  attributesMd5,
  attributesSize,
  attributesText,
  checkAttributes,
  haveLists,
} from "./message-attributes.ts";

export interface MessageInput {
  readonly MessageBody?: string | undefined;
  readonly DelaySeconds?: number | undefined;
  readonly MessageAttributes?: AttributeMap | undefined;
  readonly MessageSystemAttributes?: AttributeMap | undefined;
  readonly MessageGroupId?: string | undefined;
  readonly MessageDeduplicationId?: string | undefined;
}

const traceName = "AWSTraceHeader";
const traceMax = 1024;
/** Errors: InvalidParameterValue. */
export function checkName(name: string | undefined, parameter: string): void {
  if (name === undefined || isSqsName(name)) return;
  throw invalid(
    name,
    parameter,
    `${parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
}

export function checkBody(body: string | undefined): string {
  const text = required(body, "MessageBody");
  if (isSqsText(text)) return text;
  throw sqsError(
    "invalidMessageContents",
    "Invalid characters found. Valid unicode characters are " +
      "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.",
  );
}

function checkDelay({ fifo }: QueueRecord, seconds: number | undefined): void {
  if (seconds === undefined) return;
  if (seconds < 0 || seconds > 900) {
    throw invalid(seconds, "DelaySeconds", "DelaySeconds must be >= 0 and <= 900.");
  }
  if (fifo && seconds > 0) throw notForThisType(seconds, "DelaySeconds");
}

const notForThisType = (value: string | number, parameter: string): WireError =>
  invalid(value, parameter, "The request include parameter that is not valid for this queue type.");

function checkGrouping(queue: QueueRecord, { MessageGroupId, MessageDeduplicationId }: MessageInput): void {
  checkName(MessageGroupId, "MessageGroupId");
  checkName(MessageDeduplicationId, "MessageDeduplicationId");
  if (!queue.fifo && MessageDeduplicationId !== undefined) {
    throw notForThisType(MessageDeduplicationId, "MessageDeduplicationId");
  }
}

function readTrace(attributes: AttributeMap | undefined): string | undefined {
  if (!attributes) return undefined;
  for (const name of Object.keys(attributes)) {
    if (name !== traceName) {
      throw sqsError("invalidParameterValue", `Message system attribute name '${name}' is invalid.`);
    }
  }
  const trace = attributes[traceName];
  if (!trace) return undefined;
  const { DataType, StringValue } = trace;
  if (DataType === "String" && StringValue && StringValue.length <= traceMax && isSqsText(StringValue))
    return StringValue;
  throw sqsError(
    "invalidParameterValue",
    `Message system attribute '${traceName}' must contain a non-empty value of type 'String'.`,
  );
}

/** The bytes that count for a message's size: body and attributes. System attributes do not count. */
export const messageSize = ({ MessageBody, MessageAttributes }: MessageInput): number =>
  Buffer.byteLength(MessageBody ?? "") + (MessageAttributes ? attributesSize(MessageAttributes) : 0);

/** What fails a call whole, however many messages it has. Errors: UnsupportedOperation. */
export function checkSupported(operation: string, inputs: readonly MessageInput[]): void {
  const listed = inputs.some(
    ({ MessageAttributes = {}, MessageSystemAttributes = {} }) =>
      haveLists(MessageAttributes) || haveLists(MessageSystemAttributes),
  );
  if (!listed) return;
  throw sqsError(
    "unsupportedOperation",
    `Message attribute list values in ${operation} operation are not supported.`,
  );
}

/** What FIFO asks of every message. Errors: of the given kind for a missing group, InvalidParameterValue. */
export function checkFifo(queue: QueueRecord, input: MessageInput, groupMissing: () => WireError): void {
  if (!queue.fifo) return;
  if (input.MessageGroupId === undefined) throw groupMissing();
  if (input.MessageDeduplicationId === undefined && !queue.contentDeduplication) {
    throw sqsError(
      "invalidParameterValue",
      "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
    );
  }
}

export interface Prepared {
  readonly message: NewMessage;
  readonly size: number;
  readonly bodyMd5: string;
  readonly attributesMd5: string | undefined;
  readonly systemAttributesMd5: string | undefined;
}

function deduplicationId(
  { fifo }: QueueRecord,
  { MessageDeduplicationId }: MessageInput,
  body: string,
): string | undefined {
  if (!fifo) return undefined;
  return MessageDeduplicationId ?? hash("sha256", body, "hex");
}

/** Checks a message and makes it ready to send; its size is for the caller to judge. */
export function prepareMessage(
  queue: QueueRecord,
  input: MessageInput,
  traceOfRequest: string | undefined,
): Prepared {
  const body = checkBody(input.MessageBody);
  checkDelay(queue, input.DelaySeconds);
  checkGrouping(queue, input);
  const { MessageAttributes, MessageSystemAttributes } = input;
  const attributes =
    MessageAttributes && Object.keys(MessageAttributes).length > 0 ? MessageAttributes : undefined;
  if (attributes) checkAttributes(attributes);
  const trace = readTrace(MessageSystemAttributes);
  return {
    message: {
      messageId: randomUUID(),
      body,
      attributes: attributes && attributesText(attributes),
      traceHeader: trace ?? traceOfRequest,
      delaySeconds: queue.fifo ? undefined : input.DelaySeconds,
      groupId: input.MessageGroupId,
      deduplicationId: deduplicationId(queue, input, body),
    },
    size: messageSize(input),
    bodyMd5: hash("md5", body, "hex"),
    attributesMd5: attributes && attributesMd5(attributes),
    systemAttributesMd5: trace === undefined ? undefined : attributesMd5(MessageSystemAttributes!),
  };
}

export const renderSent = (queue: QueueRecord, prepared: Prepared, sent: Sent) => ({
  MessageId: sent.messageId,
  MD5OfMessageBody: prepared.bodyMd5,
  MD5OfMessageAttributes: prepared.attributesMd5,
  MD5OfMessageSystemAttributes: prepared.systemAttributesMd5,
  SequenceNumber: queue.fifo ? sequenceNumber(sent.id) : undefined,
});
