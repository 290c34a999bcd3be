// Any input of a Step Functions operation's shape is answered with a result or a coded error of the client's, never with an
// internal one. Its texts are mostly ones that lead further: ARNs of what is there, definitions, inputs, tokens.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.fixture.ts";
import { valuesOf } from "../shape.fixture.ts";
import { makeSfn } from "./operations.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const target = (operation: string) => ({ headers: { "x-amz-target": `AWSStepFunctions.${operation}` } });
const call = (operation: string, input: unknown) => gateway.call("", input, target(operation));

const arn = (kind: string) => `arn:aws:states:us-east-1:000000000000:${kind}`;
const roleArn = "arn:aws:iam::000000000000:role/fuzz";
const machineText = (state: object) =>
  JSON.stringify({ StartAt: "S", States: { S: { End: true, ...state } } });
const wait = machineText({ Type: "Wait", Seconds: 60 });

const odd = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "",
    "\0",
    "\uD800",
    "0",
    "-1",
    "{}",
    "[]",
    "null",
    "__proto__",
    "constructor",
    "page:1",
    "cGFnZTox",
    "x".repeat(300),
  ),
  fc.constantFrom(
    '{"a":1e400}',
    '{"__proto__":{"polluted":1}}',
    '{"a":1,"a":2}',
    `${"[".repeat(3000)}${"]".repeat(3000)}`,
    "9".repeat(400),
  ),
);

const definitions = fc.constantFrom(
  wait,
  machineText({ Type: "Pass" }),
  machineText({ Type: "Pass", QueryLanguage: "JSONata", Output: "{% $states.input.none %}" }),
  machineText({ Type: "Task", Resource: arn("activity:fuzz") }),
  JSON.stringify({ Type: "Pass", End: true }),
  JSON.stringify({ Type: "Map", End: true, ItemProcessor: JSON.parse(machineText({ Type: "Pass" })) }),
  '{"StartAt":"__proto__","States":{"__proto__":{"Type":"Succeed"}}}',
  "{",
);

const known: Readonly<Record<string, fc.Arbitrary<string>>> = {
  stateMachineArn: fc.constantFrom(arn("stateMachine:fuzz"), arn("stateMachine:fuzz:1"), arn("stateMachine:express"), arn("stateMachine:none")),
  executionArn: fc.constantFrom(arn("execution:fuzz:one"), arn("execution:none:none"), arn("express:express:a:b")),
  activityArn: fc.constantFrom(arn("activity:none"), arn("activity:a b")),
  resourceArn: fc.constantFrom(arn("stateMachine:fuzz"), arn("activity:fuzz")),
  definition: definitions,
  type: fc.constantFrom("STANDARD", "EXPRESS"),
  name: fc.constantFrom("fuzz", "one", "two", "a".repeat(81)),
  input: fc.constantFrom("{}", '{"a":[1]}'),
  roleArn: fc.constant(roleArn),
}; // prettier-ignore

const texts = {
  odd,
  known: (name: string) => {
    const likely = known[name];
    return likely && fc.oneof({ weight: 5, arbitrary: likely }, odd);
  },
};

/** Anew each time: one of the operations is DeleteStateMachine. */
async function prepare(): Promise<void> {
  await call("CreateStateMachine", { name: "fuzz", definition: wait, roleArn, publish: true });
  await call("CreateStateMachine", {
    name: "express",
    definition: machineText({ Type: "Pass" }),
    roleArn,
    type: "EXPRESS",
  });
  await call("StartExecution", { stateMachineArn: arn("stateMachine:fuzz"), name: "one" });
}

const { operations } = makeSfn({ workflows: {}, queues: {}, log: {} } as never);

test.each([...operations.keys()])("%s", async (name) => {
  await prepare();
  await fc.assert(
    fc.asyncProperty(valuesOf(operations.get(name)!.input, texts), async (value) => {
      const { status, text } = await call(name, JSON.stringify(value));
      expect(status, `${JSON.stringify(value)} ${text}`).toBeLessThan(500);
    }),
    { numRuns: 60, interruptAfterTimeLimit: 10_000, markInterruptAsFailure: false },
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
