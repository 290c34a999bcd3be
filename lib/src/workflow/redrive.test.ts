import { expect, test } from "vitest";
import { effect, provider, settleByHand, unknownEffects } from "../ledger/index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";

const scope = { account: "000000000000", region: "us-east-1" };
const bank = provider({ name: "bank", timeout: "20ms", reconcile: { charge: "manual" } });

/** An execution whose only state fails. */
async function failedExecution({ platform: { workflows } }: TestPlatform, name: string) {
  const definition = { StartAt: "No", States: { No: { Type: "Fail", Error: "No" } } };
  const made = await workflows.machines.create(scope, {
    name,
    type: "STANDARD",
    tags: {},
    publish: false,
    definition: JSON.stringify(definition),
    roleArn: "arn:aws:iam::000000000000:role/none",
  });
  const target = { machine: made.machine, versionArn: null, aliasArn: null };
  const { arn } = await workflows.executions.start({ target, name: "one", input: "{}" });
  return (await workflows.executions.find(arn))!;
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
