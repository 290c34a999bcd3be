// One consumer in another's place, and what a person does while a record is parked or a partition waits: nothing is left out, and
// nothing is done twice.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, gate, watch } from "../queue/worker/worker.fixture.ts";
import { app, start } from "../index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { findStuck } from "./store/deaths.ts";
import { partitionOf } from "./state.ts";
import {
  declare,
  declareConsumer,
  effects,
  insertInto,
  makeTable,
  run,
  upTo,
  type Event,
  type TestStream,
} from "./stream.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await makeTable(kit);
});
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { by: "ada", reason: "the new form is right" };
const nothing = async () => undefined;
const consumerOf = async (of: TestStream, name: string) =>
  (await kit.platform.streams.find(of.name)).consumers.find((each) => each.name === name)!;
const lagOf = async (of: TestStream, name: string) => (await consumerOf(of, name)).lag;

test("who begins at the end takes another's place only once that one has read up to there, with what it has parked before", async () => {
  const of = declare({ partitions: 1 });
  const { streams } = kit.platform;
  const go = gate();
  let isMended = false;
  const old = {
    name: "old",
    retry: { attempts: 1 },
    async handle(record: Event, context: any) {
      if (record.value.n === 0) throw new Error("it does not fit");
      if (record.value.n === 3) await go.promise;
      await insertInto(kit, "old")(record, context);
    },
  };
  await using _old = await run(kit, of, old);
  for (const n of upTo(6)) await of.append({ n }, { key: "k" });
  await expect.poll(async () => (await consumerOf(of, "old")).parked).toBe(1);
  await using _next = await run(kit, of, {
    name: "next",
    from: "end",
    async handle(record, context) {
      if (record.value.n === 0 && !isMended) throw new Error("not yet");
      await insertInto(kit, "next")(record, context);
    },
  });
  await of.append({ n: 6 }, { key: "k" });
  await expect.poll(() => lagOf(of, "next")).toBe(0);
  const swap = () => streams.swap({ stream: of.name, from: "old", to: "next" }, ada, nothing);
  await expect(swap()).rejects.toMatchObject({
    code: "TUNTAS_STREAM_BEHIND",
    message: expect.stringContaining("nobody has read what is between"),
  });
  expect(await lagOf(of, "old")).toBeGreaterThan(0);
  go.open();
  await expect.poll(() => lagOf(of, "old")).toBe(0);
  await swap();
  expect(await streams.parked(of.name)).toMatchObject([{ consumer: "next", offset: 0 }]);
  isMended = true;
  await streams.replay({ stream: of.name, consumer: "next" }, ada);
  await expect.poll(() => streams.parked(of.name)).toEqual([]);
  const all = (await effects(kit, of)).map(({ n, who }) => `${n} ${who}`);
  expect(all.toSorted()).toEqual(
    [
      "0 next",
      ...upTo(7)
        .slice(1)
        .map((n) => `${n} old`),
      "6 next",
    ].toSorted(),
  );
  await expect(
    streams.swap({ stream: of.name, from: "next", to: "next" }, ada, nothing),
  ).rejects.toMatchObject({
    code: "TUNTAS_STREAM_MISSING",
  });
});

/** So many heartbeats of all processes from now on. */
async function beats(count: number): Promise<void> {
  const look = async () =>
    (await ask<{ at: string }>(kit.platform, "select min(heartbeat_at)::text as at from tuntas.process"))[0]!;
  for (let beat = 0; beat < count; beat++) {
    const { at } = await look();
    await expect.poll(async () => (await look()).at, { timeout: 30_000 }).not.toBe(at);
  }
}

