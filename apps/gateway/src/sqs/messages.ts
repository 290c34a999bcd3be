// The operations on single messages: send, receive, delete, change visibility.
import type { HeldMessage, QueueRecord, ReceiptResult } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms, WireError } from "../wire.ts";
import { findQueue, queueArn } from "./address.ts";
import { invalid, missing, required, sqsError, within, withinTime } from "./errors.ts";
import type { InFlightLimit } from "./in-flight-limit.ts";
import { checkBody, checkFifo, checkName, checkSupported, prepareMessage, renderSent } from "./message.ts";
import { renderMessage, sourceQueueIds, systemNames } from "./received.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const visibilityMax = 43_200;

export const messageTooLong = (bytesMax: number, what: string) =>
  sqsError(
    "invalidParameterValue",
    `One or more parameters ${what}. Reason: Message must be shorter than ${bytesMax} bytes.`,
  );

export async function sendMessage({ queues }: Rooms, call: Call, input: Input<"sendMessage">) {
  if (input.MessageBody === undefined) checkBody(undefined);
  const queue = await findQueue(queues.catalog, call, input.QueueUrl);
  checkSupported(call.operation, [input]);
  const prepared = prepareMessage(queue, input, call.traceHeader);
  if (prepared.size > queue.messageBytesMax) throw messageTooLong(queue.messageBytesMax, "are invalid");
  checkFifo(queue, input, () => missing("MessageGroupId"));
  const sent = await queues.sender.send(queue, prepared.message, call.scope.account);
  return renderSent(queue, prepared, sent);
}

function checkReceive(input: Input<"receiveMessage">): void {
  within(input.MaxNumberOfMessages, "MaxNumberOfMessages", [1, 10]);
  withinTime(input.VisibilityTimeout, "VisibilityTimeout", [0, visibilityMax]);
  withinTime(input.WaitTimeSeconds, "WaitTimeSeconds", [0, 20]);
  checkName(input.ReceiveRequestAttemptId, "ReceiveRequestAttemptId");
}

/** Finds the ARNs of the queues that messages died in, where they are asked for. */
async function sourceArns({ queues }: Rooms, messages: readonly HeldMessage[], names: readonly string[]) {
  const ids = sourceQueueIds(messages, names);
  const sources = ids.length > 0 ? await queues.catalog.byId(ids) : [];
  return new Map(sources.map((source) => [source.id, queueArn(source)]));
}

async function claim(rooms: Rooms, call: Call, queue: QueueRecord, input: Input<"receiveMessage">) {
  const { receiver } = rooms.queues;
  const waitSeconds = input.WaitTimeSeconds ?? queue.receiveWaitSeconds;
  const messages = await receiver.receive(queue, {
    countMax: input.MaxNumberOfMessages ?? 1,
    waitMs: waitSeconds * 1000,
    visibilitySeconds: input.VisibilityTimeout ?? null,
    attemptId: queue.fifo ? input.ReceiveRequestAttemptId : undefined,
    signal: waitSeconds > 0 ? call.waiting() : undefined,
  });
  if (messages.length > 0) {
    call.onUndelivered(() => {
      receiver
        .giveBack(queue, messages)
        .catch((cause: unknown) =>
          rooms.log.warn({ cause }, "could not give back what a client did not take"),
        );
    });
  }
  return messages;
}

export const makeReceiveMessage =
  (limit: InFlightLimit) =>
  async (rooms: Rooms, call: Call, input: Input<"receiveMessage">): Promise<object> => {
    const queue = await findQueue(rooms.queues.catalog, call, input.QueueUrl);
    checkReceive(input);
    const names = systemNames(call.protocol, input.AttributeNames, input.MessageSystemAttributeNames);
    if (!queue.fifo && (await limit.isReached(queue))) {
      if ((input.WaitTimeSeconds ?? queue.receiveWaitSeconds) > 0) return {};
      throw sqsError("overLimit", "The queue has as many messages in flight as it can: 120000.");
    }
    const messages = await claim(rooms, call, queue, input);
    if (messages.length === 0) return {};
    limit.note(queue, messages.length);
    const arns = await sourceArns(rooms, messages, names);
    const rendering = {
      queue,
      sourceArn: (queueId: number) => arns.get(queueId),
      systemNames: names,
      attributeFilters: input.MessageAttributeNames ?? [],
    };
    return { Messages: messages.map((message) => renderMessage(message, rendering)) };
  };

const handleIsInvalid = (handle: string) =>
  sqsError("receiptHandleIsInvalid", `The input receipt handle "${handle}" is not a valid receipt handle.`);

/** What a delete's result means to SQS where it is no success. */
export function deleteFailure(result: ReceiptResult, handle: string): WireError | undefined {
  if (result === "invalid") return handleIsInvalid(handle);
  if (result === "expired") return invalid(handle, "ReceiptHandle", "The receipt handle has expired.");
  return undefined;
}

export async function deleteMessage({ queues }: Rooms, call: Call, input: Input<"deleteMessage">) {
  const queue = await findQueue(queues.catalog, call, input.QueueUrl);
  const handle = required(input.ReceiptHandle, "ReceiptHandle");
  const failure = deleteFailure(await queues.receipts.delete(queue, handle), handle);
  if (failure) throw failure;
}

function checkChanged(result: ReceiptResult, handle: string, seconds: number): void {
  switch (result) {
    case "ok":
      return;
    case "invalid":
      throw handleIsInvalid(handle);
    case "too_long":
      throw invalid(
        seconds,
        "VisibilityTimeout",
        `Total VisibilityTimeout for the message is beyond the limit [${visibilityMax} seconds]`,
      );
    default:
      throw invalid(
        handle,
        "ReceiptHandle",
        "Message does not exist or is not available for visibility timeout change.",
      );
  }
}

export async function changeOne(
  { queues }: Rooms,
  queue: QueueRecord,
  entry: { readonly ReceiptHandle?: string | undefined; readonly VisibilityTimeout?: number | undefined },
): Promise<void> {
  const handle = required(entry.ReceiptHandle, "ReceiptHandle");
  const seconds = required(
    within(entry.VisibilityTimeout, "VisibilityTimeout", [0, visibilityMax]),
    "VisibilityTimeout",
  );
  checkChanged(await queues.receipts.change(queue, handle, seconds), handle, seconds);
}

export async function changeMessageVisibility(rooms: Rooms, call: Call, input: Input<"changeVisibility">) {
  const queue = await findQueue(rooms.queues.catalog, call, input.QueueUrl);
  await changeOne(rooms, queue, input);
}
