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
const auditRows = (action: string) =>
  world.platform.database.run(statement(`select * from tuntas.audit where action = '${action}' order by id`));

test("Q-15: dead letters are grouped by cause, with count, times, sample, receives, owner and runbook", async () => {
  const { name } = await deadLetters(["a", "b", "c"], {
    outcomeOf: (id) =>
      id === "c"
        ? poison({ code: "OTHER" })
        : poison({ code: "BAD_ORDER", message: `order ${id.length} is bad` }),
  });
  const groups = await queues().triage.groups(defaultScope, { queue: name });
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
    await queues().triage.items(defaultScope, { queue: name, code: "OTHER" }, { limit: 10 }),
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
  expect(await queues().triage.groups(defaultScope, { queue: name })).toMatchObject([
    { owner: "none", runbook: null, code: "NOT_DELETED", count: 1 },
  ]);
});

test("Q-16, Q-17, Q-20, L-06: poison reaches the dead-letter queue, the worker survives, a replay empties the selection once", async () => {
  const { of, name } = await deadLetters(["a", "b", "c"], {
    outcomeOf: (id) => poison({ code: id === "c" ? "OTHER" : "BAD_ORDER" }),
  });
  const plan = await queues().triage.replay(defaultScope, {
    ...act,
    filter: { queue: name, code: "BAD_ORDER" },
    dryRun: true,
  });
  expect(plan).toMatchObject({ status: "planned", selected: 2, moved: 0, auditId: null });
  const [before] = await queues().triage.items(defaultScope, { queue: name }, { limit: 1 });

  const handled: string[] = [];
  await using running = await run(of, (id) => void handled.push(id));
  await counted("worker.attempt", 2, async () => {
    const report = await queues().triage.replay(defaultScope, {
      ...act,
      filter: { queue: name, code: "BAD_ORDER" },
    });
    expect(report).toMatchObject({ status: "completed", selected: 2, moved: 2, skipped: 0 });
  });
  expect(handled.toSorted()).toEqual(["a", "b"]);
  expect(await queues().triage.groups(defaultScope, { queue: name })).toMatchObject([
    { code: "OTHER", count: 1 },
  ]);

  // The first delivery of `a` was processed now; the same body once more has no second effect.
  await counted("worker.attempt", 1, () => of.send({ orderId: "a" }));
  expect(handled).toHaveLength(2);

  const operation = (await auditRows("dlq.replay")).at(-1)!;
  expect(operation).toMatchObject({ actor: "ada", reason: "the fix is deployed", subject: `queue ${name}` });
  expect(JSON.parse(operation.details)).toMatchObject({
    status: "completed",
    moved: 2,
    filter: { code: "BAD_ORDER" },
  });
  const slice = (await auditRows("dlq.replay.slice")).at(-1)!;
  expect(JSON.parse(slice.details).messageIds).toContain(before!.messageId);
  await running.stop();
});

test("Q-16: a replay can go to another queue, at a rate, and be aborted between two slices", async () => {
  const { name } = await deadLetters(["a", "b", "c", "d", "e", "f"]);
  const { queue: other } = await queues().catalog.create(defaultScope, `${name}-fixed`, {});
  const abort = new AbortController();
  const first = counted("queue.replayed", 1, async () => undefined).then(() => abort.abort());
  const report = await queues().triage.replay(defaultScope, {
    ...act,
    filter: { queue: name },
    destination: other,
    perSecond: 5,
    signal: abort.signal,
  });
  await first;
  expect(report.status).toBe("aborted");
  expect(await queues().catalog.count(other)).toMatchObject({ ready: report.moved });
  const startedAt = performance.now();
  const rest = await queues().triage.replay(defaultScope, {
    ...act,
    filter: { queue: name },
    destination: other,
    perSecond: 10,
  });
  expect(rest.moved).toBe(6 - report.moved);
  expect(performance.now() - startedAt).toBeGreaterThan(((rest.moved - 2) / 10) * 1000);
});

