import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, poison, queue, start, unknown, worker } from "../../index.ts";
import { effect, provider, settleByHand, unknownEffects } from "../../ledger/index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope } from "../contract.ts";

let world: TestPlatform;
beforeAll(async () => void (world = await testPlatform()));
afterAll(() => world[Symbol.asyncDispose]());

const act = { actor: "ada", reason: "the bank is back" };
const bank = provider({ name: "bank", timeout: "20ms", reconcile: { charge: "manual" } });
const orders = queue("charges", {
  message: z.object({ orderId: z.string() }),
  deadLetter: { after: 1, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" },
});

/** The bank of the order `silent` gives no answer, and the handler of each order fails afterwards. */
const charges = worker(orders, {
  idempotencyKey: ({ orderId }) => orderId,
  timeout: "10s",
  async handle({ orderId }, ctx) {
    const call = () => (orderId === "silent" ? new Promise<string>(() => undefined) : Promise.resolve("ok"));
    await effect(
      ctx,
      { provider: bank, operation: "charge", key: orderId, request: { orderId } },
      call,
    ).catch(() => undefined);
    return orderId === "silent" ? unknown({ code: "BANK_SILENT" }) : poison({ code: "BROKEN" });
  },
});

const piled = (filter: object = {}) =>
  world.platform.queues.deadLetters.items(defaultScope, { queue: "charges", ...filter }, { limit: 10 });

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 800) throw new Error("it did not come to hold in time");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

test("G-17 V-26 a message whose side effect is unknown is not replayed before it is settled; others are", async () => {
  const { database } = world.platform;
  const running = await start(app({ orders, charges }), { platform: world.platform });
  await orders.send({ orderId: "silent" });
  await orders.send({ orderId: "broken" });
  await until(async () => (await piled()).length === 2);
  await running.stop();
  const [silent] = await piled({ code: "BANK_SILENT" });
  const [row] = await unknownEffects(database, { work: [silent!.messageId] });
  expect(row).toMatchObject({ provider: "bank", key: "silent", caller: silent!.messageId });

  const { operations } = world.platform;
  const selection = { filter: { queue: "charges" }, effectChecked: true };
  const replay = async (more: object = {}) => {
    const { operation } = await operations.start({ kind: "replay", selection, ...act, ...more });
    return operations.settled(operation.id);
  };
  await expect(replay()).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_FORBIDDEN",
    message: expect.stringContaining("nobody knows what became of a side effect"),
  });
  expect(await piled()).toHaveLength(2);
  expect(await operations.preview("replay", selection)).toMatchObject({
    count: 1,
    forbidden: [{ rule: expect.stringContaining("tuntas effect"), count: 1 }],
  });
  expect(await replay({ skipForbidden: true })).toMatchObject({ state: "completed", done: 1, refused: 1 });
  expect(await piled()).toMatchObject([{ code: "BANK_SILENT" }]);

  const finding = { state: "succeeded", response: "ok" } as const;
  await settleByHand(database, row!.id, { finding, by: "ada", reason: "the bank has the charge" });
  expect(await replay()).toMatchObject({ state: "completed", done: 1, refused: 0 });
});
