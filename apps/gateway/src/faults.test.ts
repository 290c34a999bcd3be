// Bad input, clients that go away, a database that goes away: the right coded error, nothing lost, and the gateway stays.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";
import { startGateway } from "./index.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const json = { "content-type": "application/x-amz-json-1.0" };

const shapeOf = (error: { readonly ["__type"]: string }): string | undefined => error["__type"].split("#")[1];

test("health answers ready", async () => {
  const { status, json: body } = await gateway.http("/_tuntas/health");
  expect([status, body]).toEqual([200, { status: "ready" }]);
});

test.each([
  ["a body that is not JSON", "ListQueues", "{not json", "SerializationException"],
  ["a body that is not UTF-8", "ListQueues", Uint8Array.of(0x7b, 0xff, 0x7d), "SerializationException"],
  ["a list in the place of the object", "ListQueues", "[]", "SerializationException"],
  ["a number in the place of a string", "GetQueueUrl", { QueueName: 1 }, "SerializationException"],
  ["a fraction in the place of an integer", "ListQueues", { MaxResults: 1.5 }, "SerializationException"],
  ["a token of somebody else", "ListQueues", { NextToken: "x/y" }, "InvalidParameterValueException"],
  ["no queue at all", "SendMessage", { MessageBody: "x" }, "MissingRequiredParameterException"],
  ["a URL of something else", "SendMessage", { QueueUrl: "http://x/y", MessageBody: "x" }, "InvalidAddress"],
  ["a name with NUL", "GetQueueUrl", { QueueName: "a\0b" }, "QueueDoesNotExist"],
  ["an operation that is unknown", "Frobnicate", {}, "UnknownOperationException"],
  ["an operation of every object", "constructor", {}, "UnknownOperationException"],
])("%s is a coded error", async (_, operation, input, shape) => {
  const { status, headers, json: body } = await gateway.call(operation, input);
  expect(shapeOf(body)).toBe(shape);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(headers.get("x-amzn-query-error")).toMatch(/;Sender$/);
  expect(headers.get("x-amzn-requestid")).toMatch(/^[0-9a-f-]{36}$/);
});

test("another service, path, method or content type is UnknownOperation", async () => {
  const unknown = [
    gateway.call("ListQueues", {}, { headers: { "x-amz-target": "DynamoDB_20120810.ListTables" } }),
    gateway.call("ListQueues", {}, { headers: { "content-type": "text/plain" } }),
    gateway.http("/nothing/here", {
      method: "POST",
      headers: { ...json, "x-amz-target": "AmazonSQS.ListQueues" },
      body: "{}",
    }),
    gateway.http("/?Action=ListQueues", { method: "DELETE" }),
    gateway.http("/favicon.ico"),
  ];
  for (const { status, text } of await Promise.all(unknown)) {
    expect(status).toBe(404);
    expect(text).toContain("UnknownOperationException");
  }
});

test("pages of other origins are refused", async () => {
  const foreign = await gateway.http("/?Action=ListQueues", { headers: { origin: "http://evil.example" } });
  expect([foreign.status, foreign.text.includes("<Code>AccessDenied</Code>")]).toEqual([403, true]);
});

