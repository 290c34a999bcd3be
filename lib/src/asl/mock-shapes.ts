// What often-mocked services answer, in the names that Step Functions gives their fields. A mock for a service that is
// not listed is taken as it is.

export type Shape =
  | { readonly is: "string"; readonly minLength?: number; readonly oneOf?: readonly string[] }
  | { readonly is: "number"; readonly min?: number; readonly max?: number }
  | { readonly is: "list"; readonly of: Shape }
  | {
      readonly is: "object";
      readonly fields: Readonly<Record<string, Shape>>;
      readonly required?: readonly string[];
    };

const text: Shape = { is: "string" };
const number: Shape = { is: "number" };
const list = (of: Shape): Shape => ({ is: "list", of });
const object = (fields: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape => ({
  is: "object",
  fields,
  required,
});

const consumedCapacity = object({
  TableName: text,
  CapacityUnits: number,
  ReadCapacityUnits: number,
  WriteCapacityUnits: number,
});
const startedExecution = object({ ExecutionArn: text, StartDate: text }, "ExecutionArn", "StartDate");
const storageClass: Shape = {
  is: "string",
  oneOf: [
    "STANDARD",
    "REDUCED_REDUNDANCY",
    "STANDARD_IA",
    "ONEZONE_IA",
    "INTELLIGENT_TIERING",
    "GLACIER",
    "DEEP_ARCHIVE",
    "OUTPOSTS",
    "GLACIER_IR",
    "SNOW",
    "EXPRESS_ONEZONE",
    "FSX_OPENZFS",
  ],
};
const configuration = object({
  FunctionName: text,
  FunctionArn: text,
  Runtime: text,
  Handler: text,
  Timeout: { is: "number", min: 1 },
  MemorySize: { is: "number", min: 128, max: 10_240 },
});

const shapes: Readonly<Record<string, Shape>> = {
  "states:startExecution": startedExecution,
  "aws-sdk:sfn:startExecution": startedExecution,
  "lambda:invoke": object({
    StatusCode: number,
    FunctionError: text,
    LogResult: text,
    ExecutedVersion: text,
  }),
  "aws-sdk:lambda:getFunction": object({ Configuration: configuration }),
  "events:putEvents": object({
    FailedEntryCount: number,
    Entries: list(object({ EventId: text, ErrorCode: text, ErrorMessage: text })),
  }),
  "dynamodb:putItem": object({ ConsumedCapacity: consumedCapacity }),
  "dynamodb:getItem": object({ ConsumedCapacity: consumedCapacity }),
  "dynamodb:updateItem": object({ ConsumedCapacity: consumedCapacity }),
  "dynamodb:deleteItem": object({ ConsumedCapacity: consumedCapacity }),
  "sqs:sendMessage": object({ MessageId: text, MD5OfMessageBody: text, SequenceNumber: text }),
  "sns:publish": object({ MessageId: text, SequenceNumber: text }),
  "aws-sdk:kms:encrypt": object({
    CiphertextBlob: { is: "string", minLength: 1 },
    KeyId: text,
    EncryptionAlgorithm: text,
  }),
  "aws-sdk:s3:getObject": object({
    ContentLength: number,
    ContentType: text,
    ETag: text,
    StorageClass: storageClass,
  }),
};

export const shapeOf = (service: string, action: string): Shape | undefined =>
  shapes[`${service}:${action.split(".")[0]}`];