test("whose place has been taken is served and declared by nobody from before, who says so once, until its name is forgotten", async () => {
  const of = declare({ partitions: 1 });
  const said: { code?: string; text: string }[] = [];
  const warn = (fields: any, text: string) => void said.push({ code: fields.code, text });
  const log = { debug: nothing, info: nothing, error: nothing, warn, child: () => log, flush: nothing };
  const platform = await kit.another({ log: log as never });
  const { streams } = kit.platform;
  const name = { stream: of.name, consumer: "old" };
  const before = declareConsumer(of, { name: "old", handle: insertInto(kit, "old") });
  const begin = () => start(app({ of, before }), { platform });
  const names = async () => (await streams.find(of.name)).consumers.map((each) => each.name);
  const first = await begin();
  await using _next = await run(kit, of, { name: "next", from: "end", handle: insertInto(kit, "next") });
  await streams.swap({ stream: of.name, from: "old", to: "next" }, ada, nothing);
  await expect.poll(() => said).toHaveLength(1);
  await beats(3);
  await first.stop();
  const again = await begin();
  await of.append({ n: 1 }, { key: "k" });
  await expect.poll(() => effects(kit, of)).toMatchObject([{ n: 1, who: "next" }]);
  await again.stop();
  expect(await names()).toEqual(["next"]);
  const told = {
    code: "TUNTAS_CONSUMER_REPLACED",
    text: expect.stringContaining("next has taken the place"),
  };
  expect(said).toEqual([told, told]);

  await streams.forget(name, ada);
  await (await begin()).stop();
  expect((await names()).toSorted()).toEqual(["next", "old"]);
  expect(said).toHaveLength(2);
  await platform.close();
});

test("who was put past records has not read them: a swap asks the other for them", async () => {
  const of = declare({ partitions: 1 });
  const { streams } = kit.platform;
  const go = gate();
  const held = { handle: () => go.promise };
  await using _both = await run(kit, of, { name: "old", ...held }, { name: "next", ...held });
  await Promise.all(upTo(3).map((n) => of.append({ n }, { key: "k" })));
  const next = { stream: of.name, consumer: "next" };
  await streams.rewind(next, { to: "end" }, ada);
  const swap = () => streams.swap({ stream: of.name, from: "old", to: "next" }, ada, nothing);
  await expect(swap()).rejects.toMatchObject({ code: "TUNTAS_STREAM_BEHIND" });
  // Put back, it reads them itself.
  await streams.rewind(next, { to: "start" }, ada);
  go.open();
  await expect.poll(() => lagOf(of, "next")).toBe(0);
  await swap();
});

test("where an older version's process has put a consumer it has not read what is before: neither a new one nor one that was moved", async () => {
  const of = declare({ partitions: 1 });
  const { streams } = kit.platform;
  const go = gate();
  const held = { handle: () => go.promise };
  await using _both = await run(kit, of, { name: "old", ...held }, { name: "next", ...held });
  await Promise.all(upTo(3).map((n) => of.append({ n }, { key: "k" })));
  const next = `k.name = 'next' and k.id = c.consumer_id and k.stream_id = (select id from tuntas.stream where name = $1)`;
  const swap = () => streams.swap({ stream: of.name, from: "old", to: "next" }, ada, nothing);
  // As the versions before `began` wrote them.
  await ask(
    kit.platform,
    `update tuntas.stream_checkpoint c set next_offset = 3, owner_id = null, fence = c.fence + 1, moved_at = tuntas.now()
     from tuntas.stream_consumer k where ${next}`,
    [of.name],
  );
  await expect(swap()).rejects.toThrow("nobody has read what is between");
  await ask(
    kit.platform,
    `delete from tuntas.stream_checkpoint c using tuntas.stream_consumer k where ${next}`,
    [of.name],
  );
  await ask(
    kit.platform,
    `insert into tuntas.stream_checkpoint (consumer_id, partition, stream_id, next_offset, reached, moved_at)
     select k.id, 0, k.stream_id, 3, 3, tuntas.now() from tuntas.stream_consumer k
     where k.name = 'next' and k.stream_id = (select id from tuntas.stream where name = $1)`,
    [of.name],
  );
  await expect(swap()).rejects.toThrow("nobody has read what is between");
  go.open();
});

