import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, poison, queue, start, worker } from "../index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { defaultScope, type QueueRecord } from "./contract.ts";

let world: TestPlatform;
beforeAll(async () => void (world = await testPlatform()));
afterAll(() => world[Symbol.asyncDispose]());

async function make(name: string, settings = {}): Promise<QueueRecord> {
  return (await world.platform.queues.catalog.create(defaultScope, name, settings)).queue;
}

async function send(to: QueueRecord, more = {}): Promise<string> {
  const messageId = crypto.randomUUID();
  await world.platform.queues.sender.send(to, { messageId, body: '{"n":1}', ...more }, "000000000000");
  return messageId;
}

const receive = (from: QueueRecord, countMax = 1) =>
  world.platform.queues.receiver.receive(from, { countMax, waitMs: 0, visibilitySeconds: 30 });

const explain = async (id: string) => (await world.platform.queues.inspector.explain(id))!;
const codes = async (id: string) => (await explain(id)).reasons.map((reason) => reason.code);

test("W-41: a message says that it is delayed, ready without a consumer, behind others, in flight, and gone", async () => {
  const work = await make("explain-1");
  const delayed = await send(work, { delaySeconds: 60 });
  expect(await codes(delayed)).toEqual(["DELAYED"]);
  const first = await send(work);
  const second = await send(work);
  expect(await codes(first)).toEqual(["NO_CONSUMER"]);
  expect(await codes(second)).toEqual(["NO_CONSUMER", "BEHIND"]);
  await receive(work);
  expect((await explain(first)).reasons).toMatchObject([
    { code: "IN_FLIGHT", text: expect.stringContaining("a receipt until") },
  ]);
  expect(await world.platform.queues.inspector.explain(crypto.randomUUID())).toBeUndefined();
});

test("W-41, Q-21: a paused queue gives nothing, is named as the reason, and both acts are on the record", async () => {
  const work = await make("explain-2");
  const id = await send(work);
  const { catalog } = world.platform.queues;
  await catalog.pause(work, "ada", "downstream is down");
  expect((await explain(id)).reasons[0]).toMatchObject({
    code: "PAUSED",
    text: expect.stringContaining("by ada"),
  });
  expect(await receive(await catalog.get(defaultScope, "explain-2"))).toEqual([]);
  await catalog.resume(work, "bob", "a test");
  expect(await receive(await catalog.get(defaultScope, "explain-2"))).toHaveLength(1);
  const rows = (
    await world.platform.database.transaction((tx) =>
      tx.client.query(`select actor, action from ${world.schema}.audit order by id`),
    )
  ).rows;
  expect(rows).toEqual([
    { actor: "ada", action: "queue.pause" },
    { actor: "bob", action: "queue.resume" },
  ]);
});

test("W-41: a FIFO message names the message that blocks its group", async () => {
  const work = await make("explain-3.fifo", { contentDeduplication: false });
  const first = await send(work, { groupId: "g", deduplicationId: "1" });
  const second = await send(work, { groupId: "g", deduplicationId: "2" });
  await receive(work);
  expect((await explain(second)).reasons[0]).toMatchObject({
    code: "GROUP_BLOCKED",
    text: expect.stringContaining(first),
  });
});

test("W-41: a message held by a worker names the process, one behind a cap names the cap, a dead one its cause", async () => {
  const of = queue("explain-4", {
    message: z.object({ n: z.number() }),
    deadLetter: { after: 1, owner: "team", runbook: "r.md", retention: "1d" },
  });
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const work = worker(of, {
    idempotencyKey: "none",
    timeout: "30s",
    concurrency: 1,
    globalConcurrency: 1,
    async handle() {
      begin();
      await finished;
      return poison({ code: "BAD" });
    },
  });
  await using running = await start(app({ work }), { platform: world.platform });
  const first = await of.send({ n: 1 });
  await begun;
  const second = await of.send({ n: 2 });
  expect((await explain(first.messageId)).reasons[0]).toMatchObject({
    code: "IN_FLIGHT",
    text: expect.stringContaining(`pid ${process.pid}`),
  });
  expect(await codes(second.messageId)).toEqual(["CAP_REACHED"]);
  finish();
  await running.stop();
  await receive(await world.platform.queues.catalog.get(defaultScope, "explain-4"), 10);
  expect((await explain(first.messageId)).reasons[0]).toMatchObject({
    code: "DEAD",
    text: expect.stringContaining("BAD"),
  });
});
