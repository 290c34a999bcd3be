// The batch operations: what fails the whole call, what fails one entry, and entries that share one commit.
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms } from "../wire.ts";
import { WireError } from "../wire.ts";
import { findQueue } from "./address.ts";
import { missing, required, sqsError, sqsErrors, toWireError } from "./errors.ts";
import { checkFifo, checkSupported, messageSize, prepareMessage, renderSent } from "./message.ts";
import { changeOne, deleteFailure, messageTooLong } from "./messages.ts";
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
  const nameless = entries.findIndex(({ Id }) => Id === undefined);
  if (nameless >= 0) throw missing(`${call.operation}RequestEntry.${nameless + 1}.Id`);
  if (!entries.every(({ Id }) => idForm.test(Id!))) {
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

type Result = object | WireError;

/** What came of each entry, as SQS answers it. */
function render(entries: readonly Entry[], results: readonly Result[]) {
  const Successful: object[] = [];
  const Failed: object[] = [];
  results.forEach((result, index) => {
    const Id = entries[index]!.Id!;
    if (result instanceof WireError) Failed.push(renderFailure(Id, result));
    else Successful.push({ Id, ...result });
  });
  return { Successful, Failed: Failed.length > 0 ? Failed : undefined };
}

/** What `work` answers for the entry, or why it cannot. */
function attempt<E extends Entry, T extends object>(entry: E, work: (entry: E) => T): T | WireError {
  try {
    return work(entry);
  } catch (cause) {
    return toFailure(cause);
  }
}

/** Works on those that are ready, all in one go; each entry succeeds or fails for itself. */
async function together<T extends object>(
  ready: readonly (T | WireError)[],
  work: (items: readonly T[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const items = ready.filter((item): item is T => !(item instanceof WireError));
  const results =
    items.length === 0 ? [] : await work(items).catch((cause) => items.map(() => toFailure(cause)));
  let next = 0;
  return ready.map((item) => (item instanceof WireError ? item : results[next++]!));
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
  checkSupported(call.operation, entries);
  for (const entry of entries) checkFifo(queue, entry, groupMissing);
  const prepare = (entry: (typeof entries)[number]) => {
    const prepared = prepareMessage(queue, entry, call.traceHeader);
    if (prepared.size <= queue.messageBytesMax) return prepared;
    throw messageTooLong(queue.messageBytesMax, "cannot be validated");
  };
  const ready = entries.map((entry) => attempt(entry, prepare));
  const results = await together(ready, async (all) => {
    const messages = all.map(({ message }) => message);
    const sent = await queues.sender.sendAll(queue, messages, call.scope.account);
    return all.map((prepared, index) => renderSent(queue, prepared, sent[index]!));
  });
  return render(entries, results);
}

export async function deleteMessageBatch({ queues }: Rooms, call: Call, input: Input<"deleteBatch">) {
  const queue = await findQueue(queues.catalog, call, input.QueueUrl);
  const entries = checkEntries(call, input.Entries);
  const ready = entries.map((entry) =>
    attempt(entry, ({ ReceiptHandle }) => ({ handle: required(ReceiptHandle, "ReceiptHandle") })),
  );
  const results = await together(ready, async (all) => {
    const handles = all.map(({ handle }) => handle);
    const deleted = await queues.receipts.deleteAll(queue, handles);
    return handles.map((handle, index) => deleteFailure(deleted[index]!, handle) ?? {});
  });
  return render(entries, results);
}

export async function changeMessageVisibilityBatch(rooms: Rooms, call: Call, input: Input<"changeBatch">) {
  const queue = await findQueue(rooms.queues.catalog, call, input.QueueUrl);
  const entries = checkEntries(call, input.Entries);
  const results = await Promise.all(
    entries.map((entry) =>
      changeOne(rooms, queue, entry).then(
        () => ({}),
        (cause: unknown) => toFailure(cause),
      ),
    ),
  );
  return render(entries, results);
}
