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
    ["x", "RedrivePolicy is not a valid JSON map."],
    ["[]", "RedrivePolicy is not a valid JSON map."],
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

test("a RedriveAllowPolicy that would be kept with the queue for nothing is refused", async () => {
  const filling = "x".repeat(10_000);
  const RedriveAllowPolicy = JSON.stringify({ redrivePermission: "denyAll", filling });
  const answer = await refusedAs("SetQueueAttributes", {
    QueueUrl: "plain",
    Attributes: { RedriveAllowPolicy },
  });
  expect(answer).toMatchObject({ status: 400, code: "InvalidParameterValue" });
  expect(answer.message).toMatch(/RedriveAllowPolicy has at most 8192 bytes\.$/);
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
