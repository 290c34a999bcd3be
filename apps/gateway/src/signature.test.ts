// Requests that must be signed: by the real clients, and by hand where they are to be wrong.
import { createHash, createHmac, randomUUID } from "node:crypto";
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NewKey } from "tuntas/access";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";
import { startGateway } from "./index.ts";
import { readClaim } from "./signature.ts";

const run = promisify(execFile);
const by = { actor: "test", from: "command line" };
const account = "123456789012";
const region = "eu-west-1";

let gateway: TestGateway;
let key: NewKey;
beforeAll(async () => {
  gateway = await startTestGateway();
  key = await gateway.kit.platform.access.keys.create({ name: "ops", account, scopes: ["sqs:*"] }, by);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const clientOf = (accessKeyId: string, secretAccessKey: string): SQSClient =>
  new SQSClient({
    endpoint: gateway.url,
    region,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
  });

const sdk = ({ id, secret }: NewKey): SQSClient => clientOf(id, secret);

test("the AWS SDK signs, and works on the key's account", async () => {
  const sqs = sdk(key);
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: "signed" }));
  expect(new URL(QueueUrl!).pathname).toBe(`/${account}/signed`);
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "kopi ☕ +&=% ~*'()" }));
  const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(Messages![0]!.Body).toBe("kopi ☕ +&=% ~*'()");
});

test("errors are AWS's: no signature, an unknown key, a wrong secret", async () => {
  const unsigned = await gateway.call("ListQueues", {});
  expect(unsigned.status).toBe(403);
  expect(unsigned.headers.get("x-amzn-query-error")).toBe("MissingAuthenticationToken;Sender");
  const query = await gateway.http("/?Action=ListQueues");
  expect(query.text).toContain("<Code>MissingAuthenticationToken</Code>");
  const attempt = (client: SQSClient) => client.send(new ListQueuesCommand({}));
  await expect(attempt(clientOf("TUNTAAAAAAAAAAAAAAAA", key.secret))).rejects.toMatchObject({
    name: "InvalidClientTokenId",
    $metadata: { httpStatusCode: 403 },
  });
  await expect(attempt(clientOf(key.id, "wrong"))).rejects.toMatchObject({ name: "SignatureDoesNotMatch" });
  const bad = await gateway.call(
    "ListQueues",
    {},
    { headers: { authorization: "AWS4-HMAC-SHA256 Credential=x" } },
  );
  expect(bad.headers.get("x-amzn-query-error")).toBe("IncompleteSignature;Sender");
});

const signer = (credentials = { accessKeyId: key.id, secretAccessKey: key.secret }) =>
  new SignatureV4({
    service: "sqs",
    region,
    credentials,
    sha256: class {
      private readonly hash;
      constructor(secret?: any) {
        this.hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret);
      }
      update(data: any) {
        this.hash.update(data);
      }
      async digest() {
        return new Uint8Array(this.hash.digest());
      }
    } as any,
  });

async function signed(body: string, signingDate = new Date()) {
  const { hostname, host, port } = new URL(gateway.url);
  const headers = {
    host,
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "AmazonSQS.ListQueues",
  };
  const request = {
    method: "POST",
    protocol: "http:",
    hostname,
    port: Number(port),
    path: "/",
    query: {},
    headers,
    body,
  };
  const made = await signer().sign(request, { signingDate });
  return made.headers;
}

test("what is signed cannot be changed: another body, another header, another time", async () => {
  const headers = await signed("{}");
  const post = (body: string, more: Record<string, string> = {}) =>
    gateway.http("/", { method: "POST", body, headers: { ...headers, ...more } });
  expect((await post("{}")).status).toBe(200);
  expect((await post('{"QueueNamePrefix":"x"}')).headers.get("x-amzn-query-error")).toBe(
    "SignatureDoesNotMatch;Sender",
  );
  expect((await post("{}", { "x-amz-target": "AmazonSQS.CreateQueue" })).status).toBe(403);
  for (const minutes of [-20, 20]) {
    const late = await signed("{}", new Date(Date.now() + minutes * 60_000));
    const answer = await gateway.http("/", { method: "POST", body: "{}", headers: late });
    expect(answer.json.message ?? answer.json.Message).toMatch(
      minutes < 0 ? /^Signature expired/ : /^Signature not yet current/,
    );
  }
});

