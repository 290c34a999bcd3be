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
