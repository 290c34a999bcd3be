// The operations of SQS: their names, shapes and functions.
import type { Structure, ValueOf } from "../shape.ts";
import type { Call, Operation, Rooms, Service } from "../wire.ts";
import { isQueuePath } from "./address.ts";
import { changeMessageVisibilityBatch, deleteMessageBatch, sendMessageBatch } from "./batches.ts";
import { toWireError } from "./errors.ts";
import { makeInFlightLimit } from "./in-flight-limit.ts";
import { changeMessageVisibility, deleteMessage, makeReceiveMessage, sendMessage } from "./messages.ts";
import { cancelMessageMoveTask, listMessageMoveTasks, startMessageMoveTask } from "./moves.ts";
import { addPermission, removePermission } from "./permissions.ts";
import * as queues from "./queues.ts";
import { shapes } from "./shapes.ts";
import { subjectsOf } from "./subjects.ts";
import { listQueueTags, tagQueue, untagQueue } from "./tags.ts";

type Run<I extends Structure> = (rooms: Rooms, call: Call, input: ValueOf<I>) => Promise<object | void>;

export function makeSqs(rooms: Rooms): Service {
  const receiveMessage = makeReceiveMessage(makeInFlightLimit(rooms.queues.catalog));
  const operation = <I extends Structure>(
    input: I,
    output: Structure | undefined,
    run: Run<I>,
  ): Operation => ({
    input,
    output,
    run: (call, value) => run(rooms, call, value as never),
  });

  const operations: Record<string, Operation> = {
    AddPermission: operation(shapes.addPermission, undefined, addPermission),
    CancelMessageMoveTask: operation(shapes.cancelMove, shapes.cancelledMove, cancelMessageMoveTask),
    ChangeMessageVisibility: operation(shapes.changeVisibility, undefined, changeMessageVisibility),
    ChangeMessageVisibilityBatch: operation(
      shapes.changeBatch,
      shapes.changedBatch,
      changeMessageVisibilityBatch,
    ),
    CreateQueue: operation(shapes.createQueue, shapes.queueUrl, queues.createQueue),
    DeleteMessage: operation(shapes.deleteMessage, undefined, deleteMessage),
    DeleteMessageBatch: operation(shapes.deleteBatch, shapes.deletedBatch, deleteMessageBatch),
    DeleteQueue: operation(shapes.queueUrl, undefined, queues.deleteQueue),
    GetQueueAttributes: operation(shapes.getAttributes, shapes.attributes, queues.getQueueAttributes),
    GetQueueUrl: operation(shapes.getQueueUrl, shapes.queueUrl, queues.getQueueUrl),
    ListDeadLetterSourceQueues: operation(
      shapes.listSources,
      shapes.sourceUrls,
      queues.listDeadLetterSourceQueues,
    ),
    ListMessageMoveTasks: operation(shapes.listMoves, shapes.moves, listMessageMoveTasks),
    ListQueueTags: operation(shapes.queueUrl, shapes.tags, listQueueTags),
    ListQueues: operation(shapes.listQueues, shapes.queueUrls, queues.listQueues),
    PurgeQueue: operation(shapes.queueUrl, undefined, queues.purgeQueue),
    ReceiveMessage: operation(shapes.receiveMessage, shapes.received, receiveMessage),
    RemovePermission: operation(shapes.removePermission, undefined, removePermission),
    SendMessage: operation(shapes.sendMessage, shapes.sent, sendMessage),
    SendMessageBatch: operation(shapes.sendBatch, shapes.sentBatch, sendMessageBatch),
    SetQueueAttributes: operation(shapes.setAttributes, undefined, queues.setQueueAttributes),
    StartMessageMoveTask: operation(shapes.startMove, shapes.startedMove, startMessageMoveTask),
    TagQueue: operation(shapes.tagQueue, undefined, tagQueue),
    UntagQueue: operation(shapes.untagQueue, undefined, untagQueue),
  };

  return {
    prefix: "sqs",
    targetPrefix: "AmazonSQS",
    operations: new Map(Object.entries(operations)),
    subjectsOf,
    ownsPath: isQueuePath,
    rootOnly: new Set(["CreateQueue", "ListQueues"]),
    queryNamespace: "http://queue.amazonaws.com/doc/2012-11-05/",
    toWireError,
  };
}
