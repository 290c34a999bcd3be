// What a worker does in which order, and what holds between its steps.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, conflict, poison, queue, rejected, retry, start, unknown, worker } from "../../index.ts";
import { defaultScope, type QueueRecord } from "../contract.ts";
import { add } from "../../outbox/index.ts";
import { readSnapshot } from "../../measure/gauges.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, freshName, gate, watch, work } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

/** What comes over the wire: any body. */
const wire = (record: QueueRecord, body: string, delaySeconds?: number) =>
  kit.platform.queues.sender.send(record, { messageId: randomUUID(), body, delaySeconds }, "test");

const deadLetter = { after: 3, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" } as const;

test("W-02 W-20 received, validated, asked for its key and lock, handled, stored, announced, acknowledged: in this order", async () => {
  const { platform } = kit;
  const steps: string[] = [];
  const step = (name: string) => void steps.push(name);
  const at = freshName();
  const told = gate<string>();
  platform.targets.bind(
    { kind: "function", name: at },
    { deliver: async ({ payload }) => (step("follow-up"), told.open(payload)) },
  );
  await ask(platform, `create table tuntas.step_result (id text primary key)`);
  const message = z.object({ id: z.string() }).refine(() => (step("validate"), true));
  const orders = queue(at, { message, deadLetter });
  const orderWorker = worker(orders, {
    idempotencyKey: ({ id }) => (step("key"), id),
    lock: ({ id }) => (step("lock"), id),
    timeout: "20s",
    async handle({ id }, { tx }) {
      step("handle");
      await tx.query(`insert into ${kit.schema}.step_result values ($1)`, [id]);
      await add(tx, { target: { kind: "function", name: at }, key: id, payload: id });
      step("handled");
    },
  });
  using received = watch("queue.received");
  using attempts = watch("worker.attempt", ({ queue: name }) => name === at);
  await using running = await start(app({ orders, orderWorker }), { platform });
  const record = await platform.queues.catalog.get(defaultScope, at);
  // By the wire: a sender would validate too.
  await wire(record, '{"id":"first"}');
  await attempts.until(1);
  expect(await told.promise).toBe("first");
  expect(received.seen.some((signal) => signal.queueId === record.id)).toBe(true);
  expect(steps).toEqual(["validate", "key", "lock", "handle", "handled", "follow-up"]);
  expect(await ask(platform, "select id from tuntas.step_result")).toEqual([{ id: "first" }]);
  void running;
});

test("W-20 what is undone is not announced: the attempt after it announces once", async () => {
  const { platform } = kit;
  const told: string[] = [];
  const name = freshName();
  const second = gate();
  platform.targets.bind(
    { kind: "function", name },
    { deliver: async ({ payload }) => (told.push(payload), second.open()) },
  );
  await using it = await work(platform, {
    backoff: { base: "1s", max: "1s" },
    async handle({ id }, { tx, attempt }) {
      await add(tx, { target: { kind: "function", name }, key: id, payload: `attempt ${attempt}` });
      if (attempt === 1) throw new Error("undone");
    },
  });
  await it.queue.send({ id: "o" });
  await it.attempts.until(1);
  expect(await ask(platform, "select from tuntas.outbox where target_name = $1", [name])).toEqual([]);
  await kit.advance(2000);
  await second.promise;
  expect(told).toEqual(["attempt 2"]);
});

test("W-07 the quarantine row and the end of the message are one: where the second fails there is no first", async () => {
  const { platform } = kit;
  const { schema } = kit;
  await using it = await work(
    platform,
    { handle: () => poison({ code: "BAD" }) },
    { poison: "quarantine", after: 10 },
  );
  await ask(
    platform,
    `create function tuntas.refuse_once() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$`,
  );
  // Whatever removes the message fails, after the row of the quarantine was written in the same statement.
  await ask(
    platform,
    `create trigger refuse_once after insert on tuntas.quarantine for each row when (new.queue_id = ${it.record.id}) execute function ${schema}.refuse_once()`,
  );
  await it.queue.send({ id: "p" });
  await it.attempts.until(1);
  const quarantined = () =>
    ask(platform, "select code from tuntas.quarantine where queue_id = $1", [it.record.id]);
  expect(await quarantined()).toEqual([]);
  expect(await platform.queues.catalog.count(it.record)).not.toEqual({ ready: 0, inFlight: 0, delayed: 0 });
  await ask(platform, `drop trigger refuse_once on tuntas.quarantine`);
  await expect.poll(async () => (await kit.advance(60_000), quarantined())).toEqual([{ code: "BAD" }]);
  expect(await platform.queues.catalog.count(it.record)).toEqual({ ready: 0, inFlight: 0, delayed: 0 });
});

const transient = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
const serialization = Object.assign(new Error("could not serialize"), { code: "40001" });
const classes: readonly [string, (id: string) => unknown, string, string][] = [
  ["a transient fault", () => Promise.reject(transient), "retry", "delayed"],
  [
    "a reference that is not there yet",
    () => retry({ code: "NO_CUSTOMER", after: "30s" }),
    "retry",
    "delayed",
  ],
  ["a version that another changed", () => conflict({ code: "VERSION" }), "conflict", "delayed"],
  ["a serialization failure", () => Promise.reject(serialization), "conflict", "delayed"],
  ["an illegal transition", () => rejected({ code: "ILLEGAL_TRANSITION" }), "rejected", "rejected"],
  ["a message that can never be handled", () => poison({ code: "BAD" }), "poison", "quarantined"],
  ["an effect that nobody knows of", () => unknown({ code: "TIMEOUT" }), "unknown", "quarantined"],
  ["something thrown that is no error", () => Promise.reject(undefined), "retry", "delayed"],
];

test.each(classes)("W-10 Q-11 %s leads to its outcome", async (_, handle, outcome, place) => {
  const { platform } = kit;
  await using it = await work(
    platform,
    { handle: ({ id }) => handle(id) },
    { poison: "quarantine", after: 9 },
  );
  await it.queue.send({ id: "o" });
  await it.attempts.until(1);
  expect(it.attempts.seen[0]).toMatchObject({ outcome });
  const tables = ["delayed", "rejected", "quarantined"] as const;
  const names = { delayed: "delayed", rejected: "rejection", quarantined: "quarantine" };
  const rows = async (table: (typeof tables)[number]) =>
    (await ask(platform, `select from tuntas.${names[table]} where queue_id = $1`, [it.record.id])).length;
  const where = async () => {
    const counts = await Promise.all(tables.map(rows));
    return tables.filter((_table, index) => counts[index] === 1);
  };
  await expect.poll(where).toEqual([place]);
});

test.each([
  ["corrupt JSON", "{", "TUNTAS_MESSAGE_JSON"],
  ["another schema", '{"id":7}', "TUNTAS_MESSAGE_INVALID"],
  ["a version that this worker does not take", '{"id":"o","version":9}', "TUNTAS_VERSION_UNSUPPORTED"],
])("W-10 Q-11 %s is put aside at once, counted by its type", async (_, body, code) => {
  const { platform } = kit;
  using invalid = watch("worker.poison_message");
  await using it = await work(
    platform,
    { handle: () => undefined },
    { poison: "quarantine", versions: ["null", 1] },
  );
  await wire(it.record, body);
  await invalid.until(1);
  expect(invalid.seen).toMatchObject([{ code }]);
  expect(
    await ask(platform, "select code from tuntas.quarantine where queue_id = $1", [it.record.id]),
  ).toEqual([{ code }]);
});

test("Q-04 visible, in flight, delayed, age and dead letters: the figures are what SQL counts", async () => {
  const { platform } = kit;
  const held = gate();
  await using it = await work(platform, { concurrency: 1, handle: () => held.promise });
  await it.queue.send({ id: "held" });
  await expect.poll(async () => (await platform.queues.catalog.count(it.record)).inFlight).toBe(1);
  await wire(it.record, '{"id":"later"}', 600);
  for (const body of ["dead", "dead too"]) await wire(it.deadLetters, body);
  const { readings } = await readSnapshot(platform.database);
  const figure = (name: string, labels: Record<string, string>) =>
    readings.find(
      (reading) =>
        reading.name === name &&
        Object.entries(labels).every(([label, value]) => reading.labels[label] === value),
    )?.value;
  const [sql] = await ask(
    platform,
    `select (select count(*)::int from tuntas.delayed where queue_id = $1) as delayed,
       (select count(*)::int from tuntas.held where queue_id = $1) as in_flight,
       (select count(*)::int from tuntas.ready where queue_id = $2) as dead`,
    [it.record.id, it.deadLetters.id],
  );
  expect(sql).toEqual({ delayed: 1, in_flight: 1, dead: 2 });
  const queueName = it.queue.name;
  for (const state of ["delayed", "in_flight"] as const)
    expect(figure("tuntas_queue_depth", { queue: queueName, state }), state).toBe(sql[state]);
  expect(figure("tuntas_queue_dead_letters", { queue: queueName })).toBe(sql.dead);
  expect(figure("tuntas_queue_oldest_age_seconds", { queue: queueName })).toBeGreaterThanOrEqual(0);
  held.open();
});

test("Q-23 each version has a queue of its own, and reaches its own consumer", async () => {
  const { platform } = kit;
  const name = freshName();
  const got: string[] = [];
  const version = (n: number) => {
    const of = queue(`${name}-v${n}`, {
      message: z.object({ id: z.string(), version: z.literal(n) }),
      versions: [n],
      deadLetter,
    });
    const handle = ({ id }: { id: string }) => void got.push(`${id} by v${n}`);
    return { of, by: worker(of, { idempotencyKey: ({ id }) => id, timeout: "20s", handle }) };
  };
  const [first, second] = [version(1), version(2)];
  await using running = await start(app({ q1: first.of, q2: second.of, w1: first.by, w2: second.by }), {
    platform,
  });
  await Promise.all([first.of.send({ id: "a", version: 1 }), second.of.send({ id: "b", version: 2 })]);
  await expect.poll(() => got.toSorted()).toEqual(["a by v1", "b by v2"]);
  await expect(first.of.send({ id: "c", version: 2 } as never)).rejects.toMatchObject({
    code: "TUNTAS_MESSAGE_INVALID",
  });
  void running;
});

test("U-07 old and new workers side by side: the new takes both versions, and once the old are gone the new one is sent", async () => {
  const { platform } = kit;
  const name = freshName();
  const by = new Map<string, string>();
  const revision = (of: string, versions: readonly number[]) => {
    const orders = queue(name, {
      message: z.object({ id: z.string(), version: z.number() }),
      versions,
      deadLetter,
    });
    const handle = ({ id }: { id: string }) => void by.set(id, of);
    const orderWorker = worker(orders, {
      idempotencyKey: ({ id }) => id,
      timeout: "20s",
      concurrency: 1,
      handle,
    });
    return { orders, definition: app({ orders, orderWorker }) };
  };
  const next = await kit.another();
  const [old, young] = [revision("N", [1]), revision("N+1", [1, 2])];
  const running = [
    await start(old.definition, { platform }),
    await start(young.definition, { platform: next }),
  ];
  await Promise.all(Array.from({ length: 40 }, (_, n) => old.orders.send({ id: `o${n}`, version: 1 })));
  await expect.poll(() => by.size).toBe(40);
  await running[0]!.stop();
  await young.orders.send({ id: "new", version: 2 });
  await expect.poll(() => by.get("new")).toBe("N+1");
  await running[1]!.stop();
});

test("Q-24 U-06 a setting that is changed under load holds at once, the handler stays as it is, and nothing is lost", async () => {
  const { platform } = kit;
  let failing = true;
  await using it = await work(
    platform,
    {
      backoff: { base: "1s", max: "1s" },
      handle: ({ id }) => {
        if (failing && id === "bad") throw new Error("not today");
      },
    },
    { after: 9 },
  );
  using dead = watch("queue.dead");
  const load = Promise.all(Array.from({ length: 200 }, (_, n) => it.queue.send({ id: `o${n}` })));
  await it.queue.send({ id: "bad" });
  const { deadLetterName } = it.record;
  await platform.queues.catalog.update(it.record, { deadLetterName, receivesMax: 2 });
  await load;
  await expect.poll(async () => (await kit.advance(2000), dead.seen.length)).toBeGreaterThan(0);
  failing = false;
  await it.attempts.until(202);
  const doneOnes = it.attempts.seen.filter(({ outcome }) => outcome === "done");
  expect(doneOnes).toHaveLength(200);
  expect(it.attempts.seen.filter(({ outcome }) => outcome === "retry")).toHaveLength(2);
  expect(await platform.queues.catalog.count(it.deadLetters)).toMatchObject({ ready: 1 });
});