test.each([
  ["a page that had its own name point here", "Host: evil.example\r\nOrigin: http://evil.example", 403],
  ["one that asks without an origin", "Host: evil.example\r\nUser-Agent: Mozilla/5.0", 403],
  [
    "one that leaves out all but where it comes from",
    "Host: evil.example\r\nReferer: http://evil.example/",
    403,
  ],
  [
    "a page of this machine",
    "Host: localhost:1\r\nOrigin: http://localhost:1\r\nUser-Agent: Mozilla/5.0",
    200,
  ],
  ["an SDK under another name of this machine", "Host: sqs.internal\r\nUser-Agent: aws-sdk-js/3", 200],
])("%s is told apart (DNS rebinding)", async (_, headers, status) => {
  const answer = await raw(`GET /?Action=ListQueues HTTP/1.1\r\nConnection: close\r\n${headers}\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

/** What the server answers to these bytes on a connection of their own. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(gateway.gateway.port, "127.0.0.1");
  socket.write(bytes);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  await once(socket, "close");
  return text;
}

test("a request that is too large, or is no HTTP, is answered and its connection closed", async () => {
  const large = await raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
  expect(large).toMatch(/^HTTP\/1.1 413 .*RequestEntityTooLargeException/s);
  expect(await raw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400 .*MalformedHttpRequestException/s);
  expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(70_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431 /,
  );
});

test("accounts and regions are name spaces of their own", async () => {
  const as = (keyId: string, region: string) => ({
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/20260101/${region}/sqs/aws4_request, SignedHeaders=host, Signature=0`,
    },
  });
  const created = await gateway.call("CreateQueue", { QueueName: "mine" }, as("111122223333", "eu-west-1"));
  expect(created.json.QueueUrl).toBe(`${gateway.url}/111122223333/mine`);
  const find = async (keyId: string, region: string) =>
    (await gateway.call("GetQueueUrl", { QueueName: "mine" }, as(keyId, region))).status;
  expect(await find("111122223333", "eu-west-1")).toBe(200);
  expect(await find("111122223333", "us-east-1")).toBe(400);
  expect(await find("444455556666", "eu-west-1")).toBe(400);
});

/** A long poll from a client that can hang up. */
function poll(port: number, QueueUrl: string): Socket {
  const body = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: AmazonSQS.ReceiveMessage\r\n` +
      `Content-Type: application/x-amz-json-1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const isPolled = () => gateway.kit.platform.waker.asleep("ready:").length > 0;

const receiveCount = { WaitTimeSeconds: 10, MessageSystemAttributeNames: ["ApproximateReceiveCount"] };

test("a poll whose client has hung up ends, and takes no message", async () => {
  const QueueUrl = await gateway.createQueue("hung-up");
  const socket = poll(gateway.gateway.port, QueueUrl);
  await expect.poll(isPolled).toBe(true);
  socket.destroy();
  await expect.poll(isPolled).toBe(false);
  await gateway.call("SendMessage", { QueueUrl, MessageBody: "x" });
  const { json: body } = await gateway.call("ReceiveMessage", { QueueUrl, ...receiveCount });
  expect(body.Messages).toMatchObject([{ Body: "x", Attributes: { ApproximateReceiveCount: "1" } }]);
});

test.each(["claimed", "claimed.fifo"])(
  "what was claimed for a client that hung up meanwhile is given back (%s)",
  async (name) => {
    const { platform } = gateway.kit;
    const { receiver } = platform.queues;
    let claimed: () => void = () => undefined;
    let hungUp: Promise<void> = Promise.resolve();
    const slow = {
      ...receiver,
      async receive(...args: Parameters<typeof receiver.receive>) {
        const messages = await receiver.receive(...args);
        claimed();
        await hungUp;
        return messages;
      },
    };
    const queues = { ...platform.queues, receiver: slow };
    const other = await startGateway({ platform: { ...platform, queues }, port: 0 });
    const fifo = name.endsWith(".fifo");
    const QueueUrl = await gateway.createQueue(name, fifo ? { FifoQueue: "true" } : {});
    const ids = fifo ? { MessageGroupId: "g", MessageDeduplicationId: "d" } : {};
    await gateway.call("SendMessage", { QueueUrl, MessageBody: "x", ...ids });

    const isClaimed = new Promise<void>((resolve) => (claimed = resolve));
    const socket = poll(other.port, QueueUrl);
    hungUp = once(socket, "close").then(() => new Promise((resolve) => setTimeout(resolve, 100)));
    await isClaimed;
    socket.destroy();
    const { json: body } = await gateway.call("ReceiveMessage", { QueueUrl, ...receiveCount });
    expect(body.Messages).toMatchObject([{ Body: "x", Attributes: { ApproximateReceiveCount: "1" } }]);
    await other.close();
  },
);

test("a FIFO message to a queue that has just been deleted does not take others down", async () => {
  const fifo = { FifoQueue: "true", ContentBasedDeduplication: "true" };
  const [gone, here] = await Promise.all([
    gateway.createQueue("gone.fifo", fifo),
    gateway.createQueue("here.fifo", fifo),
  ]);
  const { queues } = gateway.kit.platform;
  const scope = { account: "000000000000", region: "us-east-1" };
  const goneRecord = await queues.catalog.get(scope, "gone.fifo");
  const hereRecord = await queues.catalog.get(scope, "here.fifo");
  await gateway.call("DeleteQueue", { QueueUrl: gone });
  const message = (id: string) => ({
    messageId: `00000000-0000-4000-8000-00000000000${id}`,
    body: "x",
    groupId: "g",
    deduplicationId: id,
  });
  const sends = [
    queues.sender.send(goneRecord, message("1"), "t"),
    queues.sender.send(hereRecord, message("2"), "t"),
  ];
  const [lost, kept] = await Promise.allSettled(sends);
  expect([lost?.status, kept?.status]).toEqual(["rejected", "fulfilled"]);
  expect((await gateway.call("ReceiveMessage", { QueueUrl: here })).json.Messages).toHaveLength(1);
});

test("a taken port is a coded error that names the variable", async () => {
  const second = startGateway({ platform: gateway.kit.platform, port: gateway.gateway.port });
  await expect(second).rejects.toMatchObject({
    code: "TUNTAS_PORT_TAKEN",
    message: expect.stringContaining("TUNTAS_PORT"),
  });
});

test("closing ends long polls with an empty answer", async () => {
  const other = await startGateway({ platform: gateway.kit.platform, port: 0 });
  const QueueUrl = await gateway.createQueue("quiet");
  const signal = AbortSignal.timeout(15_000);
  const poll = fetch(`http://127.0.0.1:${other.port}/`, {
    method: "POST",
    headers: { ...json, "x-amz-target": "AmazonSQS.ReceiveMessage" },
    body: JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 }),
    signal,
  });
  const { waker } = gateway.kit.platform;
  await expect.poll(() => waker.asleep("ready:").length > 0).toBe(true);
  await other.close();
  expect(await (await poll).json()).toEqual({});
});

