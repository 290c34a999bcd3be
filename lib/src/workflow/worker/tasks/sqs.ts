// `sqs:sendMessage` to a queue of this database, with and without a task token in its body.
import { createHash, randomUUID } from "node:crypto";
import type { JsonObject } from "../../../asl/contract.ts";
import type { Queues } from "../../../queue/client/index.ts";
import { sequenceNumber, type QueueRecord, type Scope } from "../../../queue/contract.ts";
import { sdkMetadata, type TaskRunner } from "./task.ts";

const urlForm = /\/(\d{12})\/([^/]+)$/;

const optional = <T>(value: unknown, type: "string" | "number"): T | undefined =>
  typeof value === type ? (value as T) : undefined;

/** The queue that the URL names, where it is here. */
async function ownQueue(
  queues: Queues,
  scope: Scope | undefined,
  url: unknown,
): Promise<QueueRecord | undefined> {
  const [, account, name] = urlForm.exec(String(url ?? "")) ?? [];
  if (!scope || account === undefined) return undefined;
  return queues.catalog.find({ account, region: scope.region }, name!);
}

const scopeOf = (arn: string | undefined): Scope | undefined => {
  const parts = arn?.split(":");
  return parts && { region: parts[3]!, account: parts[4]! };
};

/** Sends to the own queue; whatever is not here goes to `elsewhere`. */
export function makeSqsTask(queues: Queues, elsewhere: TaskRunner): TaskRunner {
  return async (task, context) => {
    const given = task.input as JsonObject;
    const queue = await ownQueue(queues, scopeOf(context.execution?.id), given.QueueUrl);
    if (!queue) return elsewhere(task, context);
    const { MessageBody: content, MessageAttributes: attributes } = given;
    const body = typeof content === "string" ? content : JSON.stringify(content ?? null);
    const sent = await queues.sender.send(
      queue,
      {
        messageId: randomUUID(),
        body,
        attributes: attributes === undefined ? undefined : JSON.stringify(attributes),
        delaySeconds: optional<number>(given.DelaySeconds, "number"),
        groupId: optional<string>(given.MessageGroupId, "string"),
        deduplicationId: optional<string>(given.MessageDeduplicationId, "string"),
      },
      queue.account,
    );
    const output = {
      MD5OfMessageBody: createHash("md5").update(body).digest("hex"),
      MessageId: sent.messageId,
      ...sdkMetadata(200, randomUUID()),
      ...(queue.fifo ? { SequenceNumber: sequenceNumber(sent.id) } : {}),
    };
    if (task.pattern !== "waitForTaskToken") return { output };
    await context.submitted(output, true);
    return "handed over";
  };
}
