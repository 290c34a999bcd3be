// Receiving: one long poll while the queue is nearly empty, several short ones side by side while it is full.
import { randomUUID } from "node:crypto";
import { ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { RemoteMessage } from "tuntas/queue/remote";
import { coded } from "./client.ts";
import { batchMax, longPollSeconds } from "./limits.ts";
import { received } from "./message.ts";

export interface ReceiveParts {
  readonly client: SQSClient;
  readonly url: string;
  readonly fifo: boolean;
  /** How long a receive hides a message, if nobody extends it. */
  readonly leaseSeconds: number;
}

const sideBySideMax = 10;

const isAbort = (cause: unknown): boolean => (cause as { name?: unknown }).name === "AbortError";

/**
 * Of a FIFO queue one message a request: a batch would bring the messages of a group together, and whatever stood behind
 * one that fails would be received, and so counted, each time that one is tried.
 */
export function makeReceiving({ client, url, fifo, leaseSeconds }: ReceiveParts) {
  const perRequest = fifo ? 1 : batchMax;
  /** Whether the last receive brought all that it asked for. */
  let full = false;

  async function request(count: number, waitSeconds: number, signal: AbortSignal): Promise<RemoteMessage[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: count,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: leaseSeconds,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["All"],
      // An answer that was lost is given again to the request that is tried again.
      ...(fifo && { ReceiveRequestAttemptId: randomUUID() }),
    });
    try {
      const { Messages = [] } = await client.send(command, { abortSignal: signal });
      const receivedAtMs = performance.timeOrigin + performance.now();
      return Messages.map((message) => received(message, receivedAtMs));
    } catch (cause) {
      if (signal.aborted && isAbort(cause)) return [];
      throw coded(cause, "receive messages");
    }
  }

  const countsOf = (count: number): number[] =>
    Array.from({ length: Math.min(sideBySideMax, Math.ceil(count / perRequest)) }, (_, index) =>
      Math.min(perRequest, count - index * perRequest),
    );

  /** Several at once, none of which waits. What one of them got is held now, and not the less for another's failure. */
  async function several(counts: readonly number[], signal: AbortSignal): Promise<RemoteMessage[]> {
    const answers = await Promise.allSettled(counts.map((each) => request(each, 0, signal)));
    const messages = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed && messages.length === 0) throw failed.reason;
    return messages;
  }

  return async (count: number, signal: AbortSignal): Promise<RemoteMessage[]> => {
    if (signal.aborted) return [];
    const counts = countsOf(count);
    const asked = full ? counts : [counts[0]!];
    const messages = await (full ? several(asked, signal) : request(asked[0]!, longPollSeconds, signal));
    full = messages.length >= asked.reduce((sum, each) => sum + each, 0);
    return messages;
  };
}
