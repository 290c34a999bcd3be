import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { app, start } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope, type QueueRecord, type QueueSettings } from "../contract.ts";
import { encodeReceipt } from "../receipt.ts";
import { ask, declare, freshName, work } from "../worker/worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await ask(kit.platform, "create table tuntas.orders (id text primary key)");
});
afterAll(() => kit[Symbol.asyncDispose]());

const create = async (settings: QueueSettings = {}, suffix = ""): Promise<QueueRecord> =>
  (await kit.platform.queues.catalog.create(defaultScope, freshName(suffix), settings)).queue;
const receive = (record: QueueRecord, waitMs = 0, signal?: AbortSignal) =>
  kit.platform.queues.receiver.receive(record, { countMax: 10, waitMs, visibilitySeconds: null, signal });
const send = (record: QueueRecord, body: string, more: object = {}) =>
  kit.platform.queues.sender.send(record, { messageId: randomUUID(), body, ...more }, "test");
const bodies = (messages: readonly { body: string }[]) => messages.map(({ body }) => body);

test.each(["", ".fifo"])(
  "a send in the caller's transaction appears with its commit, and not at all with a rollback (%s)",
  async (suffix) => {
    const of = declare({ name: freshName(suffix) });
    await using running = await start(app({ of }), { platform: kit.platform, workers: false });
    const record = await kit.platform.queues.catalog.get(defaultScope, of.name);
    const tx = await kit.platform.database.dedicatedClient();
    const more = { tx, ...(suffix && { groupId: "g" }) };
    await tx.query("begin");
    await of.send({ id: "undone" }, { ...more, deduplicationId: "1" });
    await tx.query("rollback");
    await tx.query("begin");
    await tx.query(`insert into ${kit.schema}.orders values ($1)`, [`o${suffix}`]);
    await of.send({ id: "kept" }, { ...more, deduplicationId: "1" });
    expect(await receive(record)).toEqual([]);
    const waiting = receive(record, 20_000);
    await tx.query("commit");
    expect(bodies(await waiting)).toEqual(['{"id":"kept"}']);
    await tx.end();
    void running;
  },
);

test("select tuntas.send(…) sends, from psql as from a trigger, and wakes a worker", async () => {
  const seen: string[] = [];
  await using it = await work(kit.platform, { handle: ({ id }) => void seen.push(id) });
  await ask(
    kit.platform,
    `create function tuntas.announce_order() returns trigger language plpgsql as $$
     begin perform tuntas.send('${it.queue.name}', json_build_object('id', new.id)::text); return new; end $$`,
  );
  await ask(
    kit.platform,
    "create trigger announce after insert on tuntas.orders for each row execute function tuntas.announce_order()",
  );
  await ask(kit.platform, "insert into tuntas.orders values ('t1'), ('t2')");
  await ask(kit.platform, 'select tuntas.send($1, \'{"id":"s1"}\')', [it.queue.name]);
  await it.attempts.until(3);
  expect(seen.toSorted()).toEqual(["s1", "t1", "t2"]);
  await ask(kit.platform, "drop trigger announce on tuntas.orders");
});

const refusals: [string, string, RegExp][] = [
  ["a queue that is not there", "select tuntas.send('nowhere', 'x')", /nowhere does not exist/],
  ["an empty body", "select tuntas.send($1, '')", /is empty/],
  ["a control character", "select tuntas.send($1, E'a\\x01b')", /character that SQS refuses/],
  ["too many bytes", "select tuntas.send($1, repeat('x', 2000000))", /more than 1048576/],
  ["a delay out of range", "select tuntas.send($1, 'x', delay_seconds => 901)", /expected 0 to 900/],
  ["a character that no XML carries", "select tuntas.send($1, E'a\\uFFFFb')", /character that SQS refuses/],
  ["attributes that are no JSON", "select tuntas.send($1, 'x', 'a=b')", /invalid input syntax for type json/],
  ["attributes that are a list", "select tuntas.send($1, 'x', '[]')", /are array, expected an object/],
];

test.each(refusals)("tuntas.send refuses %s and says so", async (_, text, message) => {
  const record = await create();
  await expect(ask(kit.platform, text, text.includes("$1") ? [record.name] : [])).rejects.toThrow(message);
});

test("a long poll wakes within milliseconds of a send, in this process and in another", async () => {
  const other = await kit.another();
  const record = await create();
  await receive(record); // both have looked before
  for (const platform of [kit.platform, other]) {
    const tookMs: number[] = [];
    for (let n = 0; n < 10; n++) {
      const waiting = platform.queues.receiver.receive(record, {
        countMax: 1,
        waitMs: 20_000,
        visibilitySeconds: null,
      });
      await new Promise(setImmediate);
      const sentAt = performance.now();
      await send(record, `${n}`);
      expect(bodies(await waiting)).toEqual([`${n}`]);
      tookMs.push(performance.now() - sentAt);
    }
    const median = tookMs.toSorted((a, b) => a - b)[5]!;
    console.log(`send to receive, median of 10: ${median.toFixed(1)} ms`);
    expect(median).toBeLessThan(250);
  }
});

