// The recipe for Amazon SQS runs as it stands: the built packages, by the AWS SDK, against the gateway on another database.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform } from "tuntas";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const server = process.env.DATABASE_URL!;
let kitchen: Kitchen;
let cloud: TestPlatform;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  cloud = await testPlatform();
  gateway = await startGateway({ platform: cloud.platform, port: 0 });
  kitchen = await openKitchen("aws");
  process.env.DATABASE_URL = kitchen.url;
  await (await openPlatform({ databaseUrl: kitchen.url })).close();
  await kitchen.client.query("create table shipment (order_id text primary key)");
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "any",
    AWS_SECRET_ACCESS_KEY: "any",
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${gateway.port}`,
  });
}, 120_000);

afterAll(async () => {
  process.env.DATABASE_URL = server;
  await kitchen.close();
  await gateway.close();
  await cloud[Symbol.asyncDispose]();
});

test("docs/recipes/aws-sqs.md: refused while there is no queue; made where asked, an order is shipped once", async () => {
  const recipe = await kitchen.recipe("aws-sqs");
  await expect(recipe.startOnSqs()).rejects.toMatchObject({ code: "TUNTAS_QUEUE_MISSING" });
  const running = await recipe.startAndCreate();
  try {
    await Promise.all([1, 2].map(() => recipe.orderWork.send({ orderId: "ord_1" })));
    const shipped = async () => (await kitchen.client.query("select order_id from shipment")).rows;
    await expect.poll(shipped).toEqual([{ order_id: "ord_1" }]);
    const queue = await cloud.platform.queues.catalog.get(
      { account: "000000000000", region: "us-east-1" },
      "order-work",
    );
    await expect
      .poll(() => cloud.platform.queues.catalog.count(queue))
      .toEqual({ ready: 0, inFlight: 0, delayed: 0 });
  } finally {
    await running.stop();
  }
}, 120_000);
