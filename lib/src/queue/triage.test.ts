import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  app,
  poison,
  queue,
  start,
  unknown,
  worker,
  type QueueDefinition,
  type RunningApp,
} from "../index.ts";
import { statement } from "../pg/database.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { defaultScope } from "./contract.ts";
import { encodeReceipt } from "./receipt.ts";
import type { Outcome } from "../core/outcome.ts";
import { applyRetention } from "./sweep.ts";

let world: TestPlatform;
beforeAll(async () => void (world = await testPlatform()));
afterAll(() => world[Symbol.asyncDispose]());

const act = { actor: "ada", reason: "the fix is deployed" };
const message = z.object({ orderId: z.string() });
const owner = { after: 1, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" } as const;
let names = 0;
const freshName = (): string => `triage-${++names}`;

/** Sums `count` of a signal until it has reached `wanted`. */
async function counted(signal: string, wanted: number, work: () => Promise<unknown>): Promise<void> {
  let seen = 0;
  let reached!: () => void;
  const enough = new Promise<void>((resolve) => (reached = resolve));
  const listener = (fields: unknown) =>
    (seen += (fields as { count?: number }).count ?? 1) >= wanted && reached();
  subscribe(`tuntas.${signal}`, listener);
  await work();
  await enough;
  unsubscribe(`tuntas.${signal}`, listener);
}

/** An application whose worker ends each order as `outcomeOf` says. */
async function run(
  of: QueueDefinition<typeof message>,
  outcomeOf: (orderId: string) => Outcome | undefined,
): Promise<RunningApp> {
  const work = worker(of, {
    idempotencyKey: (order) => order.orderId,
    timeout: "5s",
    handle: ({ orderId }) => outcomeOf(orderId),
  });
  return start(app({ of, work }), { platform: world.platform });
}

/** Sends the orders to a queue whose worker fails them all, and waits until they are dead (or in quarantine). */
async function deadLetters(
  orders: readonly string[],
  options: { policy?: object; outcomeOf?: (id: string) => Outcome; signal?: string; name?: string } = {},
) {
  const {
    policy = {},
    outcomeOf = () => poison({ code: "BAD_ORDER", message: "order 17 is bad" }),
    signal = "queue.dead",
    name = freshName(),
  } = options;
  const of = queue(name, { message, deadLetter: { ...owner, ...policy } });
  await using running = await run(of, outcomeOf);
  await counted(signal, orders.length, async () => {
    for (const orderId of orders)
      await of.send({ orderId }, name.endsWith(".fifo") ? { groupId: "g", deduplicationId: orderId } : {});
  });
  await running.stop();
  return { of, name };
}

const queues = () => world.platform.queues;

/** What an operation upon the dead letters came to. */
async function operate(kind: "replay" | "reject", selection: object, more: object = {}) {
  const { operations } = world.platform;
  const { operation } = await operations.start({ kind, selection, ...act, ...more });
  return operations.settled(operation.id);
}

test("Q-15: dead letters are grouped by cause, with count, times, sample, receives, owner and runbook", async () => {
  const { name } = await deadLetters(["a", "b", "c"], {
    outcomeOf: (id) =>
      id === "c"
        ? poison({ code: "OTHER" })
        : poison({ code: "BAD_ORDER", message: `order ${id.length} is bad` }),
  });
  const groups = await queues().deadLetters.groups(defaultScope, { queue: name });
  expect(groups).toMatchObject([
    {
      queue: name,
      liesIn: `${name}-dlq`,
      place: "dead",
      outcome: "poison",
      code: "BAD_ORDER",
      fingerprint: "BAD_ORDER: order <n> is bad",
      count: 2,
    },
    {
      code: "OTHER",
      count: 1,
      receivesMax: 1,
      owner: "orders-team",
      runbook: "runbooks/orders.md",
      sampleBody: '{"orderId":"c"}',
    },
  ]);
  expect(groups[0]!.firstSeenAtMs).toBeLessThanOrEqual(groups[0]!.lastSeenAtMs);
  expect(
    await queues().deadLetters.items(defaultScope, { queue: name, code: "OTHER" }, { limit: 10 }),
  ).toMatchObject([{ body: '{"orderId":"c"}' }]);
});

test("Q-15: dead letters of a queue that nobody declared have owner none, and say that they were never deleted", async () => {
  const name = freshName();
  await queues().catalog.create(defaultScope, `${name}-dlq`, {});
  const { queue: source } = await queues().catalog.create(defaultScope, name, {
    deadLetterName: `${name}-dlq`,
    receivesMax: 1,
  });
  const { sender, receiver } = queues();
  await sender.send(source, { messageId: crypto.randomUUID(), body: "wire" }, "000000000000");
  await receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 0 });
  await world.advance(1000);
  await receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 0 });
  expect(await queues().deadLetters.groups(defaultScope, { queue: name })).toMatchObject([
    { owner: "none", runbook: null, code: "NOT_DELETED", count: 1 },
  ]);
});