test("a delay and a visibility timeout end at their moment, not at the next look", async () => {
  const record = await create();
  const waiting = receive(record, 20_000);
  const sentAt = performance.now();
  await send(record, "later", { delaySeconds: 1 });
  expect(bodies(await waiting)).toEqual(["later"]);
  const tookMs = performance.now() - sentAt;
  expect(tookMs).toBeGreaterThanOrEqual(995);
  expect(tookMs).toBeLessThan(1900);
});

test("where every notification is lost, a long poll and a worker still find the message by looking", async () => {
  const deaf = await kit.another();
  const record = await create();
  const waiting = deaf.queues.receiver.receive(record, {
    countMax: 1,
    waitMs: 20_000,
    visibilitySeconds: null,
  });
  // Written by hand: nobody is told.
  await ask(
    kit.platform,
    "select tuntas.append($1, gen_random_uuid(), 'quiet', null, 't', null, 0, null, null)",
    [record.id],
  );
  expect(bodies(await waiting)).toEqual(["quiet"]);
  await using it = await work(deaf, { handle: () => undefined });
  await ask(
    kit.platform,
    `select tuntas.append($1, gen_random_uuid(), '{"id":"x"}', null, 't', null, 0, null, null)`,
    [it.record.id],
  );
  await it.attempts.until(1);
});

test("a tenant with a backlog of 1,000 does not delay another's message", async () => {
  const record = await create();
  await Promise.all(Array.from({ length: 1000 }, (_, n) => send(record, `${n}`, { groupId: "noisy" })));
  await send(record, "please", { groupId: "quiet" });
  expect(bodies(await receive(record))).toContain("please");
});

test("an aborted long poll ends at once and takes nothing with it", async () => {
  const record = await create();
  const abort = new AbortController();
  const waiting = receive(record, 20_000, abort.signal);
  abort.abort();
  expect(await waiting).toEqual([]);
  await send(record, "stays");
  expect(bodies(await receive(record))).toEqual(["stays"]);
});

test("Q-05 ten thousand sends without a worker are all accepted, and later all received", async () => {
  const record = await create();
  await Promise.all(Array.from({ length: 10_000 }, (_, n) => send(record, `${n}`)));
  expect(await kit.platform.queues.catalog.count(record)).toMatchObject({ ready: 10_000 });
  const seen = new Set<string>();
  while (seen.size < 10_000) {
    const all = await kit.platform.queues.receiver.receive(record, {
      countMax: 500,
      waitMs: 0,
      visibilitySeconds: 600,
    });
    for (const { body } of all) seen.add(body);
    if (all.length === 0) break;
  }
  expect(seen.size).toBe(10_000);
});

const fifo = async (settings: QueueSettings = {}): Promise<QueueRecord> => create(settings, ".fifo");
const inGroup = (groupId: string, deduplicationId: string = randomUUID()) => ({ groupId, deduplicationId });

test.each([1, 10])(
  "FIFO: groups whose first messages die or expire hide no other from a receive of %i",
  async (countMax) => {
    const dead = await fifo();
    const record = await fifo({ deadLetterName: dead.name, receivesMax: 1, visibilitySeconds: 0 });
    for (let n = 0; n < 12; n++) await send(record, `dies ${n}`, inGroup(`g${n}`));
    for (let n = 0; n < 12; n += countMax)
      await kit.platform.queues.receiver.receive(record, { countMax, waitMs: 0, visibilitySeconds: 0 });
    await send(record, "lives", inGroup("last"));
    const request = { countMax, waitMs: 0, visibilitySeconds: 30 };
    expect(bodies(await kit.platform.queues.receiver.receive(record, request))).toContain("lives");
  },
);

