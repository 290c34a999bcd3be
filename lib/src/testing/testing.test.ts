import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "./index.ts";

const scope = { account: "000000000000", region: "us-east-1" };

test("a test platform moves its own clock: a delay of 15 minutes passes at once", async () => {
  await using kit = await testPlatform();
  const { queues } = kit.platform;
  const { queue } = await queues.catalog.create(scope, "later", {});
  await queues.sender.send(queue, { messageId: randomUUID(), body: "x", delaySeconds: 900 }, "test");
  const receive = () => queues.receiver.receive(queue, { countMax: 1, waitMs: 0, visibilitySeconds: null });
  expect(await receive()).toEqual([]);
  await kit.advance(900_000);
  expect(await receive()).toMatchObject([{ body: "x", receives: 1 }]);
});