test("Q-16, Q-17, L-06: poison reaches the dead-letter queue, the worker survives, a replay empties the selection once", async () => {
  const { of, name } = await deadLetters(["a", "b", "c"], {
    outcomeOf: (id) => poison({ code: id === "c" ? "OTHER" : "BAD_ORDER" }),
  });
  const filter = { queue: name, code: "BAD_ORDER" };
  expect(await world.platform.operations.preview("replay", { filter })).toMatchObject({
    count: 2,
    forbidden: [],
  });
  const [before] = await queues().deadLetters.items(defaultScope, { queue: name }, { limit: 1 });

  const handled: string[] = [];
  await using running = await run(of, (id) => void handled.push(id));
  await counted("worker.attempt", 2, async () => {
    const ended = await operate("replay", { filter });
    expect(ended).toMatchObject({ state: "completed", selected: 2, done: 2, skipped: 0, ...act });
    const items = await world.platform.operations.items(ended.id);
    expect(items.map(({ item }) => item)).toContain(before!.messageId);
  });
  expect(handled.toSorted()).toEqual(["a", "b"]);
  expect(await queues().deadLetters.groups(defaultScope, { queue: name })).toMatchObject([
    { code: "OTHER", count: 1 },
  ]);

  // The first delivery of `a` was processed now; the same body once more has no second effect.
  await counted("worker.attempt", 1, () => of.send({ orderId: "a" }));
  expect(handled).toHaveLength(2);
  await running.stop();
});

test("Q-16: a replay can go to another queue, at a rate, and be aborted between two slices", async () => {
  const { name } = await deadLetters(["a", "b", "c", "d", "e", "f"]);
  const { queue: other } = await queues().catalog.create(defaultScope, `${name}-fixed`, {});
  const { operations } = world.platform;
  const to = `${name}-fixed`;
  const slow = { kind: "replay", selection: { filter: { queue: name }, to }, ...act, perSecond: 5 };
  const { operation } = await operations.start(slow);
  await counted("queue.replayed", 1, async () => undefined);
  await operations.say("abort", operation.id, act);
  const { state, done } = await operations.get(operation.id);
  expect(state).toBe("aborted");
  expect(await queues().catalog.count(other)).toMatchObject({ ready: done });
  const startedAt = performance.now();
  const rest = await operate("replay", { filter: { queue: name }, to }, { perSecond: 10 });
  expect(rest.done).toBe(6 - done);
  // What comes back was sent at that moment, wherever one looks.
  const dates = `select count(*)::int as count from tuntas.ready r join tuntas.message m using (id, sent_at) where r.queue_id = $1`;
  expect(await world.platform.database.run(statement(dates), [other.id])).toEqual([{ count: 6 }]);
  expect(performance.now() - startedAt).toBeGreaterThan(((rest.done - 2) / 10) * 1000);
});

test("Q-18: a replay that a rule of the queue forbids is refused with the rule's name, and changes nothing", async () => {
  const { name } = await deadLetters(["a", "b"], {
    policy: { replayForbidden: { CASE_CLOSED: "closed case" } },
    outcomeOf: (id) => poison({ code: id === "a" ? "CASE_CLOSED" : "BAD_ORDER" }),
  });
  const selection = { filter: { queue: name } };
  await expect(operate("replay", selection)).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_FORBIDDEN",
    message: expect.stringContaining("closed case"),
  });
  expect(await world.platform.operations.preview("replay", selection)).toMatchObject({
    count: 1,
    forbidden: [{ rule: "closed case", count: 1 }],
  });
  expect(
    (await queues().deadLetters.groups(defaultScope, { queue: name }))
      .map((group) => group.replayForbidden)
      .toSorted(),
  ).toEqual(["closed case", null]);
  expect(await operate("replay", selection, { skipForbidden: true })).toMatchObject({ done: 1, refused: 1 });
  expect(await operate("reject", { ...selection, code: "TOO_LATE" })).toMatchObject({ done: 1 });
  expect(
    await world.platform.database.run(
      statement("select code, reason from tuntas.rejection where code = 'TOO_LATE'"),
    ),
  ).toEqual([{ code: "TOO_LATE", reason: "the fix is deployed" }]);
});

