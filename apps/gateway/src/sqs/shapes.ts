// The inputs and outputs of SQS's operations. Element names are those of the Query protocol.
import { blob, boolean, integer, list, map, string, structure } from "../shape.ts";

const attributes = map(["Attribute", "Name", "Value"], string);
const tags = map(["Tag", "Key", "Value"], string);
const queueOnly = structure({ QueueUrl: string });

const attributeValue = structure({
  DataType: string,
  StringValue: string,
  BinaryValue: blob,
  StringListValues: list("StringListValue", string),
  BinaryListValues: list("BinaryListValue", blob),
});
const messageAttributes = map(["MessageAttribute", "Name", "Value"], attributeValue);
const systemAttributes = map(["MessageSystemAttribute", "Name", "Value"], attributeValue);

const message = {
  MessageBody: string,
  DelaySeconds: integer,
  MessageAttributes: messageAttributes,
  MessageSystemAttributes: systemAttributes,
  MessageGroupId: string,
  MessageDeduplicationId: string,
} as const;

const sent = {
  MessageId: string,
  MD5OfMessageBody: string,
  MD5OfMessageAttributes: string,
  MD5OfMessageSystemAttributes: string,
  SequenceNumber: string,
} as const;

const failed = list(
  "BatchResultErrorEntry",
  structure({ Id: string, Code: string, Message: string, SenderFault: boolean }),
);

const received = structure({
  MessageId: string,
  ReceiptHandle: string,
  MD5OfBody: string,
  Body: string,
  Attributes: attributes,
  MD5OfMessageAttributes: string,
  MessageAttributes: messageAttributes,
});

const settledBatch = (element: string) =>
  structure({ Successful: list(element, structure({ Id: string })), Failed: failed });

export const shapes = {
  createQueue: structure({ QueueName: string, Attributes: attributes, tags }),
  queueUrl: queueOnly,
  getQueueUrl: structure({ QueueName: string, QueueOwnerAWSAccountId: string }),
  listQueues: structure({ QueueNamePrefix: string, MaxResults: integer, NextToken: string }),
  queueUrls: structure({ QueueUrls: list("QueueUrl", string), NextToken: string }),
  listSources: structure({ QueueUrl: string, MaxResults: integer, NextToken: string }),
  sourceUrls: structure({ queueUrls: list("QueueUrl", string), NextToken: string }),
  getAttributes: structure({ QueueUrl: string, AttributeNames: list("AttributeName", string) }),
  attributes: structure({ Attributes: attributes }),
  setAttributes: structure({ QueueUrl: string, Attributes: attributes }),

  sendMessage: structure({ QueueUrl: string, ...message }),
  sent: structure(sent),
  receiveMessage: structure({
    QueueUrl: string,
    AttributeNames: list("AttributeName", string),
    MessageSystemAttributeNames: list("MessageSystemAttributeName", string),
    MessageAttributeNames: list("MessageAttributeName", string),
    MaxNumberOfMessages: integer,
    VisibilityTimeout: integer,
    WaitTimeSeconds: integer,
    ReceiveRequestAttemptId: string,
  }),
  received: structure({ Messages: list("Message", received) }),
  deleteMessage: structure({ QueueUrl: string, ReceiptHandle: string }),
  changeVisibility: structure({ QueueUrl: string, ReceiptHandle: string, VisibilityTimeout: integer }),

  sendBatch: structure({
    QueueUrl: string,
    Entries: list("SendMessageBatchRequestEntry", structure({ Id: string, ...message })),
  }),
  sentBatch: structure({
    Successful: list("SendMessageBatchResultEntry", structure({ Id: string, ...sent })),
    Failed: failed,
  }),
  deleteBatch: structure({
    QueueUrl: string,
    Entries: list("DeleteMessageBatchRequestEntry", structure({ Id: string, ReceiptHandle: string })),
  }),
  deletedBatch: settledBatch("DeleteMessageBatchResultEntry"),
  changeBatch: structure({
    QueueUrl: string,
    Entries: list(
      "ChangeMessageVisibilityBatchRequestEntry",
      structure({ Id: string, ReceiptHandle: string, VisibilityTimeout: integer }),
    ),
  }),
  changedBatch: settledBatch("ChangeMessageVisibilityBatchResultEntry"),

  startMove: structure({ SourceArn: string, DestinationArn: string, MaxNumberOfMessagesPerSecond: integer }),
  startedMove: structure({ TaskHandle: string }),
  cancelMove: structure({ TaskHandle: string }),
  cancelledMove: structure({ ApproximateNumberOfMessagesMoved: integer }),
  listMoves: structure({ SourceArn: string, MaxResults: integer }),
  moves: structure({
    Results: list(
      "ListMessageMoveTasksResultEntry",
      structure({
        TaskHandle: string,
        Status: string,
        SourceArn: string,
        DestinationArn: string,
        MaxNumberOfMessagesPerSecond: integer,
        ApproximateNumberOfMessagesMoved: integer,
        ApproximateNumberOfMessagesToMove: integer,
        FailureReason: string,
        StartedTimestamp: integer,
      }),
    ),
  }),

  tagQueue: structure({ QueueUrl: string, Tags: tags }),
  untagQueue: structure({ QueueUrl: string, TagKeys: list("TagKey", string) }),
  tags: structure({ Tags: tags }),

  addPermission: structure({
    QueueUrl: string,
    Label: string,
    AWSAccountIds: list("AWSAccountId", string),
    Actions: list("ActionName", string),
  }),
  removePermission: structure({ QueueUrl: string, Label: string }),
} as const;
