// Any input of a Scheduler operation's shape is answered with a result or a coded error of the client's, never with an internal
// one. Its texts are mostly ones that lead further: names, expressions and targets that fit.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.fixture.ts";
import { valuesOf } from "../shape.fixture.ts";
import type { Route } from "../wire.ts";
import { makeScheduler } from "./operations.ts";
import { arnOf, RoleArn } from "./scheduler.fixture.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const odd = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "\0",
    "\uD800",
    "-1",
    "{}",
    "null",
    "__proto__",
    "/",
    "..",
    "%",
    "%00",
    "x".repeat(300),
  ),
);

const universal = (call: string): string => `arn:aws:scheduler:::aws-sdk:${call}`;
const groupArn = "arn:aws:scheduler:us-east-1:000000000000:schedule-group/default";
const request = JSON.stringify({
  QueueUrl: "q",
  MessageBody: "<aws.scheduler.scheduled-time>",
  DelaySeconds: 1e9,
});

const known: Readonly<Record<string, fc.Arbitrary<string>>> = {
  Name: fc.constantFrom("one", "two", "default"),
  GroupName: fc.constantFrom("default", "none"),
  ClientToken: fc.constantFrom("a", "b", "c"),
  ScheduleExpression: fc.constantFrom("rate(1 day)", "at(2030-01-01T00:00:00)", "cron(0 2 * * ? *)", "rate(0 days)"),
  ScheduleExpressionTimezone: fc.constantFrom("UTC", "Asia/Jakarta", "Nowhere"),
  Mode: fc.constant("OFF"),
  State: fc.constantFrom("ENABLED", "DISABLED"),
  ActionAfterCompletion: fc.constantFrom("NONE", "DELETE"),
  Arn: fc.constantFrom(arnOf("q"), arnOf("q.fifo"), universal("sqs:sendMessage"), universal("sfn:startExecution")),
  RoleArn: fc.constant(RoleArn),
  Input: fc.constantFrom("in", request, '{"StateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:M"}'),
  NextToken: fc.constantFrom("WyJhIl0", "WyJhIiwiYiJd", "bnVsbA"),
  ResourceArn: fc.constant(groupArn),
}; // prettier-ignore

const texts = {
  odd,
  known: (name: string) => {
    const likely = known[name];
    return likely && fc.oneof({ weight: 9, arbitrary: likely }, odd);
  },
};

/** Half of a character has no place in a URL. */
const escaped = (value: unknown): string => encodeURIComponent(Buffer.from(String(value)).toString());

/** The request as a client would make it, whatever the values are. */
function requestOf({ method, path, query = {} }: Route, input: Readonly<Record<string, unknown>>) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, member: string) => escaped(input[member]));
  const parameters = Object.entries(query).flatMap(([name, member]) =>
    [input[member] ?? []].flat().map((value) => `${name}=${escaped(value)}`),
  );
  const body = method === "POST" || method === "PUT" ? { body: JSON.stringify(input) } : {};
  return [`${filled}?${parameters.join("&")}`, { method, ...body }] as const;
}

const { operations } = makeScheduler({ schedules: {}, log: {} } as never);

test.each([...operations.keys()])("%s", async (name) => {
  const { input, route } = operations.get(name)!;
  await fc.assert(
    fc.asyncProperty(valuesOf(input, texts), async (value) => {
      const [path, init] = requestOf(route!, value as Readonly<Record<string, unknown>>);
      const { status, text } = await gateway.http(path, init);
      expect(status, `${path} ${JSON.stringify(value)} ${text}`).toBeLessThan(500);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 5000, markInterruptAsFailure: false },
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
