import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope, type NewMessage, type QueueRecord, type QueueSettings } from "../contract.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const create = async (name: string, settings: QueueSettings = {}): Promise<QueueRecord> =>
  (await kit.platform.queues.catalog.create(defaultScope, name, settings)).queue;

const plain = (body: string): NewMessage => ({ messageId: randomUUID(), body });

async function bodiesById(queue: QueueRecord): Promise<Record<string, string>> {
  const request = { countMax: 100, waitMs: 0, visibilitySeconds: null };
  const messages = await kit.platform.queues.receiver.receive(queue, request);
  return Object.fromEntries(messages.map(({ id, body }) => [id, body]));
}

test("messages that share a statement are each told their own id, whatever they are made of", async () => {
  const queue = await create("shared");
  const { sender } = kit.platform.queues;
  const wanted = Array.from({ length: 20 }, (_, i) => plain(`plain ${i}`));
  const other = { ...plain("with a trace"), traceHeader: "Root=1" };
  const [all, single, alone] = await Promise.all([
    sender.sendAll(queue, wanted, "test"),
    sender.send(queue, plain("single"), "test"),
    sender.send(queue, plain("of somebody else"), "else"),
  ]);
  const traced = await sender.send(queue, other, "test");
  const sent = [...all, single, alone, traced];
  const bodies = [...wanted.map(({ body }) => body), "single", "of somebody else", "with a trace"];
  expect(await bodiesById(queue)).toEqual(Object.fromEntries(sent.map(({ id }, i) => [id, bodies[i]])));
  expect(all.map(({ messageId }) => messageId)).toEqual(wanted.map(({ messageId }) => messageId));
});

test("a plain message waits where its queue has a delay by now, whatever the sender knew of it", async () => {
  const before = await create("late");
  const { catalog, sender } = kit.platform.queues;
  await catalog.update(before, { delaySeconds: 900 });
  await sender.send(before, plain("later"), "test");
  expect(await catalog.count(before)).toMatchObject({ ready: 0, delayed: 1 });
});

test("whose queue is gone fails alone, and the others of the commit are stored", async () => {
  const [gone, kept] = [await create("gone"), await create("kept")];
  const { catalog, sender } = kit.platform.queues;
  await catalog.delete(gone);
  const outcomes = await Promise.allSettled([
    sender.sendAll(gone, [plain("a"), plain("b")], "test"),
    sender.send(kept, plain("c"), "test"),
  ]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "TUNTAS_QUEUE_MISSING" } },
    { status: "fulfilled", value: { status: "created" } },
  ]);
  await expect(sender.send(gone, plain("d"), "test")).rejects.toMatchObject({ code: "TUNTAS_QUEUE_MISSING" });
  expect(Object.values(await bodiesById(kept))).toEqual(["c"]);
});

test("who is alone notifies nobody, and from the moment another process comes it is told", async () => {
  await using own = await testPlatform();
  const { queues } = own.platform;
  const { queue } = await queues.catalog.create(defaultScope, "company", {});
  const listener = new pg.Client(own.databaseUrl);
  await listener.connect();
  let heard = 0;
  listener.on("notification", () => heard++);
  await listener.query(`listen "${own.schema}.ready"`);
  /** How many notifications follow a send whose commit brings none along. */
  const told = async () => {
    const before = heard;
    await queues.sender.send(queue, { messageId: randomUUID(), body: "x", groupId: "g" }, "test");
    await pause(300);
    return heard - before;
  };
  try {
    await expect.poll(told).toBe(0);
    await own.another();
    await expect.poll(told).toBeGreaterThan(0);
  } finally {
    await listener.end();
  }
});
