// Requests that do harm elsewhere: recorded ones, and connections that do not keep to HTTP or dawdle. Each is answered in
// AWS's words, and the server goes on serving others.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.createQueue("hostile");
  const definition = '{"StartAt":"S","States":{"S":{"Type":"Pass","End":true}}}';
  await gateway.call(
    "",
    { name: "hostile", roleArn: "arn:aws:iam::000000000000:role/x", definition },
    { headers: { "x-amz-target": "AWSStepFunctions.CreateStateMachine" } },
  );
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** Whatever came, the next one is served, and no object has become another. */
afterEach(async () => {
  expect((await gateway.call("ListQueues", {})).status).toBe(200);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

type Spelled = readonly (string | readonly [string, number])[];
interface Text {
  readonly spelled: Spelled;
}
const spell = ({ spelled }: Text): string =>
  spelled.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");

interface Recorded {
  readonly name: string;
  readonly headers: Readonly<Record<string, string | Text>>;
  readonly body: Text;
  readonly bytes?: string;
  readonly status: number;
}

const recorded = JSON.parse(
  readFileSync(new URL("../../../conformance/hostile/requests.json", import.meta.url), "utf8"),
) as Recorded[];

/** Not fetch, which mends some of it. */
function post({ headers, body, bytes }: Recorded): Promise<{ status: number; text: string }> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const spelled = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : spell(value),
    ]);
    const asked = request(
      { port, host: "127.0.0.1", method: "POST", path: "/", headers: Object.fromEntries(spelled) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }),
        );
      },
    );
    asked.on("error", reject);
    asked.end(bytes === undefined ? spell(body) : Buffer.from(bytes, "hex"));
  });
}

describe("recorded", () => {
  test.each(recorded)("$name", async (each) => {
    const { status, text } = await post(each);
    expect(status, text.slice(0, 300)).toBe(each.status);
    if (status >= 400) expect(text).toMatch(/"__type"|<Code>|UnknownOperationException/);
  });
});

/** What comes back on a connection until it is closed, or `until` is seen. */
function talk(act: (socket: Socket) => void, until?: string): Promise<string> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1");
    let heard = "";
    const end = () => {
      socket.destroy();
      resolve(heard);
    };
    socket.on("data", (chunk) => {
      heard += chunk.toString();
      if (until !== undefined && heard.includes(until)) end();
    });
    socket.on("close", end);
    socket.on("error", end);
    socket.on("connect", () => act(socket));
  });
}

const head =
  "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.ListQueues\r\n";

describe("connections", () => {
  test.each([
    ["a header of a megabyte", `${head}X-Long: ${"x".repeat(1_000_000)}\r\n\r\n`, "431"],
    ["twenty thousand headers", `${head}Content-Length: 2\r\n${"A: b\r\n".repeat(20_000)}\r\n{}`, "200|431"], // Node 24 counts their bytes, Node 20 does not
    ["no HTTP", "hello\r\n\r\n", "400"],
    ["a method that nobody knows", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "400"],
    ["two lengths", `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, "400"],
    ["a length and chunks", `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, "400"],
    ["a length that is none", `${head}Content-Length: -5\r\n\r\n`, "400"],
    ["chunks that are none", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, "400"],
    ["a header that holds a line end", `${head}X: a\rb\r\n\r\n`, "400"],
    ["HTTP/2's greeting", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"],
    ["a path that is not one", "GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n", "404"],
  ])("%s", async (_name, bytes, status) => {
    const heard = await talk((socket) => socket.write(bytes), "\r\n\r\n");
    expect(heard).toMatch(new RegExp(`^HTTP/1.1 (${status}) `));
  });

  test("a client that goes away in the middle of its body costs nothing", async () => {
    await Promise.all(
      Array.from({ length: 50 }, () =>
        talk((socket) => {
          socket.write(`${head}Content-Length: 1000\r\n\r\n{"a"`);
          setImmediate(() => socket.destroy());
        }),
      ),
    );
  });

  test("clients that dawdle keep nobody waiting", async () => {
    const slow = Array.from({ length: 100 }, () =>
      talk((socket) => socket.write(`${head}Content-Length: 2\r\n\r\n{`), "\r\n\r\n"),
    );
    const { status } = await gateway.call("ListQueues", {});
    expect(status).toBe(200);
    void slow;
  });

  test("a body that comes byte by byte is taken", async () => {
    const heard = await talk((socket) => {
      const bytes = [...`${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`];
      const next = () => {
        const byte = bytes.shift();
        if (byte === undefined) return;
        socket.write(byte);
        setImmediate(next);
      };
      next();
    });
    expect(heard.slice(0, 12)).toBe("HTTP/1.1 200");
  });

  test("requests in a row on one connection are answered in a row", async () => {
    const one = `${head}Content-Length: 2\r\n\r\n{}`;
    const last = `${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`;
    const heard = await talk((socket) => socket.write(one.repeat(200) + last));
    expect(heard.match(/HTTP\/1.1 200/g)).toHaveLength(201);
  });
});