/** A way to the database that can be cut. */
async function startProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let open = true;
  const server = createServer((incoming) => {
    if (!open) return void incoming.destroy();
    const outgoing = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(databaseUrl);
  through.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: through.toString(),
    cut() {
      open = false;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => void (open = true),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

test("while the database is away calls are told to come again, and afterwards nothing is missing", async () => {
  const proxy = await startProxy(gateway.kit.databaseUrl);
  const far = await startTestGateway({ databaseUrl: proxy.url });
  const QueueUrl = await far.createQueue("far");
  expect((await far.call("SendMessage", { QueueUrl, MessageBody: "before" })).status).toBe(200);
  proxy.cut();
  const away = await far.call("SendMessage", { QueueUrl, MessageBody: "away" });
  expect([away.status, shapeOf(away.json)]).toEqual([503, "ServiceUnavailable"]);
  expect(away.headers.get("x-amzn-query-error")).toBe("ServiceUnavailable;Receiver");
  expect(away.text).not.toMatch(/\n\s+at /);
  expect((await far.http("/_tuntas/health")).status).toBe(503);
  proxy.mend();
  await expect.poll(async () => (await far.http("/_tuntas/health")).status).toBe(200);
  const { json: body } = await far.call("ReceiveMessage", {
    QueueUrl,
    WaitTimeSeconds: 5,
    MaxNumberOfMessages: 10,
  });
  expect(body.Messages).toMatchObject([{ Body: "before" }]);
  await far[Symbol.asyncDispose]();
  await proxy.close();
});