test("Q-16: unknown outcomes are replayed out of quarantine only after somebody has checked their effect", async () => {
  const { name } = await deadLetters(["a"], {
    outcomeOf: () => unknown({ code: "GATEWAY_TIMEOUT" }),
    signal: "worker.attempt",
  });
  const filter = { queue: name };
  expect(await queues().deadLetters.groups(defaultScope, filter)).toMatchObject([
    { place: "quarantined", outcome: "unknown", count: 1 },
  ]);
  await expect(operate("replay", { filter })).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_FORBIDDEN",
    message: expect.stringContaining("nobody has looked"),
  });
  expect(await operate("replay", { filter, effectChecked: true })).toMatchObject({ done: 1 });
  const source = await queues().catalog.get(defaultScope, name);
  const [again] = await queues().receiver.receive(source, {
    countMax: 1,
    waitMs: 0,
    visibilitySeconds: 30,
  });
  expect(again).toMatchObject({ body: '{"orderId":"a"}', receives: 1 });
});

test("Q-16: two operations at once move each message once, and a FIFO group comes back in its order", async () => {
  const { name } = await deadLetters(["1", "2", "3", "4"], {
    name: `${freshName()}.fifo`,
    signal: "worker.attempt",
  });
  // The last one dies when somebody asks for it again.
  const fifo = await queues().catalog.get(defaultScope, name);
  await queues().receiver.receive(fifo, { countMax: 1, waitMs: 0, visibilitySeconds: 30 });
  const replay = () => operate("replay", { filter: { queue: name } });
  const ended = await Promise.all([replay(), replay()]);
  expect(ended.reduce((sum, { done }) => sum + done, 0)).toBe(4);
  const source = await queues().catalog.get(defaultScope, name);
  const messages = await queues().receiver.receive(source, {
    countMax: 10,
    waitMs: 0,
    visibilitySeconds: 30,
  });
  expect(messages.map((held) => JSON.parse(held.body).orderId)).toEqual(["1", "2", "3", "4"]);
});

test("Q-19: a dead letter past the retention of its queue is removed, and counted by a signal", async () => {
  const { name } = await deadLetters(["a"], { policy: { retention: "60s" } });
  await world.advance(61_000);
  await counted("queue.expired", 1, () => applyRetention(world.platform.context));
  expect(await queues().deadLetters.groups(defaultScope, { queue: name })).toEqual([]);
});

test("Q-09: diagnose names each sign of poison", async () => {
  const name = freshName();
  const of = queue(name, { message, deadLetter: { ...owner, after: 3 } });
  await (await run(of, () => undefined)).stop();
  const source = await queues().catalog.get(defaultScope, name);
  const { sender, receiver, receipts } = queues();
  const send = (body: string) =>
    sender.send(source, { messageId: crypto.randomUUID(), body }, "000000000000");
  const receive = async () =>
    (await receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 1 }))[0]!;
  for (const body of ["{", "b", "c"]) await send(body);
  const before = await queues().inspector.observe(source);
  expect((await queues().inspector.diagnose(source, before)).signs).toEqual([]);

  const held = [await receive(), await receive()];
  expect(await receipts.delete(source, encodeReceipt(held[1]!))).toBe("ok");
  await world.advance(2000);
  const rising = await queues().inspector.diagnose(source, before);
  expect(rising.signs.map((sign) => sign.code)).toContain("AGE_RISING");

  await receiver.receive(source, { countMax: 10, waitMs: 0, visibilitySeconds: 1 });
  await world.advance(2000);
  expect((await queues().inspector.diagnose(source)).signs.map((sign) => sign.code)).toEqual([
    "REDELIVERED",
    "NEAR_MAXIMUM",
  ]);

  let running: RunningApp | undefined;
  await counted("queue.dead", 2, async () => void (running = await run(of, () => undefined)));
  await running!.stop();
  expect((await queues().inspector.diagnose(source)).signs.map((sign) => sign.code)).toEqual(
    expect.arrayContaining(["DETERMINISTIC_FAILURE", "DEAD_LETTERS_GROWING"]),
  );
});

