import { expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../../app.ts";
import { effect, once, provider } from "../../ledger/index.ts";
import { add } from "../../outbox/index.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform } from "../../testing/index.ts";
import { queue, worker } from "../declaration.ts";

test("G-01 G-07 G-19 a handler's change, command, announcement and acknowledgement are one commit; its calls outside come before", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const bank = provider({ name: "bank", timeout: "1s", reconcile: { charge: "manual" } });
  const refused: unknown[] = [];
  const told = new Promise<string>((resolve) => {
    platform.targets.bind(
      { kind: "function", name: "told" },
      { deliver: async ({ payload }) => resolve(payload) },
    );
  });
  const orders = queue("ledger-orders", {
    message: z.object({ orderId: z.string() }),
    deadLetter: { after: 5, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" },
  });
  const orderWorker = worker(orders, {
    idempotencyKey: ({ orderId }) => orderId,
    timeout: "20s",
    async handle({ orderId }, ctx) {
      const charge = () =>
        effect(
          ctx,
          { provider: bank, operation: "charge", key: orderId, request: { orderId } },
          async () => ({ receipt: orderId }),
        );
      const { response } = await charge();
      await once(ctx.tx, { scope: "orders", key: orderId, request: { orderId } }, () => response.receipt);
      await charge().catch((cause: unknown) => refused.push(cause));
      await add(ctx.tx, {
        target: { kind: "function", name: "told" },
        key: orderId,
        payload: response.receipt,
      });
    },
  });
  await using _running = await start(app({ orders, orderWorker }), { platform });
  await orders.send({ orderId: "o1" });
  expect(await told).toBe("o1");
  const records = statement(`select scope, key from tuntas.command order by scope`);
  expect(await platform.database.run(records)).toEqual([
    { scope: "orders", key: "o1" },
    { scope: "queue:ledger-orders", key: "o1" },
  ]);
  expect(refused).toMatchObject([{ code: "TUNTAS_EFFECT_IN_TRANSACTION" }]);
});
