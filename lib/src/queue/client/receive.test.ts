import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statement } from "../../pg/database.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope, type QueueRecord, type QueueSettings } from "../contract.ts";
import { encodeReceipt } from "../receipt.ts";

let kit: TestPlatform;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tuntas-receive-"));
  kit = await testPlatform({ dataDir });
});
afterAll(async () => {
  await kit?.[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
});

const create = async (name: string, settings: QueueSettings = {}): Promise<QueueRecord> =>
  (await kit.platform.queues.catalog.create(defaultScope, name, settings)).queue;

const send = (queue: QueueRecord, body: string, groupId?: string) =>
  kit.platform.queues.sender.send(
    queue,
    { messageId: randomUUID(), body, groupId, deduplicationId: queue.fifo ? randomUUID() : undefined },
    "test",
  );

async function receive(
  queue: QueueRecord,
  countMax: number,
  visibilitySeconds: number | null = null,
  waitMs = 0,
) {
  return kit.platform.queues.receiver.receive(queue, { countMax, waitMs, visibilitySeconds });
}

const bodies = (messages: readonly { readonly body: string }[]) => messages.map(({ body }) => body);

test("a quiet tenant is served before the backlog of a noisy one, and first in the answer", async () => {
  const queue = await create("fair");
  for (let i = 0; i < 30; i++) await send(queue, `noisy ${i}`, "noisy");
  expect(await receive(queue, 10)).toHaveLength(10);
  await send(queue, "quiet", "quiet");
  expect(bodies(await receive(queue, 3))).toEqual(["quiet", "noisy 10", "noisy 11"]);
});

test("messages that go to the dead-letter queue do not keep a receive from those behind them", async () => {
  const dead = await create("dead");
  const queue = await create("alive", { deadLetterName: "dead", receivesMax: 1 });
  for (let i = 0; i < 3; i++) await send(queue, `spent ${i}`);
  expect(await receive(queue, 3, 0)).toHaveLength(3);
  await send(queue, "fresh");
  expect(bodies(await receive(queue, 1))).toEqual(["fresh"]);
  expect(bodies(await receive(dead, 10))).toEqual(["spent 0", "spent 1", "spent 2"]);
});

test("what is given back is ready at once, and its receive does not count", async () => {
  for (const name of ["back", "back.fifo"]) {
    const queue = await create(name);
    const message = { messageId: randomUUID(), body: "x", groupId: "g", deduplicationId: "d" };
    await kit.platform.queues.sender.send(queue, message, "test");
    await kit.platform.queues.receiver.giveBack(queue, await receive(queue, 1));
    expect(await receive(queue, 1)).toMatchObject([{ body: "x", receives: 1 }]);
  }
});

test("a delete that meets the end of the visibility timeout still deletes", async () => {
  const { receipts } = kit.platform.queues;
  const queue = await create("race");
  for (let round = 0; round < 30; round++) {
    await send(queue, "x");
    const [message] = await receive(queue, 1, 0);
    expect(await receipts.delete(queue, encodeReceipt(message!))).toBe("ok");
    expect(await receive(queue, 1)).toEqual([]);
  }
});

/** What the queue room announced while `work` ran. */
async function heard(name: string, work: () => Promise<unknown>): Promise<unknown[]> {
  const messages: unknown[] = [];
  const listen = (message: unknown) => messages.push(message);
  subscribe(`tuntas.${name}`, listen);
  await work().finally(() => unsubscribe(`tuntas.${name}`, listen));
  return messages;
}

const age = statement("update tuntas.ready set sent_at = sent_at - interval '2 hours' where queue_id = $1");

test("a claim says what ended instead of being claimed, and takes what stood behind it, FIFO or not", async () => {
  for (const suffix of ["", ".fifo"]) {
    const group = suffix === "" ? undefined : "g";
    const graveyard = await create(`ended-dead${suffix}`);
    const settings = { retentionSeconds: 3600, deadLetterName: graveyard.name, receivesMax: 1 };
    const queue = await create(`ended${suffix}`, settings);
    await send(queue, "too old", group);
    // Not by the clock, whose move would have the sweep remove it.
    await kit.platform.database.run(age, [queue.id]);
    await send(queue, "too often", group);
    expect(await heard("queue.expired", () => receive(queue, 1, 0))).toEqual([
      { queueId: queue.id, count: 1 },
    ]);
    await send(queue, "alive", group);
    const waiting = receive(graveyard, 1, null, 20_000);
    const received: string[] = [];
    const dead = await heard("queue.dead", async () => {
      received.push(...bodies(await receive(queue, 1)));
    });
    expect(dead).toEqual([{ queueId: queue.id, deadLetterId: graveyard.id, count: 1 }]);
    expect(received).toEqual(["alive"]);
    expect(bodies(await waiting)).toEqual(["too often"]);
  }
});

test("whoever waits at a queue is told at once that it is deleted, here and in another process", async () => {
  const other = await kit.another();
  const queue = await create("deleted-meanwhile");
  const ask = { countMax: 1, waitMs: 20_000, visibilitySeconds: null };
  const begun = performance.now();
  const waits = [kit.platform, other].map((platform) =>
    platform.queues.receiver.receive(queue, ask).catch((cause: unknown) => cause),
  );
  await expect
    .poll(() => [kit.platform, other].every(({ waker }) => waker.asleep("ready:").length > 0))
    .toBe(true);
  await kit.platform.queues.catalog.delete(queue);
  const gone = { code: "TUNTAS_QUEUE_MISSING" };
  expect(await Promise.all(waits)).toMatchObject([gone, gone]);
  expect(performance.now() - begun).toBeLessThan(15_000);
});
