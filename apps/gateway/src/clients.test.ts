// Clients as people use them: sqs-consumer, AWS SDK v3, the AWS CLI, boto3. A tool that this machine lacks is reported by
// name; with TUNTAS_TEST_NO_SKIP it fails.
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { Consumer } from "sqs-consumer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";

const run = promisify(execFile);
const region = "us-east-1";
const environment = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_DEFAULT_REGION: region,
};

let gateway: TestGateway;
let sqs: SQSClient;
beforeAll(async () => {
  gateway = await startTestGateway();
  sqs = new SQSClient({
    endpoint: gateway.url,
    region,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
});
afterAll(async () => {
  sqs?.destroy();
  await gateway?.[Symbol.asyncDispose]();
});

/** The first of the programs that runs, or undefined. */
function findProgram(candidates: readonly (readonly [string, ...string[]])[]): string | undefined {
  return candidates.find(([program, ...args]) => {
    try {
      execFileSync(program, args, { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  })?.[0];
}

const aws = findProgram([
  ["/usr/bin/aws", "--version"],
  ["aws", "--version"],
]);
const python = findProgram([
  ["/usr/bin/python3", "-c", "import boto3"],
  ["python3", "-c", "import boto3"],
]);
const mayskip = process.env.TUNTAS_TEST_NO_SKIP === undefined;

test("AWS SDK v3 sends, receives and deletes, with queue URLs as endpoints (its default)", async () => {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "sdk" }));
  await sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: "漢字",
      MessageAttributes: { b: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) } },
    }),
  );
  const batch = await sqs.send(
    new SendMessageBatchCommand({
      QueueUrl,
      Entries: [
        { Id: "a", MessageBody: "1" },
        { Id: "b", MessageBody: "2" },
      ],
    }),
  );
  expect(batch.Successful).toHaveLength(2);
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ["All"] }),
  );
  expect(Messages.map(({ Body }) => Body)).toEqual(["漢字", "1", "2"]);
  expect(Messages[0]?.MessageAttributes?.b?.BinaryValue).toEqual(Uint8Array.of(0, 255));
  for (const { ReceiptHandle } of Messages)
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
});

test("sqs-consumer handles messages; one whose handler fails comes again", async () => {
  const { QueueUrl } = await sqs.send(
    new CreateQueueCommand({ QueueName: "consumed", Attributes: { VisibilityTimeout: "30" } }),
  );
  for (const MessageBody of ["good", "fails once"])
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  const handled: string[] = [];
  let failures = 0;
  const consumer = Consumer.create({
    queueUrl: QueueUrl!,
    sqs,
    terminateVisibilityTimeout: true,
    async handleMessage(message) {
      if (message.Body === "fails once" && failures++ === 0) throw new Error("not yet");
      handled.push(message.Body!);
      return message;
    },
  });
  consumer.on("error", () => undefined);
  consumer.on("processing_error", () => undefined);
  consumer.start();
  await expect.poll(() => handled.toSorted()).toEqual(["fails once", "good"]);
  const stopped = once(consumer as unknown as NodeJS.EventEmitter, "stopped");
  consumer.stop({ abort: true });
  await stopped;
  expect(failures).toBe(2);
});

test.skipIf(!aws && mayskip)(
  `the AWS CLI goes the whole way${aws ? "" : " (skipped: there is no aws here)"}`,
  { timeout: 120_000 },
  async () => {
    expect(aws, "aws").toBeDefined();
    const call = async (...args: string[]) => {
      const { stdout } = await run(
        aws!,
        ["--endpoint-url", gateway.url, "--output", "json", "sqs", ...args],
        { env: environment },
      );
      return stdout.trim() === "" ? undefined : JSON.parse(stdout);
    };
    const { QueueUrl } = await call("create-queue", "--queue-name", "cli", "--attributes", "DelaySeconds=0");
    await call("send-message", "--queue-url", QueueUrl, "--message-body", "from <the> CLI");
    const { Messages } = await call("receive-message", "--queue-url", QueueUrl, "--attribute-names", "All");
    expect(Messages).toMatchObject([
      { Body: "from <the> CLI", Attributes: { ApproximateReceiveCount: "1" } },
    ]);
    await call("delete-message", "--queue-url", QueueUrl, "--receipt-handle", Messages[0].ReceiptHandle);
    expect(await call("list-queues", "--queue-name-prefix", "cli")).toEqual({ QueueUrls: [QueueUrl] });
  },
);

const script = `
import boto3, json, sys
from botocore.exceptions import ClientError
sqs = boto3.client("sqs", endpoint_url=sys.argv[1])
url = sqs.create_queue(QueueName="boto.fifo", Attributes={"FifoQueue": "true"}, tags={"k": "v"})["QueueUrl"]
sent = sqs.send_message_batch(QueueUrl=url, Entries=[
    {"Id": str(n), "MessageBody": "line\\r\\n%d" % n, "MessageGroupId": "g", "MessageDeduplicationId": str(n),
     "MessageAttributes": {"bytes": {"DataType": "Binary", "BinaryValue": bytes([n, 255])}}} for n in range(3)])
got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["All"], MessageAttributeNames=["All"])["Messages"]
deleted = sqs.delete_message_batch(QueueUrl=url, Entries=[
    {"Id": str(n), "ReceiptHandle": m["ReceiptHandle"]} for n, m in enumerate(got)])
try:
    sqs.get_queue_url(QueueName="nope")
except ClientError as error:
    code = error.response["Error"]["Code"]
print(json.dumps({
    "sent": len(sent["Successful"]), "bodies": [m["Body"] for m in got], "deleted": len(deleted["Successful"]),
    "bytes": [list(m["MessageAttributes"]["bytes"]["BinaryValue"]) for m in got], "code": code,
    "tags": sqs.list_queue_tags(QueueUrl=url)["Tags"]}))
`;

test.skipIf(!python && mayskip)(
  `boto3 goes the whole way${python ? "" : " (skipped: no python3 here has boto3)"}`,
  { timeout: 120_000 },
  async () => {
    expect(python, "python3 with boto3").toBeDefined();
    const { stdout } = await run(python!, ["-c", script, gateway.url], { env: environment });
    expect(JSON.parse(stdout)).toEqual({
      sent: 3,
      bodies: ["line\r\n0", "line\r\n1", "line\r\n2"],
      deleted: 3,
      bytes: [
        [0, 255],
        [1, 255],
        [2, 255],
      ],
      code: "AWS.SimpleQueueService.NonExistentQueue",
      tags: { k: "v" },
    });
  },
);
