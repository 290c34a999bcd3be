// What SQS answers to input that it does not take: code, status and words, by table. Each row is one call.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.fixture.ts";

let gateway: TestGateway;
const arn = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;
const policy = (deadLetterTargetArn: unknown, maxReceiveCount: unknown): string =>
  JSON.stringify({ deadLetterTargetArn, maxReceiveCount });

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.createQueue("plain");
  await gateway.createQueue("ordered.fifo", { FifoQueue: "true" });
  await gateway.createQueue("dead");
  await gateway.createQueue("dying", { RedrivePolicy: policy(arn("dead"), 1) });
  await gateway.createQueue("closed", { RedriveAllowPolicy: '{"redrivePermission":"denyAll"}' });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const refusedAs = async (action: string, input: object) => {
  const { status, headers, json } = await gateway.call(action, input);
  return { status, code: headers.get("x-amzn-query-error")?.split(";")[0], message: json?.message as string };
};

describe("a RedrivePolicy that cannot be is said with its text", () => {
  const plain = arn("plain");
  test.each([
    ['{"maxReceiveCount":7}', "Redrive policy does not contain mandatory attribute: deadLetterTargetArn."],
    [policy(plain, undefined), "Redrive policy does not contain mandatory attribute: maxReceiveCount."],
    [
      policy(plain, 0),
      "Invalid value for maxReceiveCount: 0, valid values are from 1 to 1000 both inclusive.",
    ],
    [
      policy(plain, "invalid"),
      "Invalid value for maxReceiveCount: invalid, valid values are from 1 to 1000 both inclusive.",
    ],
    [
      policy(plain, 1001),
      "Invalid value for maxReceiveCount: 1001, valid values are from 1 to 1000 both inclusive.",
    ],
    [policy("dummy", 3), "Invalid value for deadLetterTargetArn."],
    [
      policy("arn:aws:sns:us-east-1:000000000000:topic", 3),
      "Only SQS queues are valid resources for deadLetterTargetArn.",
    ],
    [
      '{"maxReceiveCount":1,"deadLetterTargetArn":"x","more":1}',
      "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].",
    ],
    [policy(arn("nowhere"), 3), "Dead letter target does not exist."],
    [policy(arn("ordered.fifo"), 3), "Dead-letter queue must be same type of queue as the source."],
    [policy(arn("closed"), 3), "The dead-letter queue's RedriveAllowPolicy does not allow this source."],
  ])("%s", async (RedrivePolicy, reason) => {
    const message = `Value ${RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: ${reason}`;
    const wanted = { status: 400, code: "InvalidParameterValue", message };
    const Attributes = { RedrivePolicy };
    expect(await refusedAs("CreateQueue", { QueueName: "new", Attributes })).toEqual(wanted);
    const { QueueUrl } = (await gateway.call("CreateQueue", { QueueName: "source" })).json;
    expect(await refusedAs("SetQueueAttributes", { QueueUrl, Attributes })).toEqual(wanted);
  });
});

const cannot = "Amazon SQS can't create the redrive allow policy";
const notAsItIs = `${cannot}, as it’s in an unsupported format.`;
const sourceArns = (count: number) => Array.from({ length: count }, (_, n) => arn(`source-${n}`));

test.each([
  ["RedrivePolicy", "x", "Redrive policy is not a valid JSON map."],
  ["RedrivePolicy", "[]", "Redrive policy is not a valid JSON map."],
  ["RedriveAllowPolicy", "x", notAsItIs],
  ["RedriveAllowPolicy", "{}", notAsItIs],
  ["RedriveAllowPolicy", '{"redrivePermission":"some"}', notAsItIs],
  ["RedriveAllowPolicy", '{"redrivePermission":"byQueue","sourceQueueArns":["x"]}', notAsItIs],
  ["RedriveAllowPolicy", '{"redrivePermission":"denyAll","more":1}', notAsItIs],
  ["RedriveAllowPolicy", `{"redrivePermission":"denyAll"${" ".repeat(8192)}}`, notAsItIs],
])("a %s of %s is no value of it", async (name, text, reason) => {
  const Attributes = { [name]: text };
  const message = `Invalid value for the parameter ${name}. Reason: ${reason}`;
  const wanted = { status: 400, code: "InvalidAttributeValue", message };
  expect(await refusedAs("SetQueueAttributes", { QueueUrl: "plain", Attributes })).toEqual(wanted);
});

