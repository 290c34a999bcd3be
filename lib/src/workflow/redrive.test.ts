import { expect, test } from "vitest";
import { effect, provider, settleByHand, unknownEffects } from "../ledger/index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { machineOf } from "./machine.fixture.ts";

const bank = provider({ name: "bank", timeout: "20ms", reconcile: { charge: "manual" } });

/** An execution whose only state fails. */
async function failedExecution({ platform }: TestPlatform, name: string) {
  const definition = { StartAt: "No", States: { No: { Type: "Fail", Error: "No" } } };
  const target = await machineOf(platform, name, definition);
  const { executions } = platform.workflows;
  const { arn } = await executions.start({ target, name: "one", input: "{}" });
  return (await executions.find(arn))!;
}

test("G-17 P-42 V-26 an execution is not redriven while nobody knows what became of its side effect", async () => {
  await using kit = await testPlatform();
  const { database, workflows } = kit.platform;
  const execution = await failedExecution(kit, "charging");
  const silent = () => new Promise<string>(() => undefined);
  const charge = { provider: bank, operation: "charge", key: "o1", request: { amount: 5 } };
  await effect({ database, caller: execution.arn }, charge, silent).catch(() => undefined);

  await expect(workflows.executions.redrive(execution)).rejects.toMatchObject({
    code: "TUNTAS_REDRIVE_REFUSED",
    message: expect.stringContaining(`bank charge o1`),
    remedy: expect.stringContaining("tuntas effect show"),
  });
  expect((await workflows.executions.find(execution.arn))!.redriveCount).toBe(0);
  const other = await failedExecution(kit, "harmless");
  expect(await workflows.executions.redrive(other)).toBe(true);

  const [row] = await unknownEffects(database, { work: [execution.arn] });
  const finding = { state: "absent" } as const;
  await settleByHand(database, row!.id, { finding, by: "ada", reason: "the bank has no such charge" });
  expect(await workflows.executions.redrive(execution)).toBe(true);
});