test("a rewind to before a parked record reads it again in its order; a replay of it would be a second effect", async () => {
  const of = declare({ partitions: 1 });
  const { streams } = kit.platform;
  const name = { stream: of.name, consumer: "projector" };
  let isMended = false;
  const hold = gate();
  await using running = await run(kit, of, {
    retry: { attempts: 1 },
    async handle(record, context) {
      if (record.value.n === 1 && !isMended) throw new Error("it does not fit");
      if (isMended) await hold.promise;
      await insertInto(kit)(record, context);
    },
  });
  for (const n of upTo(3)) await of.append({ n }, { key: "k" });
  await running.handled(2);
  await expect.poll(() => streams.parked(of.name)).toHaveLength(1);
  isMended = true;
  await streams.replay(name, ada);
  await streams.rewind(name, { offset: 1, partition: 0 }, ada);
  expect(await streams.parked(of.name)).toEqual([]);
  hold.open();
  await expect.poll(() => lagOf(of, "projector")).toBe(0);
  await expect.poll(async () => (await effects(kit, of)).map(({ n }) => n)).toEqual([0, 2, 1, 2]);
});

test("a replay that fails with a late owner changes nothing: whoever has the partition now handles it", async () => {
  const of = declare({ partitions: 1 });
  const { streams } = kit.platform;
  const [begun, fail] = [gate(), gate()];
  let calls = 0;
  await using running = await run(kit, of, {
    retry: { attempts: 1 },
    async handle(record, context) {
      if (++calls === 1) throw new Error("it does not fit");
      if (calls === 2) {
        begun.open();
        await fail.promise;
        throw new Error("too late");
      }
      await insertInto(kit)(record, context);
    },
  });
  await of.append({ n: 0 }, { key: "k" });
  await expect.poll(() => streams.parked(of.name)).toHaveLength(1);
  using failed = watch("stream.failed", ({ stream, reason }) => stream === of.name && reason === "too late");
  await streams.replay({ stream: of.name, consumer: "projector" }, ada);
  await begun.promise;
  // Taken over by nobody yet, so that only the late owner can change anything.
  await ask(
    kit.platform,
    `update tuntas.stream_checkpoint c set fence = fence + 1 from tuntas.stream s where s.id = c.stream_id and s.name = $1`,
    [of.name],
  );
  fail.open();
  await failed.until(1);
  expect(await streams.parked(of.name)).toMatchObject([{ attempts: 1, replaying: true }]);
  await running.stop();
});

test("who waits at a seam is not taken for blocked when it opens", async () => {
  const of = declare({ partitions: 1 });
  const { streams, database } = kit.platform;
  let isMended = false;
  const handle = async (record: Event, context: any) => {
    if (record.value.n === 0 && !isMended) throw new Error("it does not fit");
    await insertInto(kit)(record, context);
  };
  await using running = await run(kit, of, {
    onBadRecord: "stop",
    timeout: "1s",
    retry: { attempts: 1 },
    handle,
  });
  await of.append({ n: 0 }, { key: "a" });
  const stopped = async () => (await consumerOf(of, "projector")).partitions[0]!.stoppedAtMs;
  await expect.poll(stopped).not.toBeNull();
  await streams.declare([declare({ partitions: 2 }, of.name)], []);
  const key = keyOf(1);
  await of.append({ n: 1 }, { key });
  await kit.advance(60_000);
  const waits = `select from tuntas.stream_checkpoint c join tuntas.stream s on s.id = c.stream_id
    where s.name = $1 and c.partition = 1 and c.waiting_at > tuntas.now() - interval '5 s'`;
  await expect.poll(() => ask(kit.platform, waits, [of.name])).toHaveLength(1);
  isMended = true;
  await streams.rewind({ stream: of.name, consumer: "projector" }, { offset: 1, partition: 0 }, ada);
  expect(await findStuck(database)).toEqual([]);
  await running.handled(1);
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual([1]);
});

/** A key of the partition, of two. */
const keyOf = (partition: number): string =>
  upTo(50)
    .map((n) => `key ${n}`)
    .find((key) => partitionOf(key, 2) === partition)!;