test.each([
  [
    "byQueue",
    undefined,
    "When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.",
  ],
  ["byQueue", sourceArns(11), "The maximum number of source queue ARNs you can specify is 10."],
  [
    "denyAll",
    sourceArns(1),
    "To specify one or more source queue ARNs, you must set redrivePermission to byQueue.",
  ],
])(
  "a RedriveAllowPolicy of %s with sources %j contradicts itself",
  async (redrivePermission, arns, reason) => {
    const RedriveAllowPolicy = JSON.stringify({ redrivePermission, sourceQueueArns: arns });
    const message = `Value ${RedriveAllowPolicy} for parameter RedriveAllowPolicy is invalid. Reason: ${cannot}. ${reason}`;
    const refused = await refusedAs("SetQueueAttributes", {
      QueueUrl: "plain",
      Attributes: { RedriveAllowPolicy },
    });
    expect(refused).toEqual({ status: 400, code: "InvalidParameterValue", message });
  },
);

const attribute = (name: string, value: object) => ({
  QueueUrl: "plain",
  MessageBody: "x",
  MessageAttributes: { [name]: value },
});
const valued = (StringValue: string, DataType = "String") => ({ DataType, StringValue });
const arnForm = "arn:<partition>:<service>:<region>:<account-id>:<resource-id>";

describe("what AWS was seen to say", () => {
  test.each([
    ["CreateQueue", {}, "Value for parameter QueueName is invalid. Reason: Must specify a queue name."],
    ["CreateQueue", { QueueName: "" }, "Queue name cannot be empty"],
    [
      "GetQueueUrl",
      { QueueName: "" },
      "Value for parameter QueueName is invalid. Reason: Must specify a queue name.",
    ],
    [
      "ListQueues",
      { MaxResults: 1001 },
      "Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and 1000.",
    ],
    [
      "ReceiveMessage",
      { QueueUrl: "plain", VisibilityTimeout: 43_201 },
      "Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.",
    ],
    [
      "StartMessageMoveTask",
      { SourceArn: "x" },
      `You must use this format to specify the SourceArn: ${arnForm}`,
    ],
    [
      "ListMessageMoveTasks",
      { SourceArn: "" },
      `You must use this format to specify the SourceArn: ${arnForm}`,
    ],
    [
      "StartMessageMoveTask",
      { SourceArn: arn("dead"), DestinationArn: arn("dead") },
      "Source queue arn and destination queue arn cannot be the same.",
    ],
    [
      "StartMessageMoveTask",
      { SourceArn: arn("dead"), DestinationArn: arn("ordered.fifo") },
      "The source queue and destination queue must be of the same queue type.",
    ],
    [
      "StartMessageMoveTask",
      { SourceArn: arn("dead"), MaxNumberOfMessagesPerSecond: 501 },
      "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
    ],
    [
      "TagQueue",
      { QueueUrl: "plain", Tags: Object.fromEntries(sourceArns(51).map((key) => [key, ""])) },
      "Too many tags added for queue plain.",
    ],
    [
      "SendMessage",
      attribute("", valued("x")),
      "The request must contain non-empty message (user) attribute names.",
    ],
    [
      "SendMessage",
      attribute("a".repeat(257), valued("x")),
      "Message (user) attribute names must be shorter than 256 Bytes",
    ],
    [
      "SendMessage",
      attribute("amazon.a", valued("x")),
      "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. These strings are reserved for internal use. Additionally, they cannot start or end with '.'.",
    ],
    [
      "SendMessage",
      attribute("a..b", valued("x")),
      "Message (user) attribute name must not have successive '.' characters.",
    ],
    [
      "SendMessage",
      attribute("a", valued("x", "Number")),
      "Can't cast the value of message (user) attribute 'a' to a number.",
    ],
    [
      "SendMessage",
      attribute("a", { DataType: "Binary", StringValue: "x" }),
      "The message attribute 'a' with type 'Binary' must use field 'Binary'.",
    ],
    [
      "SendMessage",
      attribute("a", { ...valued("x"), BinaryValue: "eA==" }),
      "The message attribute 'a' with type 'String' must use field 'String'.",
    ],
  ])("%s of %j", async (action, input, message) => {
    expect(await refusedAs(action, input)).toEqual({ status: 400, code: "InvalidParameterValue", message });
  });

  test.each([
    ["SetQueueAttributes", { QueueUrl: "plain" }, "Attribute.Name"],
    ["SetQueueAttributes", { QueueUrl: "plain", Attributes: {} }, "Attribute.Name"],
    [
      "DeleteMessageBatch",
      { QueueUrl: "plain", Entries: [{ Id: "a" }, {}] },
      "DeleteMessageBatchRequestEntry.2.Id",
    ],
  ])("%s of %j misses %s", async (action, input, parameter) => {
    const message = `The request must contain the parameter ${parameter}.`;
    expect(await refusedAs(action, input)).toEqual({ status: 400, code: "MissingParameter", message });
  });

  const listed = { MessageBody: "x", MessageAttributes: { a: { ...valued("x"), StringListValues: [] } } };
  test.each([
    ["SendMessage", listed],
    [
      "SendMessageBatch",
      {
        Entries: [
          { Id: "a", MessageBody: "x" },
          { ...listed, Id: "b" },
        ],
      },
    ],
  ])("lists as values fail a %s whole", async (action, input) => {
    const message = `Message attribute list values in ${action} operation are not supported.`;
    const code = "AWS.SimpleQueueService.UnsupportedOperation";
    expect(await refusedAs(action, { QueueUrl: "plain", ...input })).toEqual({ status: 400, code, message });
  });

  test("a receive whose messages were touched cannot be repeated by its attempt id", async () => {
    const QueueUrl = "ordered.fifo";
    await gateway.call("SendMessage", {
      QueueUrl,
      MessageBody: "x",
      MessageGroupId: "g",
      MessageDeduplicationId: "d",
    });
    const again = { QueueUrl, ReceiveRequestAttemptId: "again" };
    const { ReceiptHandle } = (await gateway.call("ReceiveMessage", again)).json.Messages[0];
    await gateway.call("DeleteMessage", { QueueUrl, ReceiptHandle });
    const message =
      "Value again for parameter ReceiveRequestAttemptId is invalid. Reason: The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.";
    expect(await refusedAs("ReceiveMessage", again)).toEqual({
      status: 400,
      code: "InvalidParameterValue",
      message,
    });
  });
});

