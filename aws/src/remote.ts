// One queue of Amazon SQS, as a worker and a sender need it.
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { NewMessage, QueueCounts, Sent } from "tuntas/queue";
import type { Received, Remote } from "tuntas/queue/remote";
import { makeBatch } from "./batch.ts";
import { coded } from "./client.ts";
import type { Found } from "./find.ts";
import type { Keeper } from "./keeper.ts";
import { hiddenSeconds } from "./limits.ts";
import { entryOf } from "./message.ts";
import { makeReceiving } from "./receive.ts";

export interface RemoteParts {
  readonly client: SQSClient;
  readonly found: Found;
  readonly fifo: boolean;
  readonly leaseSeconds: number;
  readonly keeper: Keeper;
}

// One request of sends takes 1 MiB in all.
const sendBytesMax = 1024 * 1024;
const requestsMax = 8;

const bytesOf = (entry: Omit<SendMessageBatchRequestEntry, "Id">): number =>
  Buffer.byteLength(entry.MessageBody ?? "") +
  (entry.MessageAttributes ? Buffer.byteLength(JSON.stringify(entry.MessageAttributes)) : 0);

const countOf = (attributes: Readonly<Record<string, string>>, what: string): number =>
  Number(attributes[`ApproximateNumberOfMessages${what}`] ?? 0);

async function readCounts(client: SQSClient, url: string): Promise<QueueCounts> {
  const names = ["", "NotVisible", "Delayed"].map((what) => `ApproximateNumberOfMessages${what}` as const);
  try {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: names as never });
    const { Attributes = {} } = await client.send(command);
    return {
      ready: countOf(Attributes, ""),
      inFlight: countOf(Attributes, "NotVisible"),
      delayed: countOf(Attributes, "Delayed"),
    };
  } catch (cause) {
    throw coded(cause, `count the messages of ${url}`);
  }
}

function makeBatches(client: SQSClient, url: string, fifo: boolean) {
  return {
    removing: makeBatch<{ ReceiptHandle: string }, object>({
      what: "delete messages",
      requestsMax,
      request: (entries) =>
        client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: [...entries] })),
    }),
    hiding: makeBatch<{ ReceiptHandle: string; VisibilityTimeout: number }, object>({
      what: "change the visibility of messages",
      requestsMax,
      request: (entries) =>
        client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries: [...entries] })),
    }),
    sending: makeBatch<
      Omit<SendMessageBatchRequestEntry, "Id">,
      { MessageId?: string; SequenceNumber?: string }
    >({
      what: "send messages",
      // One at a time, so that messages of one group arrive in the order in which they were sent.
      requestsMax: fifo ? 1 : requestsMax,
      cost: { of: bytesOf, max: sendBytesMax },
      request: (entries) =>
        client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: [...entries] })) as never,
    }),
  };
}

export interface SqsRemote extends Remote {
  /** Resolves once nothing is being told to SQS any more. */
  idle(): Promise<void>;
}

export function makeRemote({ client, found, fifo, leaseSeconds, keeper }: RemoteParts): SqsRemote {
  const { url, deadLetterUrl } = found;
  const { removing, hiding, sending } = makeBatches(client, url, fifo);

  return {
    receive: makeReceiving({ client, url, fifo, leaseSeconds }),
    hold: (held) => keeper.hold(url, held),
    drop: (fence) => keeper.drop(fence),
    async remove({ receipt }: Received) {
      await removing.add({ ReceiptHandle: receipt });
    },
    async giveBack({ receipt, receivedAtMs }: Received, delayMs: number) {
      const heldMs = performance.timeOrigin + performance.now() - receivedAtMs;
      await hiding.add({ ReceiptHandle: receipt, VisibilityTimeout: hiddenSeconds(delayMs, heldMs) });
    },
    async send(message: NewMessage): Promise<Sent> {
      const { MessageId, SequenceNumber } = await sending.add(entryOf(message));
      return { status: "created", messageId: MessageId!, id: SequenceNumber ?? MessageId! };
    },
    async count() {
      const [own, dead] = await Promise.all(
        [url, deadLetterUrl].map((each) => (each === undefined ? undefined : readCounts(client, each))),
      );
      return { ...own!, dead: dead ? dead.ready + dead.inFlight + dead.delayed : 0 };
    },
    idle: async () => {
      await Promise.all([removing, hiding, sending].map((batch) => batch.idle()));
    },
  };
}
