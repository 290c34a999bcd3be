// The claim for fresh messages: it takes what the statement for all would give the same, and nothing else.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../../testing/index.ts";
import type { HeldMessage, NewMessage, QueueRecord } from "../../contract.ts";
import { defaultScope } from "../../contract.ts";
import { ask, freshName } from "../../worker/worker.fixture.ts";
import { claimMessages, fromTheStart, type ClaimRequest } from "./index.ts";
import { claimFresh } from "./fresh.ts";
import { insertMessages } from "../send.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const queues = () => kit.platform.queues;

async function queueOf(messages: readonly Partial<NewMessage>[]): Promise<QueueRecord> {
  const { queue } = await queues().catalog.create(defaultScope, freshName(), {
    deadLetterName: freshName(),
    receivesMax: 5,
  });
  await send(queue, messages);
  return queue;
}

const send = (queue: QueueRecord, messages: readonly Partial<NewMessage>[]) =>
  insertMessages(
    kit.platform.database,
    messages.map((message) => ({
      queueId: queue.id,
      sender: "sender",
      message: { messageId: randomUUID(), body: "x", ...message },
    })),
  );

const forReceipt = ({ id }: QueueRecord, count: number, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
  queueId: id,
  count,
  ownerId: null,
  visibilitySeconds: null,
  from: fromTheStart,
  ...more,
});

/** What a claim says of a message, but for what differs from one to the next. */
const facts = (message: HeldMessage) => ({
  ...message,
  id: "",
  fence: "",
  messageId: "",
  sentAtMs: 0,
  firstReceivedAtMs: 0,
  queueId: 0,
});

/** Where the messages lie, without what differs from one to the next. */
const inFlight = (queue: QueueRecord) =>
  ask(
    kit.platform,
    `select owner_id, turn, receives, group_id, source_queue_id, first_received_at = claimed_at as "firstNow",
       extract(epoch from expires_at - claimed_at)::int as seconds
     from tuntas.in_flight where queue_id = $1 order by id`,
    [queue.id],
  );

test("it answers and holds fresh messages as the statement for all does", async () => {
  const messages = [
    { body: "plain" },
    { body: "with attributes", attributes: '{"a":{"DataType":"String","StringValue":"1"}}' },
    { body: "traced", traceHeader: "Root=1" },
  ];
  const [one, other] = [await queueOf(messages), await queueOf(messages)];
  const expected = await claimMessages(kit.platform.database, forReceipt(one, 10, { visibilitySeconds: 7 }));
  const claimed = await claimFresh(kit.platform.database, forReceipt(other, 10, { visibilitySeconds: 7 }));
  expect(expected.messages.map(facts)).toMatchObject(claimed.messages.map(facts));
  expect(await inFlight(other)).toEqual(await inFlight(one));
  expect(claimed).toMatchObject({ expired: 0, dead: 0, isAll: true });
  const [first] = claimed.messages;
  expect(new Set(claimed.messages.map(({ fence }) => fence)).size).toBe(1);
  expect(first!.sentAtMs).toBeLessThanOrEqual(first!.firstReceivedAtMs);
});

test("it leaves what is not fresh where it lies and says so; the next claim takes it with its own fate", async () => {
  const queue = await queueOf([
    { body: "a" },
    { body: "received" },
    { body: "grouped", groupId: "g" },
    { body: "old" },
    { body: "b" },
  ]);
  const of = (body: string) => `id = (select id from tuntas.message m join tuntas.ready r using (id)
    where r.queue_id = ${queue.id} and m.body = '${body}')`;
  await ask(
    kit.platform,
    `update tuntas.ready set receives = 2, first_received_at = now() where ${of("received")}`,
  );
  await ask(kit.platform, `update tuntas.ready set sent_at = now() - interval '30 days' where ${of("old")}`);

  const fresh = await claimFresh(kit.platform.database, forReceipt(queue, 10));
  expect(fresh.messages.map(({ body }) => body)).toEqual(["a", "b"]);
  expect(fresh.isAll).toBe(false);
  const nothing = await claimFresh(kit.platform.database, forReceipt(queue, 10));
  expect(nothing).toMatchObject({ messages: [], isAll: false });

  const rest = await claimMessages(kit.platform.database, forReceipt(queue, 10));
  expect(rest.messages.map(({ body, receives }) => [body, receives]).toSorted()).toEqual([
    ["grouped", 1],
    ["received", 3],
  ]);
  expect(rest.expired).toBe(1);
});

test("it takes no more than it may, none that somebody else takes at this moment, and for a worker one bundle", async () => {
  const queue = await queueOf([{}, {}, {}, {}]);
  const ownerId = kit.platform.processId();
  const { database } = kit.platform;
  const [here, there] = await database.transaction(async (tx) => [
    await claimFresh(tx, forReceipt(queue, 1, { ownerId, bundled: true })),
    await claimFresh(database, forReceipt(queue, 2, { ownerId, bundled: true })),
  ]);
  expect([here!.messages.length, there!.messages.length]).toEqual([1, 2]);
  const ids = there!.messages.map(({ id }) => id);
  expect(ids).not.toContain(here!.messages[0]!.id);
  expect(
    await ask(kit.platform, "select ids from tuntas.bundle where fence = $1", [there!.messages[0]!.fence]),
  ).toEqual([{ ids }]);
  expect(await queues().catalog.count(queue)).toEqual({ ready: 1, inFlight: 3, delayed: 0 });
});

test("a receive gets all there is, fresh or not, also where the one before met fresh messages only", async () => {
  const queue = await queueOf([{ body: "a" }, { body: "b" }]);
  const receive = async (countMax: number) =>
    queues().receiver.receive(queue, { countMax, waitMs: 0, visibilitySeconds: null });
  await receive(1);
  const again = await receive(1);
  await queues().receiver.giveBack(queue, again);
  await ask(
    kit.platform,
    "update tuntas.ready set receives = 1, first_received_at = now() where queue_id = $1",
    [queue.id],
  );
  await send(queue, [{ body: "c" }, { body: "d", groupId: "g" }, { body: "e" }]);
  const got = await receive(10);
  expect(got.map(({ body, receives }) => [body, receives]).toSorted()).toEqual([
    ["b", 2],
    ["c", 1],
    ["d", 1],
    ["e", 1],
  ]);
  expect(await receive(10)).toEqual([]);
});