test("Q-18: a replay that a rule of the queue forbids is refused with the rule's name, and changes nothing", async () => {
  const { name } = await deadLetters(["a", "b"], {
    policy: { replayForbidden: { CASE_CLOSED: "closed case" } },
    outcomeOf: (id) => poison({ code: id === "a" ? "CASE_CLOSED" : "BAD_ORDER" }),
  });
  const replay = (more: object) =>
    queues().triage.replay(defaultScope, { ...act, filter: { queue: name }, ...more });
  await expect(replay({})).rejects.toMatchObject({
    code: "TUNTAS_REPLAY_FORBIDDEN",
    message: expect.stringContaining("closed case"),
  });
  expect(await replay({ dryRun: true })).toMatchObject({
    selected: 1,
    forbidden: [{ queue: name, code: "CASE_CLOSED", rule: "closed case", count: 1 }],
  });
  expect(
    (await queues().triage.groups(defaultScope, { queue: name }))
      .map((group) => group.replayForbidden)
      .toSorted(),
  ).toEqual(["closed case", null]);
  expect(await replay({ skipForbidden: true })).toMatchObject({ moved: 1 });
  expect(
    await queues().triage.reject(defaultScope, { ...act, filter: { queue: name }, code: "TOO_LATE" }),
  ).toMatchObject({ moved: 1 });
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
  expect(await queues().triage.groups(defaultScope, filter)).toMatchObject([
    { place: "quarantined", outcome: "unknown", count: 1 },
  ]);
  await expect(queues().triage.replay(defaultScope, { ...act, filter })).rejects.toMatchObject({
    code: "TUNTAS_REPLAY_UNCONFIRMED",
  });
  expect(await queues().triage.replay(defaultScope, { ...act, filter, effectChecked: true })).toMatchObject({
    moved: 1,
  });
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
  const replay = () => queues().triage.replay(defaultScope, { ...act, filter: { queue: name } });
  const reports = await Promise.all([replay(), replay()]);
  expect(reports.reduce((sum, report) => sum + report.moved, 0)).toBe(4);
  const source = await queues().catalog.get(defaultScope, name);
  const messages = await queues().receiver.receive(source, {
    countMax: 10,
    waitMs: 0,
    visibilitySeconds: 30,
  });
  expect(messages.map((held) => JSON.parse(held.body).orderId)).toEqual(["1", "2", "3", "4"]);
});

test("Q-20: an operation without actor or reason is refused", async () => {
  await expect(
    queues().triage.reject(defaultScope, { actor: "ada", reason: " ", filter: {} }),
  ).rejects.toMatchObject({
    code: "TUNTAS_TRIAGE_OPTIONS",
  });
});

test("Q-19: a dead letter past the retention of its queue is removed, and counted by a signal", async () => {
  const { name } = await deadLetters(["a"], { policy: { retention: "60s" } });
  await world.advance(61_000);
  await counted("queue.expired", 1, () => applyRetention(world.platform.context));
  expect(await queues().triage.groups(defaultScope, { queue: name })).toEqual([]);
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
  expect(await queues().triage.groups(defaultScope, filter)).toMatchObject([
    { place: "quarantined", count: 2 },
  ]);
  const [first] = await queues().triage.items(defaultScope, filter, { limit: 1 });
  await queues().triage.replay(defaultScope, {
    ...act,
    filter: { messageIds: [first!.messageId] },
    effectChecked: true,
  });
  const source = await queues().catalog.get(defaultScope, name);
  const receive = () => queues().receiver.receive(source, { countMax: 10, waitMs: 0, visibilitySeconds: 30 });
  expect((await receive()).map((held) => held.body)).toEqual(['{"orderId":"1"}']);
  await queues().catalog.delete(source, "ada");
  expect(await queues().triage.groups(defaultScope, filter)).toEqual([]);
});