test("one kind of encryption ends the other, unless a request names both", async () => {
  const QueueUrl = await gateway.createQueue("encrypted", {
    KmsMasterKeyId: "alias/a",
    KmsDataKeyReusePeriodSeconds: "60",
  });
  const names = ["KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled"];
  const now = async () =>
    (await gateway.call("GetQueueAttributes", { QueueUrl, AttributeNames: names })).json.Attributes;
  const set = (Attributes: object) => refusedAs("SetQueueAttributes", { QueueUrl, Attributes });
  expect(await now()).toEqual({
    KmsMasterKeyId: "alias/a",
    KmsDataKeyReusePeriodSeconds: "60",
    SqsManagedSseEnabled: "false",
  });
  await set({ SqsManagedSseEnabled: "true" });
  expect(await now()).toEqual({ SqsManagedSseEnabled: "true" });
  await set({ KmsMasterKeyId: "alias/b" });
  expect(await now()).toEqual({
    KmsMasterKeyId: "alias/b",
    KmsDataKeyReusePeriodSeconds: "300",
    SqsManagedSseEnabled: "false",
  });
  expect(await set({ SqsManagedSseEnabled: "true", KmsMasterKeyId: "alias/c" })).toMatchObject({
    status: 400,
    code: "InvalidAttributeName",
  });
});

const permission = { QueueUrl: "plain", AWSAccountIds: ["111111111111"], Actions: ["SendMessage"] };

test("a policy has at most 20 statements and 50 principals", async () => {
  const add = (more: object) => refusedAs("AddPermission", { ...permission, ...more });
  for (let n = 0; n < 20; n++) expect((await add({ Label: `l${n}` })).status).toBe(200);
  expect(await add({ Label: "l20" })).toEqual({
    status: 403,
    code: "OverLimit",
    message: "21 Statements were found, maximum allowed is 20.",
  });
  expect(await add({ Label: "many", AWSAccountIds: Array(51).fill("111111111111") })).toEqual({
    status: 403,
    code: "OverLimit",
    message: "51 Principals were found, maximum allowed is 50.",
  });
});

test("a permission is added to a policy whose statements are none, and taken from it again", async () => {
  const QueueUrl = await gateway.createQueue("odd", { Policy: '{"Statement":[null,5,"x",{"Sid":"kept"}]}' });
  const policyNow = async () => {
    const { json } = await gateway.call("GetQueueAttributes", { QueueUrl, AttributeNames: ["Policy"] });
    return JSON.parse(json.Attributes.Policy).Statement;
  };
  expect((await refusedAs("AddPermission", { ...permission, QueueUrl, Label: "new" })).status).toBe(200);
  expect(await policyNow()).toHaveLength(5);
  expect((await refusedAs("RemovePermission", { QueueUrl, Label: "new" })).status).toBe(200);
  expect(await policyNow()).toEqual([null, 5, "x", { Sid: "kept" }]);
});

test("an error of the Query protocol is JSON for whoever accepts that, as its results are", async () => {
  const get = (path: string) => gateway.http(path, { headers: { accept: "application/json" } });
  const { status, headers, json } = await get("/000000000000/nowhere?Action=GetQueueAttributes");
  expect([status, headers.get("content-type")]).toEqual([400, "application/json"]);
  expect(json).toEqual({
    Error: {
      Code: "AWS.SimpleQueueService.NonExistentQueue",
      Detail: null,
      Message: "The specified queue does not exist for this wsdl version.",
      Type: "Sender",
    },
    RequestId: headers.get("x-amzn-requestid"),
  });
  expect((await get("/000000000000/plain?Action=ListQueues")).json.Error.Code).toBe("InvalidAction");
  expect((await get("/000000000000/plain")).text).toBe("<UnknownOperationException/>");
});
