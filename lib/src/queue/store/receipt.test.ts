// Deleting by receipts: exactly those messages whose own receipt holds them.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import { defaultScope } from "../contract.ts";
import { ask, freshName } from "../worker/worker.fixture.ts";
import { claimMessages, fromTheStart } from "./claim/index.ts";
import { encodeReceipt } from "../receipt.ts";
import { removeByFreshReceipt } from "./receipt.ts";
import { insertMessages } from "./send.ts";
import { settleRetry } from "./settle.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

async function queueOf(count: number): Promise<QueueRecord> {
  const { queue } = await kit.platform.queues.catalog.create(defaultScope, freshName(), {});
  const item = () => ({ queueId: queue.id, sender: "test", message: { messageId: randomUUID(), body: "x" } });
  await insertMessages(kit.platform.database, Array.from({ length: count }, item));
  return queue;
}

async function receive({ id }: QueueRecord): Promise<HeldMessage[]> {
  const request = { queueId: id, count: 100, ownerId: null, visibilitySeconds: null, from: fromTheStart };
  return (await claimMessages(kit.platform.database, request)).messages;
}

/** Shows the messages again as if they had not been received. */
const giveBack = (messages: readonly HeldMessage[]) =>
  settleRetry(
    kit.platform.database,
    messages.map((message) => ({ ...message, delayMs: 0 })),
  );

const remove = (receipts: readonly HeldMessage[]) => removeByFreshReceipt(kit.platform.database, receipts);

const left = async ({ id }: QueueRecord) =>
  (
    await ask<{ id: string }>(
      kit.platform,
      "select id::text from tuntas.held where queue_id = $1 order by held.id",
      [id],
    )
  ).map((row) => row.id);

test("in whatever order they come, each receipt deletes its own message, and an older one deletes nothing", async () => {
  const queue = await queueOf(20);
  const older = await receive(queue);
  await giveBack(older);
  const current = await receive(queue);
  // Every third message is asked for by its older receipt, between current ones of the same claim.
  const asked = current.map((message, index) => (index % 3 === 0 ? older[index]! : message)).toReversed();
  const expected = current.filter((_, index) => index % 3 !== 0).map(({ id }) => id);
  expect((await remove(asked)).toSorted()).toEqual(expected.toSorted());
  expect(await left(queue)).toEqual(current.filter((_, index) => index % 3 === 0).map(({ id }) => id));
});

test("an older and the current receipt of one message delete it at most once, and what they leave the next look deletes", async () => {
  const queue = await queueOf(2);
  const older = await receive(queue);
  await giveBack(older);
  const current = await receive(queue);
  const removed = await remove([...current, ...older]);
  expect(new Set(removed).size).toBe(removed.length);
  const { receipts } = kit.platform.queues;
  expect(await receipts.deleteAll(queue, [...older, ...current].map(encodeReceipt))).toEqual(
    Array(4).fill("ok"),
  );
  expect(await left(queue)).toEqual([]);
  expect(
    await ask(kit.platform, "select id from tuntas.message where id = any($1)", [
      current.map(({ id }) => id),
    ]),
  ).toEqual([]);
});

test("it deletes in several queues at once, and leaves what was received before, whose failure goes with it", async () => {
  const [queue, other] = [await queueOf(2), await queueOf(1)];
  const held = [...(await receive(queue)), ...(await receive(other))];
  await ask(kit.platform, "update tuntas.in_flight set receives = 2 where queue_id = $1 and id = $2", [
    queue.id,
    held[0]!.id,
  ]);
  const fresh = held.slice(1).map(({ id }) => id);
  expect((await remove(held)).toSorted()).toEqual(fresh.toSorted());
  expect([...(await left(queue)), ...(await left(other))]).toEqual([held[0]!.id]);
});
