// A redrive over the wire is refused while nobody knows what became of a call to the outside.
import { afterEach, beforeEach, expect, test } from "vitest";
import { effect, provider, settleByHand, unknownEffects } from "tuntas/ledger";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway();
});
afterEach(() => gateway[Symbol.asyncDispose]());

const call = (operation: string, input: object) =>
  gateway.call("", input, { headers: { "x-amz-target": `AWSStepFunctions.${operation}` } });

const bank = provider({ name: "bank", timeout: "20ms", reconcile: { charge: "manual" } });

test("G-17 P-42 RedriveExecution answers ExecutionNotRedrivable while a side effect is unknown", async () => {
  const { database } = gateway.kit.platform;
  const definition = JSON.stringify({ StartAt: "No", States: { No: { Type: "Fail", Error: "No" } } });
  const machine = { name: "charging", definition, roleArn: "arn:aws:iam::000000000000:role/none" };
  const { stateMachineArn } = (await call("CreateStateMachine", machine)).json;
  const { executionArn } = (await call("StartExecution", { stateMachineArn })).json;
  const charge = { provider: bank, operation: "charge", key: "o1", request: { amount: 5 } };
  const silent = () => new Promise<string>(() => undefined);
  await effect({ database, caller: executionArn }, charge, silent).catch(() => undefined);

  const refused = await call("RedriveExecution", { executionArn });
  expect(refused).toMatchObject({
    status: 400,
    json: { __type: expect.stringMatching(/#?ExecutionNotRedrivable$/) },
  });
  expect(refused.json.message).toContain("bank charge o1");
  expect((await call("DescribeExecution", { executionArn })).json).toMatchObject({
    status: "FAILED",
    redriveCount: 0,
  });

  const [row] = await unknownEffects(database, { work: [executionArn] });
  const finding = { state: "absent" } as const;
  await settleByHand(database, row!.id, { finding, by: "ada", reason: "the bank has no such charge" });
  expect((await call("RedriveExecution", { executionArn })).status).toBe(200);
  expect((await call("DescribeExecution", { executionArn })).json.redriveCount).toBe(1);
});

test("RedriveExecution again with the same clientToken is the same redrive, for a quarter of an hour", async () => {
  const definition = JSON.stringify({ StartAt: "No", States: { No: { Type: "Fail", Error: "No" } } });
  const machine = { name: "failing", definition, roleArn: "arn:aws:iam::000000000000:role/none" };
  const { stateMachineArn } = (await call("CreateStateMachine", machine)).json;
  const { executionArn } = (await call("StartExecution", { stateMachineArn })).json;
  const redrive = async (clientToken?: string) =>
    (await call("RedriveExecution", { executionArn, ...(clientToken && { clientToken }) })).json.redriveDate;
  const count = async () => (await call("DescribeExecution", { executionArn })).json.redriveCount;

  const [first, same] = await Promise.all([redrive("one"), redrive("one")]);
  expect(first).toEqual(expect.any(Number));
  expect([same, await redrive("one")]).toEqual([first, first]);
  expect(await count()).toBe(1);
  await redrive("two");
  await redrive();
  expect(await count()).toBe(3);
  expect(await redrive("one")).toBe(first);
  expect(await count()).toBe(3);
  await gateway.kit.advance(16 * 60_000);
  expect(await redrive("one")).toBeGreaterThan(first);
  expect(await count()).toBe(4);

  for (const clientToken of [" ", "é", "x".repeat(65)])
    expect((await call("RedriveExecution", { executionArn, clientToken })).json.__type).toContain(
      "ValidationException",
    );
  const running = { Type: "Wait", Seconds: 3600, End: true };
  const waiting = JSON.stringify({ StartAt: "W", States: { W: running } });
  const other = (await call("CreateStateMachine", { ...machine, name: "waiting", definition: waiting })).json;
  const begun = (await call("StartExecution", other)).json;
  expect(
    (await call("RedriveExecution", { executionArn: begun.executionArn, clientToken: "one" })).json.__type,
  ).toContain("ExecutionNotRedrivable");
});