test("a presigned GET of the Query protocol works until it expires", async () => {
  const { hostname, host, port } = new URL(gateway.url);
  const presign = (signingDate: Date) =>
    signer().presign(
      {
        method: "GET",
        protocol: "http:",
        hostname,
        port: Number(port),
        path: "/",
        query: { Action: "ListQueues", QueueNamePrefix: "signed", Note: "a b+c/~" },
        headers: { host },
      },
      { expiresIn: 60, signingDate },
    );
  const get = async (signingDate: Date, change: Record<string, string> = {}) => {
    const { query } = await presign(signingDate);
    return gateway.http(`/?${new URLSearchParams({ ...(query as Record<string, string>), ...change })}`);
  };
  expect((await get(new Date())).text).toContain("<ListQueuesResponse");
  expect((await get(new Date(), { QueueNamePrefix: "other" })).text).toContain("SignatureDoesNotMatch");
  expect((await get(new Date(Date.now() - 120_000))).text).toContain("Signature expired");
});

test("a key does what its scopes say, on the queues that they name", async () => {
  const { keys } = gateway.kit.platform.access;
  const admin = sdk(key);
  for (const QueueName of ["order-work", "bills"]) await admin.send(new CreateQueueCommand({ QueueName }));
  const api = sdk(
    await keys.create(
      { name: "orders-api", account, scopes: ["sqs:SendMessage@order-*", "sqs:Get*@order-*"] },
      by,
    ),
  );
  const { QueueUrl } = await api.send(new GetQueueUrlCommand({ QueueName: "order-work" }));
  await api.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" }));
  const denied = { name: expect.stringMatching(/^AccessDenied/), $metadata: { httpStatusCode: 403 } };
  await expect(api.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toMatchObject(denied);
  await expect(api.send(new GetQueueUrlCommand({ QueueName: "bills" }))).rejects.toMatchObject(denied);
  await expect(api.send(new ListQueuesCommand({}))).rejects.toMatchObject(denied);
});

/** One call of AWS JSON 1.0, signed by hand with this key. */
async function callAs(
  { id, secret }: NewKey,
  action: string,
  input: object,
  { path = "/", service = "AmazonSQS" } = {},
) {
  const { hostname, host, port } = new URL(gateway.url);
  const body = JSON.stringify(input);
  const { headers } = await signer({ accessKeyId: id, secretAccessKey: secret }).sign({
    method: "POST",
    protocol: "http:",
    hostname,
    port: Number(port),
    path,
    query: {},
    headers: {
      host,
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `${service}.${action}`,
    },
    body,
  });
  return gateway.http(path, { method: "POST", headers, body });
}

describe("what a key may not touch, however a request words it", () => {
  const others = "210987654321";
  const arn = (name: string, owner = account) => `arn:aws:sqs:${region}:${owner}:${name}`;
  const machine = (name: string, owner = account) => `arn:aws:states:${region}:${owner}:stateMachine:${name}`;
  const url = (name: string, owner = account) => `${gateway.url}/${owner}/${name}`;
  let mine: NewKey;
  let every: NewKey;
  beforeAll(async () => {
    const { keys } = gateway.kit.platform.access;
    const other = await keys.create({ name: "other", account: others, scopes: ["sqs:*"] }, by);
    const admin = { name: "every", account, scopes: ["sqs:*", "states:*"] };
    every = await keys.create(admin, by);
    mine = await keys.create({ name: "mine", account, scopes: ["sqs:*@mine*", "states:*@mine"] }, by);
    await sdk(other).send(new CreateQueueCommand({ QueueName: "theirs" }));
    for (const QueueName of ["mine", "mine-dlq", "secret"])
      await sdk(every).send(new CreateQueueCommand({ QueueName }));
  });

  test.each([
    ["a queue of another name", "SendMessage", () => ({ QueueUrl: url("secret") })],
    ["its bare name", "SendMessage", () => ({ QueueUrl: "secret" })],
    [
      "a member of other operations beside it",
      "SendMessage",
      () => ({ QueueUrl: url("secret"), SourceArn: arn("mine") }),
    ],
    ["a name beside it", "SendMessage", () => ({ QueueUrl: url("secret"), QueueName: "mine" })],
    ["the URL of another account", "SendMessage", () => ({ QueueUrl: url("mine", others) })],
    ["a list", "ListQueues", () => ({})],
    ["a list beside a name", "ListQueues", () => ({ QueueName: "mine", QueueUrl: url("mine") })],
    [
      "another account's queue by name",
      "GetQueueUrl",
      () => ({ QueueName: "mine", QueueOwnerAWSAccountId: others }),
    ],
    [
      "the destination of a move",
      "StartMessageMoveTask",
      () => ({ SourceArn: arn("mine-dlq"), DestinationArn: arn("secret") }),
    ],
    [
      "the source of a move",
      "StartMessageMoveTask",
      () => ({ SourceArn: arn("secret"), DestinationArn: arn("mine") }),
    ],
    ["another account's moves", "ListMessageMoveTasks", () => ({ SourceArn: arn("mine", others) })],
    [
      "the handle of another queue's move",
      "CancelMessageMoveTask",
      () => ({ TaskHandle: btoa(JSON.stringify({ taskId: randomUUID(), sourceArn: arn("secret") })) }),
    ],
  ])("%s", async (_, action, input) => {
    const { status, headers } = await callAs(mine, action, { MessageBody: "x", ...input() });
    expect([status, headers.get("x-amzn-query-error")]).toEqual([403, "AccessDenied;Sender"]);
  });

  test("a list posted to a queue's own path", async () => {
    expect((await callAs(mine, "ListQueues", {}, { path: `/${account}/mine` })).status).toBe(403);
    expect(
      (await callAs(mine, "SendMessage", { MessageBody: "x" }, { path: `/${account}/mine` })).status,
    ).toBe(200);
    expect(
      (await callAs(mine, "SendMessage", { MessageBody: "x" }, { path: `/${account}/secret` })).status,
    ).toBe(403);
  });

  test("every scope is of the key's account alone", async () => {
    const { status } = await callAs(every, "SendMessage", {
      QueueUrl: url("theirs", others),
      MessageBody: "x",
    });
    expect(status).toBe(403);
    expect((await callAs(every, "SendMessage", { QueueUrl: url("secret"), MessageBody: "x" })).status).toBe(
      200,
    );
  });

  test.each([
    ["DescribeStateMachine", { stateMachineArn: machine("secret") }],
    ["DescribeStateMachine", { stateMachineArn: machine("mine", others) }],
    ["StartExecution", { stateMachineArn: machine("secret"), name: "mine" }],
    ["DeleteStateMachineVersion", { stateMachineVersionArn: `${machine("secret")}:1` }],
    ["DescribeStateMachineAlias", { stateMachineAliasArn: `${machine("secret")}:live` }],
    [
      "CreateStateMachineAlias",
      {
        name: "mine",
        routingConfiguration: [{ stateMachineVersionArn: `${machine("secret")}:1`, weight: 100 }],
      },
    ],
    ["ListStateMachines", { name: "mine" }],
  ])("%s %j", async (action, input) => {
    const { json } = await callAs(mine, action, input, { service: "AWSStepFunctions" });
    expect(json["__type"]).toMatch(/#AccessDeniedException$/);
  });

  test("what it may, it may", async () => {
    const does = (action: string, input: object) => callAs(mine, action, input);
    expect((await does("GetQueueUrl", { QueueName: "mine", QueueOwnerAWSAccountId: account })).status).toBe(
      200,
    );
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("mine-dlq"), maxReceiveCount: 3 });
    await does("SetQueueAttributes", { QueueUrl: url("mine"), Attributes: { RedrivePolicy } });
    const started = await does("StartMessageMoveTask", {
      SourceArn: arn("mine-dlq"),
      DestinationArn: arn("mine"),
    });
    const { TaskHandle } = started.json;
    expect([200, 404]).toContain((await does("CancelMessageMoveTask", { TaskHandle })).status);
    const described = await callAs(
      mine,
      "DescribeStateMachine",
      { stateMachineArn: machine("mine") },
      { service: "AWSStepFunctions" },
    );
    expect(described.json["__type"]).toMatch(/#StateMachineDoesNotExist$/);
  });
});

test("names that every object has are no signed headers", async () => {
  const headers = await signed("{}");
  const authorization = headers.authorization!.replace(
    "SignedHeaders=",
    "SignedHeaders=__proto__;constructor;",
  );
  const { status } = await gateway.http("/", {
    method: "POST",
    body: "{}",
    headers: { ...headers, authorization },
  });
  expect(status).toBe(403);
});

const aws = ["/usr/bin/aws", "aws"].find((program) => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

test.skipIf(aws === undefined && process.env.TUNTAS_TEST_NO_SKIP === undefined)(
  "the AWS CLI signs too",
  async () => {
    const environment = { PATH: process.env.PATH, HOME: "/nonexistent", AWS_DEFAULT_REGION: region };
    const call = (secret: string) =>
      run(aws!, ["--endpoint-url", gateway.url, "sqs", "list-queues", "--queue-name-prefix", "sign"], {
        env: { ...environment, AWS_ACCESS_KEY_ID: key.id, AWS_SECRET_ACCESS_KEY: secret },
      });
    expect((await call(key.secret)).stdout).toContain(`/${account}/signed`);
    await expect(call("wrong")).rejects.toThrow(/SignatureDoesNotMatch|InvalidSignature/);
  },
);

test("TUNTAS_ACCESS_OPEN: beyond this machine nothing starts before there is a key or a user", async () => {
  await using other = await startTestGateway();
  const { platform } = other.kit;
  const refused = { code: "TUNTAS_ACCESS_OPEN", message: expect.stringContaining("TUNTAS_HOST") };
  await expect(startGateway({ platform, port: 0, host: "0.0.0.0" })).rejects.toMatchObject(refused);
  await platform.access.users.add({ name: "ada", role: "admin", password: "correct horse battery" }, by);
  const open = await startGateway({ platform, port: 0, host: "0.0.0.0" });
  const url = `http://127.0.0.1:${open.port}`;
  // There are no keys yet, and still nobody is let in.
  expect((await fetch(`${url}/?Action=ListQueues`)).status).toBe(403);
  expect((await fetch(`${url}/_tuntas/health`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  const scraper = await platform.access.keys.create({ name: "scraper", scopes: ["console:viewer"] }, by);
  const headers = { authorization: `Bearer ${scraper.id}.${scraper.secret}` };
  expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200);
  await open.close();
});

test("a revoked key ends", async () => {
  const { keys } = gateway.kit.platform.access;
  const short = await keys.create({ name: "short", account, scopes: ["sqs:*"] }, by);
  await sdk(short).send(new ListQueuesCommand({}));
  await keys.revoke(short.id, by);
  await expect(sdk(short).send(new ListQueuesCommand({}))).rejects.toMatchObject({
    name: "InvalidClientTokenId",
  });
});

test("claims that cannot be read are incomplete, never an exception", () => {
  const credential = "AWS4-HMAC-SHA256 Credential=K/20260101/eu-west-1/sqs/aws4_request";
  for (const authorization of [
    credential,
    `${credential}, SignedHeaders=host, Signature=zz`,
    `${credential}, SignedHeaders=date, Signature=${"0".repeat(64)}`,
    "Bearer x",
    "AWS4-HMAC-SHA256",
  ])
    expect(readClaim({ headers: { authorization, "x-amz-date": "20260101T000000Z" }, url: "/" })).toBe(
      "incomplete",
    );
  expect(readClaim({ headers: {}, url: "/?X-Amz-Signature=1&X-Amz-Credential=%" })).toBe("incomplete");
  const headers = { authorization: `${credential}, SignedHeaders=host, Signature=${"0".repeat(64)}` };
  expect(readClaim({ headers: { ...headers, "x-amz-date": "20260101T999999Z" }, url: "/" })).toBe(
    "incomplete",
  );
  expect(readClaim({ headers: { ...headers, "x-amz-date": "20260101T000000Z" }, url: "/" })).toMatchObject({
    keyId: "K",
  });
});