test("Q-16: quarantined messages of a FIFO group come back in their order; those of a deleted queue are gone with it", async () => {
  const { name } = await deadLetters(["1", "2"], {
    name: `${freshName()}.fifo`,
    policy: { after: 3 },
    outcomeOf: () => unknown({ code: "TIMEOUT" }),
    signal: "worker.attempt",
  });
  const filter = { queue: name };
  expect(await queues().deadLetters.groups(defaultScope, filter)).toMatchObject([
    { place: "quarantined", count: 2 },
  ]);
  const [first] = await queues().deadLetters.items(defaultScope, filter, { limit: 1 });
  await operate("replay", { filter: { messageIds: [first!.messageId] }, effectChecked: true });
  const source = await queues().catalog.get(defaultScope, name);
  const receive = () => queues().receiver.receive(source, { countMax: 10, waitMs: 0, visibilitySeconds: 30 });
  expect((await receive()).map((held) => held.body)).toEqual(['{"orderId":"1"}']);
  await queues().catalog.delete(source, "ada");
  expect(await queues().deadLetters.groups(defaultScope, filter)).toEqual([]);
});

/** A dead letter that came over the wire, with attributes of each type. */
async function deadWithAttributes(name: string, attributes: object) {
  const { catalog, sender, receiver, deadLetters: pile } = queues();
  await catalog.create(defaultScope, `${name}-dlq`, {});
  const { queue: source } = await catalog.create(defaultScope, name, {
    deadLetterName: `${name}-dlq`,
    receivesMax: 1,
  });
  const message = { messageId: crypto.randomUUID(), body: "wrong", attributes: JSON.stringify(attributes) };
  await sender.send(source, message, "000000000000");
  await receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 0 });
  await world.advance(1000);
  await receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 0 });
  const [letter] = await pile.items(defaultScope, { queue: name }, { limit: 1 });
  return { source, messageId: letter!.messageId };
}

const typed = {
  region: { DataType: "String", StringValue: "id" },
  weight: { DataType: "Number.kg", StringValue: "7.5" },
  seal: { DataType: "Binary", BinaryValue: "AP8=" },
};

test("Q-15: a dead letter put right goes out with its attributes of every type as the old one ends, in one commit", async () => {
  const { source, messageId } = await deadWithAttributes(freshName(), typed);
  const correction = { messageId, body: "right", ...act };
  const resent = await queues().resend(defaultScope, correction);
  expect(resent).toMatchObject({ status: "sent" });
  const [held] = await queues().receiver.receive(source, { countMax: 10, waitMs: 0, visibilitySeconds: 30 });
  expect(held).toMatchObject({ body: "right", receives: 1 });
  expect(JSON.parse(held!.attributes!)).toEqual(typed);
  expect(await queues().inspector.explain(messageId)).toMatchObject({
    state: "rejected",
    history: [{ action: "dlq.resend", actor: "ada", details: { messageId: held!.messageId } }],
  });
  expect(await queues().resend(defaultScope, correction)).toEqual({ status: "gone" });
});

test("Q-15: where the new message is refused or cannot be stored, the old one stays where it lies", async () => {
  const { source, messageId } = await deadWithAttributes(freshName(), typed);
  const refused = [
    [{ seal: { DataType: "Binary", BinaryValue: "no base64" } }, "TUNTAS_MESSAGE_ATTRIBUTE"],
    [{ weight: { DataType: "Weight", StringValue: "7" } }, "TUNTAS_MESSAGE_ATTRIBUTE"],
  ] as const;
  for (const [attributes, code] of refused)
    await expect(
      queues().resend(defaultScope, { messageId, body: "right", attributes, ...act }),
    ).rejects.toMatchObject({ code });
  // The database refuses what it is to keep last, the record: so nothing of it took place.
  await expect(
    queues().resend(defaultScope, { messageId, body: "right", actor: "ada", reason: "\0" }),
  ).rejects.toThrow();
  expect(await queues().catalog.count(source)).toMatchObject({ ready: 0 });
  expect(await queues().inspector.explain(messageId)).toMatchObject({ state: "dead" });
});

test("Q-15: two who send the same dead letter anew at once send it once, in a FIFO queue too", async () => {
  const { name } = await deadLetters(["1"], { name: `${freshName()}.fifo`, signal: "worker.attempt" });
  const source = await queues().catalog.get(defaultScope, name);
  await queues().receiver.receive(source, { countMax: 1, waitMs: 0, visibilitySeconds: 30 });
  const [letter] = await queues().deadLetters.items(defaultScope, { queue: name }, { limit: 1 });
  const resend = () =>
    queues().resend(defaultScope, { messageId: letter!.messageId, body: '{"orderId":"2"}', ...act });
  const statuses = (await Promise.all([resend(), resend()])).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(["gone", "sent"]);
  const held = await queues().receiver.receive(source, { countMax: 10, waitMs: 0, visibilitySeconds: 30 });
  expect(held.map(({ body, groupId }) => [body, groupId])).toEqual([['{"orderId":"2"}', "g"]]);
});