describe("a receive is repeated with its attempt id", () => {
  const attempt = async (record: QueueRecord, attemptId: string) =>
    kit.platform.queues.receiver.receive(record, {
      countMax: 2,
      waitMs: 0,
      visibilitySeconds: null,
      attemptId,
    });
  // Three looks that outlast the timeout together, and not the attempt's five minutes; what a busy machine adds is far less.
  const visibilitySeconds = 150;
  test("while its messages are as they were: the same messages, the same receipts, the timeout anew", async () => {
    const record = await fifo({ visibilitySeconds });
    for (const body of ["1", "2", "3"]) await send(record, body, inGroup("g"));
    const first = await attempt(record, "a");
    expect(bodies(first)).toEqual(["1", "2"]);
    for (let n = 0; n < 3; n++) {
      await kit.advance(70_000);
      expect((await attempt(record, "a")).map(encodeReceipt)).toEqual(first.map(encodeReceipt));
    }
    expect(await attempt(record, "b")).toEqual([]);
  });

  test.each(["deleted", "hidden for longer"])("not while one of them was %s", async (touched) => {
    const record = await fifo({ visibilitySeconds });
    for (const body of ["1", "2", "3"]) await send(record, body, inGroup(`g${body}`));
    const [one] = await attempt(record, "a");
    const handle = encodeReceipt(one!);
    if (touched === "deleted") await kit.platform.queues.receipts.delete(record, handle);
    else await kit.platform.queues.receipts.change(record, handle, 300);
    await expect(attempt(record, "a")).rejects.toMatchObject({ code: "TUNTAS_RECEIVE_ATTEMPT" });
    expect(bodies(await attempt(record, "b"))).toEqual(["3"]);
    await kit.advance(visibilitySeconds * 1000);
    expect(bodies(await attempt(record, "a"))).toContain("2");
  });

  test("with what it would have got, where nobody saw the answer", async () => {
    const record = await fifo({ visibilitySeconds });
    for (const body of ["1", "2"]) await send(record, body, inGroup("g"));
    await kit.platform.queues.receiver.giveBack(record, await attempt(record, "a"));
    expect(bodies(await attempt(record, "a"))).toEqual(["1", "2"]);
  });
});

test("FIFO: what is moved out of a dead-letter queue is nobody's duplicate there", async () => {
  const dead = await fifo();
  const record = await fifo({ deadLetterName: dead.name, receivesMax: 1 });
  await send(record, "sent", inGroup("g", "same"));
  await send(dead, "put there", inGroup("g", "same"));
  await kit.platform.queues.moves.start(dead, { destination: record });
  await kit.platform.context.due.sweep();
  await expect.poll(async () => kit.platform.queues.catalog.count(record)).toMatchObject({ ready: 2 });
  expect(bodies(await receive(record))).toEqual(["sent", "put there"]);
});

test("what a move task cannot bring home stays as it lies, with its receives", async () => {
  const dead = await create();
  const record = await create({ deadLetterName: dead.name, receivesMax: 2, visibilitySeconds: 0 });
  await send(record, "orphan");
  for (let n = 0; n < 3; n++) await receive(record);
  await kit.platform.queues.catalog.delete(record);
  await kit.platform.queues.moves.start(dead, {});
  await kit.platform.context.due.sweep();
  const failed = { status: "FAILED", failureReason: "AWS.SimpleQueueService.NonExistentQueue", moved: 0 };
  await expect.poll(async () => kit.platform.queues.moves.list(dead, 1)).toMatchObject([failed]);
  expect(await receive(dead)).toMatchObject([{ body: "orphan", receives: 3 }]);
});

test("a move task says of what was sent to a dead-letter queue that it came from nowhere", async () => {
  const dead = await create();
  await create({ deadLetterName: dead.name, receivesMax: 1 });
  await send(dead, "put there");
  await kit.platform.queues.moves.start(dead, {});
  await kit.platform.context.due.sweep();
  const failed = { status: "FAILED", failureReason: "CouldNotDetermineMessageSource", moved: 0 };
  await expect.poll(async () => kit.platform.queues.moves.list(dead, 1)).toMatchObject([failed]);
  expect(bodies(await receive(dead))).toEqual(["put there"]);
});

test.each(["", ".fifo"])("a send that the database refuses fails alone (%s)", async (suffix) => {
  const record = await create({}, suffix);
  const long = Array.from({ length: 400 }, () => randomUUID()).join(""); // more than an index entry can hold
  const sends = ["a", long, "b"].map((groupId) => send(record, groupId.slice(0, 9), inGroup(groupId)));
  const settled = await Promise.allSettled(sends);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(bodies(await receive(record)).toSorted()).toEqual(["a", "b"]);
});

test.each([
  ["a group of 129 characters", { groupId: "x".repeat(129) }],
  ["a group with a space", { groupId: "a b" }],
  ["an empty group", { groupId: "" }],
  ["a deduplication id of 129 characters", { groupId: "g", deduplicationId: "x".repeat(129) }],
])("a declared queue refuses %s, as SQS does", async (_, more) => {
  const of = declare({ name: freshName(".fifo") });
  await using running = await start(app({ of }), { platform: kit.platform, workers: false });
  const refused = { code: "TUNTAS_MESSAGE_GROUP", message: expect.stringContaining("1 to 128") };
  await expect(of.send({ id: "x" }, { deduplicationId: "d", ...more })).rejects.toMatchObject(refused);
  void running;
});
