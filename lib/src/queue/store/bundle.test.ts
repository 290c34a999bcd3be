// Many fresh messages of one claim in one row: each still has its own fate, and its fence.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import { defaultScope } from "../contract.ts";
import { ask, freshName } from "../worker/worker.fixture.ts";
import { claimMessages, fromTheStart } from "./claim/index.ts";
import { insertMessages } from "./send.ts";
import { loosenClaims, releaseOwners, settleDone, settleQuarantine, settleRetry } from "./settle.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const failure = { outcome: "retry", code: "X", message: "x", fingerprint: "X: x", schemaVersion: null };

/** A fresh queue with so many messages. */
async function queueOf(count: number): Promise<QueueRecord> {
  const { catalog } = kit.platform.queues;
  const name = freshName();
  const { queue } = await catalog.create(defaultScope, name, {});
  const message = () => ({ messageId: randomUUID(), body: "x" });
  const item = () => ({ queueId: queue.id, sender: "test", message: message() });
  await insertMessages(kit.platform.database, Array.from({ length: count }, item));
  return queue;
}

/** The id of a process that lives on paper only; nobody takes over what it holds. */
async function paperProcess(): Promise<string> {
  const insert = `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
    values ('paper', 'here', 1, '1', now(), now(), now() + interval '1 hour') returning id::text`;
  return (await ask<{ id: string }>(kit.platform, insert))[0]!.id;
}

/** Claims as a worker does. */
async function claim(
  queue: QueueRecord,
  count: number,
  ownerId = kit.platform.processId(),
): Promise<HeldMessage[]> {
  const request = { queueId: queue.id, count, ownerId, visibilitySeconds: null, from: fromTheStart };
  return (await claimMessages(kit.platform.database, { ...request, bundled: true })).messages;
}

const counts = (queue: QueueRecord) => kit.platform.queues.catalog.count(queue);
const bodies = async (messages: readonly HeldMessage[]) =>
  (
    await ask(kit.platform, "select count(*)::int as n from tuntas.message where id = any($1)", [
      messages.map((message) => message.id),
    ])
  )[0].n as number;

test("fresh messages share a row, others have their own, and all count as in flight", async () => {
  const queue = await queueOf(3);
  await settleRetry(
    kit.platform.database,
    (await claim(queue, 1)).map((held) => ({ ...held, delayMs: 0, failure })),
  );
  const held = await claim(queue, 10);
  expect(held.map(({ bundled, receives }) => [bundled, receives])).toEqual([
    [false, 2],
    [true, 1],
    [true, 1],
  ]);
  expect(await counts(queue)).toEqual({ ready: 0, inFlight: 3, delayed: 0 });
  expect(await ask(kit.platform, "select ids from tuntas.bundle where queue_id = $1", [queue.id])).toEqual([
    { ids: held.slice(1).map(({ id }) => id) },
  ]);
});

test("a bundle is ended piece by piece, and a late owner changes nothing", async () => {
  const queue = await queueOf(5);
  const held = await claim(queue, 5);
  const { database } = kit.platform;
  expect(await settleDone(database, held.slice(0, 2))).toHaveLength(2);
  expect(await settleDone(database, held.slice(0, 3))).toEqual([held[2]]);
  const late = held.map((item) => ({ ...item, fence: String(BigInt(item.fence) - 1n) }));
  expect(await settleDone(database, late)).toEqual([]);
  expect(await counts(queue)).toEqual({ ready: 0, inFlight: 2, delayed: 0 });
  expect(await bodies(held)).toBe(2);
  expect(await settleDone(database, held.slice(3))).toHaveLength(2);
  expect(await ask(kit.platform, "select from tuntas.bundle where queue_id = $1", [queue.id])).toEqual([]);
  expect(await bodies(held)).toBe(0);
});

test("settles that touch the same bundles in opposite orders do not deadlock, and end each message once", async () => {
  const queue = await queueOf(200);
  const held = [...(await claim(queue, 100)), ...(await claim(queue, 100))];
  const parts = Array.from({ length: 10 }, (_, part) => held.filter((_, index) => index % 10 === part));
  const ended = await Promise.all(
    parts.map((part, index) => settleDone(kit.platform.database, index % 2 ? part : part.toReversed())),
  );
  expect(new Set(ended.flat().map(({ id }) => id)).size).toBe(200);
  expect(ended.flat()).toHaveLength(200);
  expect(await counts(queue)).toEqual({ ready: 0, inFlight: 0, delayed: 0 });
});

test("a message that is tried again or put aside leaves its bundle; one that never began does not count", async () => {
  const queue = await queueOf(4);
  const { database } = kit.platform;
  const [failed, idle, poison, rest] = (await claim(queue, 4)) as [
    HeldMessage,
    HeldMessage,
    HeldMessage,
    HeldMessage,
  ];
  await settleRetry(database, [
    { ...failed, delayMs: 0, failure },
    { ...idle, delayMs: 0 },
  ]);
  expect(
    await settleQuarantine(database, [{ ...poison, failure: { ...failure, outcome: "poison" } }]),
  ).toHaveLength(1);
  expect(await counts(queue)).toEqual({ ready: 2, inFlight: 1, delayed: 0 });
  const again = await claim(queue, 4);
  expect(again.map(({ id, receives, bundled }) => [id, receives, bundled])).toEqual([
    [failed.id, 2, false],
    [idle.id, 1, true],
  ]);
  expect(await settleDone(database, [rest, ...again])).toHaveLength(3);
});

test("what is loosened can be ended by itself, or with the others by an owner that does not know", async () => {
  const queue = await queueOf(3);
  const { database } = kit.platform;
  const held = await claim(queue, 3);
  await loosenClaims(database, held.slice(0, 2));
  await loosenClaims(database, held.slice(0, 1));
  expect(await counts(queue)).toEqual({ ready: 0, inFlight: 3, delayed: 0 });
  expect(await settleDone(database, held)).toHaveLength(3);
  expect(await bodies(held)).toBe(0);
});

test("what a dead owner held in bundles and by itself is ready again, once, with its receive counted", async () => {
  const queue = await queueOf(30);
  const { database } = kit.platform;
  const owner = await paperProcess();
  const held = [...(await claim(queue, 10, owner)), ...(await claim(queue, 10, owner))];
  await settleDone(database, held.slice(0, 1));
  await loosenClaims(database, held.slice(1, 2));
  await claim(queue, 10);
  const released = [
    ...(await releaseOwners(database, [owner], 500)),
    ...(await releaseOwners(database, [owner], 500)),
  ];
  expect(released).toHaveLength(19);
  expect(await counts(queue)).toEqual({ ready: 19, inFlight: 10, delayed: 0 });
  expect(await settleDone(database, held)).toEqual([]);
  const rows = await ask(
    kit.platform,
    "select distinct receives, first_received_at is not null as begun from tuntas.ready where queue_id = $1",
    [queue.id],
  );
  expect(rows).toEqual([{ receives: 1, begun: true }]);
});

test("a purge takes bundles with it", async () => {
  const queue = await queueOf(3);
  const held = await claim(queue, 2);
  await kit.platform.queues.catalog.purge(queue);
  expect(await counts(queue)).toEqual({ ready: 0, inFlight: 0, delayed: 0 });
  expect(await settleDone(kit.platform.database, held)).toEqual([]);
});
