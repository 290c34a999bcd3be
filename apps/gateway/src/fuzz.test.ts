// Any input of an operation's shape, however odd its values, is answered with a result or a coded error of the client's,
// never with an internal one, over both protocols.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";
import { valuesOf } from "./shape.fixture.ts";
import type { Shape } from "./shape.ts";
import { makeSqs } from "./sqs/operations.ts";

let gateway: TestGateway;
let handle: string;
beforeAll(async () => {
  gateway = await startTestGateway();
});
// Anew each time: one of the operations is DeleteQueue.
beforeEach(async () => {
  const QueueUrl = await gateway.createQueue("fuzz.fifo", { FifoQueue: "true" });
  const ids = { MessageGroupId: randomUUID(), MessageDeduplicationId: randomUUID() };
  await gateway.call("SendMessage", { QueueUrl, MessageBody: "x", ...ids });
  const { json } = await gateway.call("ReceiveMessage", { QueueUrl, WaitTimeSeconds: 0 });
  handle = json.Messages?.[0].ReceiptHandle ?? handle;
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "All",
    "fuzz.fifo",
    "\0",
    "\uD800",
    "true",
    "0",
    "-1",
    "{}",
    "[]",
    "null",
    "__proto__",
    "RedrivePolicy",
  ),
  fc.constantFrom(
    "DelaySeconds",
    "Policy",
    "arn:aws:sqs:us-east-1:000000000000:fuzz.fifo",
    '{"maxReceiveCount":1}',
  ),
);

const texts = {
  odd: oddText,
  known: (name: string) => {
    if (name === "QueueUrl") return fc.oneof({ weight: 9, arbitrary: fc.constant("fuzz.fifo") }, oddText);
    return name === "ReceiptHandle" ? fc.oneof(fc.constant("HANDLE"), oddText) : undefined;
  },
};

/** The value as parameters of the Query protocol. */
function flatten(shape: Shape, value: any, prefix: string): [string, string][] {
  const at = (name: string) => (prefix === "" ? name : `${prefix}.${name}`);
  if (value === undefined) return [];
  if (shape.kind === "list") {
    return value.flatMap((entry: unknown, index: number) =>
      flatten(shape.of, entry, at(`${shape.element}.${index + 1}`)),
    );
  }
  if (shape.kind === "map") {
    return Object.entries(value).flatMap(([key, entry], index) => {
      const place = at(`${shape.element}.${index + 1}`);
      const named: [string, string][] = [[`${place}.${shape.key}`, key]];
      return named.concat(flatten(shape.of, entry, `${place}.${shape.value}`));
    });
  }
  if (shape.kind !== "structure") return [[prefix, String(value)]];
  return Object.entries(shape.members).flatMap(([name, member]) => {
    const flattened = member.kind === "list" || member.kind === "map";
    return flatten(member, value[name], flattened ? prefix : at(name));
  });
}

const form = (name: string, shape: Shape, value: unknown): string =>
  new URLSearchParams([["Action", name], ...flatten(shape, value, "")])
    .toString()
    .replaceAll("HANDLE", handle);

const formType = { "content-type": "application/x-www-form-urlencoded" };

const { operations } = makeSqs({ queues: { catalog: {} }, log: {} } as never);
// A poll of 12 seconds is no fault.
const tooSlow = (input: unknown) => (input as { WaitTimeSeconds?: number }).WaitTimeSeconds !== undefined;

test.each([...operations.keys()])("%s", async (name) => {
  const { input } = operations.get(name)!;
  await fc.assert(
    fc.asyncProperty(
      valuesOf(input, texts).filter((value) => !tooSlow(value)),
      async (value) => {
        const text = JSON.stringify(value).replaceAll("HANDLE", handle);
        const answers = [
          await gateway.call(name, text),
          await gateway.http("/", { method: "POST", headers: formType, body: form(name, input, value) }),
        ];
        for (const answer of answers) expect(answer.status, `${text} ${answer.text}`).toBeLessThan(500);
      },
    ),
    { numRuns: 60 },
  );
});
