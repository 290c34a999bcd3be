// The batch operations: what fails the whole call, what fails one entry, and entries that share one commit.
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { WireError } from "../wire.ts";
import { findQueue } from "./address.ts";
import { sqsError, sqsErrors, toWireError } from "./errors.ts";
import { checkFifo, messageSize, prepareMessage, renderSent } from "./message.ts";
import { changeOne, deleteOne, messageTooLong } from "./messages.ts";
import type { shapes } from "./shapes.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

interface Entry {
  readonly Id?: string | undefined;
}

const entriesMax = 10;
const batchBytesMax = 1_048_576;
const idForm = /^[A-Za-z0-9_-]{1,80}$/;

function findRepeated(ids: readonly string[]): string | undefined {
  return ids.find((id, index) => ids.indexOf(id) < index);
}

/** What fails the whole call, before anything is done. */
function checkEntries<E extends Entry>(call: Call, entries: readonly E[] | undefined): readonly E[] {
  if (!entries || entries.length === 0) {
    throw sqsError(
      "emptyBatchRequest",
      `There should be at least one ${call.operation}RequestEntry in the request.`,
    );
  }
  if (entries.length > entriesMax) {
    throw sqsError(
      "tooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${entriesMax}. You have sent ${entries.length}.`,
    );
  }
  if (!entries.every(({ Id }) => Id !== undefined && idForm.test(Id))) {
    throw sqsError(
      "invalidBatchEntryId",
      "A batch entry id can only contain alphanumeric characters, hyphens and underscores. " +
        "It can be at most 80 letters long.",
    );
  }
  const repeated = findRepeated(entries.map(({ Id }) => Id!));
  if (repeated !== undefined) throw sqsError("batchEntryIdsNotDistinct", `Id ${repeated} repeated.`);
  return entries;
}

const renderFailure = (id: string, { kind, message }: WireError) => ({
  Id: id,
  Code: kind.queryCode,
  Message: message,
  SenderFault: kind.status < 500,
});

/** A fault of one entry fails that entry; one of the queue or the server fails the call. */
function toFailure(cause: unknown): WireError {
  const error = toWireError(cause);
  if (!error || error.kind.shape === sqsErrors.queueDoesNotExist.shape) throw cause;
  return error;
}

/** Works on all entries at once, so that they share a commit; each succeeds or fails for itself. */
async function each<E extends Entry>(entries: readonly E[], work: (entry: E) => Promise<object | void>) {
  const outcomes = await Promise.allSettled(entries.map(work));
  const Successful: object[] = [];
  const Failed: object[] = [];
  outcomes.forEach((outcome, index) => {
    const Id = entries[index]!.Id!;
    if (outcome.status === "fulfilled") Successful.push({ Id, ...outcome.value });
    else Failed.push(renderFailure(Id, toFailure(outcome.reason)));
  });
  return { Successful, Failed: Failed.length > 0 ? Failed : undefined };
}

function checkTotal(entries: NonNullable<Input<"sendBatch">["Entries"]>): void {
  const size = entries.reduce((sum, entry) => sum + messageSize(entry), 0);
  if (size <= batchBytesMax) return;
  throw sqsError(
    "batchRequestTooLong",
    `Batch requests cannot be longer than ${batchBytesMax} bytes. You have sent ${size} bytes.`,
  );
}

const groupMissing = () =>
  sqsError("invalidParameterValue", "The request must contain the parameter MessageGroupId.");

export async function sendMessageBatch({ queues }: Rooms, call: Call, input: Input<"sendBatch">) {
  const queue = await findQueue(queues.catalog, call, input.QueueUrl);
  const entries = checkEntries(call, input.Entries);
  checkTotal(entries);
  for (const entry of entries) checkFifo(queue, entry, groupMissing);
  return each(entries, async (entry) => {
    const prepared = prepareMessage(queue, entry, call.traceHeader);
    if (prepared.size > queue.messageBytesMax)
      throw messageTooLong(queue.messageBytesMax, "cannot be validated");
    const sent = await queues.sender.send(queue, prepared.message, call.scope.account);
    return renderSent(queue, prepared, sent);
  });
}

export async function deleteMessageBatch(rooms: Rooms, call: Call, input: Input<"deleteBatch">) {
  const queue = await findQueue(rooms.queues.catalog, call, input.QueueUrl);
  const entries = checkEntries(call, input.Entries);
  return each(entries, (entry) => deleteOne(rooms, queue, entry.ReceiptHandle));
}

export async function changeMessageVisibilityBatch(rooms: Rooms, call: Call, input: Input<"changeBatch">) {
  const queue = await findQueue(rooms.queues.catalog, call, input.QueueUrl);
  const entries = checkEntries(call, input.Entries);
  return each(entries, (entry) => changeOne(rooms, queue, entry));
}
