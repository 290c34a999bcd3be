// A record that cannot be handled: tried again, then parked or stopped at, aloud, and handled after all when somebody says so.
import { afterAll, beforeAll, expect, test } from "vitest";
import { poison, rejected, retry } from "../core/outcome.ts";
import { ask, gate, watch } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import {
  declare,
  effects,
  insertInto,
  makeTable,
  run,
  upTo,
  type Event,
  type Settings,
} from "./stream.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await makeTable(kit);
});
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { by: "ada", reason: "repaired" };

/** A consumer that fails at a number until it is repaired; `fails` says how. */
function failing(at: number, fails: () => unknown, more: Settings = {}) {
  const it = { repaired: false, calls: 0 };
  const settings: Settings = {
    ...more,
    async handle(record: Event, context) {
      await insertInto(kit)(record, context);
      if (record.value.n !== at || it.repaired) return;
      it.calls++;
      return fails();
    },
  };
  return { it, settings };
}

const throws = () => {
  throw Object.assign(new Error("it does not fit"), { code: "MISFIT" });
};

test("Y-07: a bad record is tried as often as declared, parked with its reason, and the records behind it go on", async () => {
  const of = declare({ partitions: 1 });
  const { it, settings } = failing(2, throws);
  using parked = watch("stream.parked", ({ stream }) => stream === of.name);
  using failed = watch("stream.failed", ({ stream }) => stream === of.name);
  await using running = await run(kit, of, settings);
  await Promise.all(upTo(6).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(5);
  expect(it.calls).toBeGreaterThanOrEqual(3);
  expect(it.calls).toBeLessThanOrEqual(4); // once within its batch, then alone
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual([0, 1, 3, 4, 5]);
  expect(parked.seen).toMatchObject([{ partition: 0, offset: 2, key: "k", code: "MISFIT", attempt: 3 }]);
  expect(failed.seen.length).toBe(it.calls);
  const all = await kit.platform.streams.parked(of.name);
  expect(all).toMatchObject([
    {
      consumer: "projector",
      offset: 2,
      key: "k",
      body: '{"n":2}',
      attempts: 3,
      code: "MISFIT",
      reason: "it does not fit",
    },
  ]);
  expect((await kit.platform.streams.find(of.name)).consumers[0]).toMatchObject({ parked: 1, lag: 0 });
});

test("Y-07: what can never succeed is not tried again, nor is what does not fit the schema any more", async () => {
  const of = declare({ partitions: 1 });
  const { it, settings } = failing(1, () => poison({ code: "NO_SUCH_ORDER" }));
  await using running = await run(kit, of, settings);
  await of.append({ n: 0 }, { key: "k" });
  await running.handled(1);
  const [{ id }] = await ask(kit.platform, "select id from tuntas.stream where name = $1", [of.name]);
  await ask(kit.platform, "select from tuntas.stream_append($1, 1, '{0,0}', '{k,k}', $2)", [
    id,
    ["not json", '{"m":1}'],
  ]);
  await of.append({ n: 1 }, { key: "k" });
  await of.append({ n: 2 }, { key: "k" });
  await running.handled(2);
  expect(it.calls).toBeLessThanOrEqual(2);
  const parked = await kit.platform.streams.parked(of.name);
  expect(parked.map(({ code, offset }) => [offset, code])).toEqual([
    [3, "NO_SUCH_ORDER"],
    [2, "TUNTAS_RECORD_INVALID"],
    [1, "TUNTAS_RECORD_INVALID"],
  ]);
  expect(parked[2]!.reason).toMatch(/expected JSON/);
});

test("Y-07: what a handler calls outside and does not reach counts like any other failure, and does not stop its partition for ever", async () => {
  const of = declare({ partitions: 1 });
  const { it, settings } = failing(0, () => {
    throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  });
  await using running = await run(kit, of, settings);
  await Promise.all(upTo(2).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(1);
  expect(it.calls).toBe(3);
  expect(await kit.platform.streams.parked(of.name)).toMatchObject([{ offset: 0, code: "ECONNREFUSED" }]);
});

test("Y-07: where the policy is to stop, its partition stands at it, says why, and goes on when somebody resumes it", async () => {
  const of = declare({ partitions: 2 });
  const { it, settings } = failing(1, () => rejected({ code: "CLOSED", message: "the case is closed" }), {
    onBadRecord: "stop",
  });
  using stopped = watch("stream.stopped", ({ stream }) => stream === of.name);
  await using running = await run(kit, of, settings);
  const bad = await of.append({ n: 1 }, { key: "k" });
  await of.append({ n: 2 }, { key: "k" });
  await stopped.until(1);
  const others = upTo(20).map((n) => ({ n: n + 10, key: `other ${n}` }));
  await Promise.all(others.map(({ n, key }) => of.append({ n }, { key })));
  const report = await kit.platform.streams.find(of.name);
  const at = report.consumers[0]!.partitions[bad.partition]!;
  expect(at).toMatchObject({ nextOffset: 0, attempts: 1, reason: "the case is closed" });
  expect(at.stoppedAtMs).not.toBeNull();
  expect(at.lag).toBeGreaterThanOrEqual(2);
  const other = report.offsets[1 - bad.partition]!.next;
  await running.handled(other); // the other partition does not stand still
  it.repaired = true;
  expect(await kit.platform.streams.resume({ stream: of.name, consumer: "projector" }, ada)).toEqual([
    bad.partition,
  ]);
  await running.handled(22);
  expect((await effects(kit, of)).map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([
    1,
    2,
    ...upTo(20).map((n) => n + 10),
  ]);
});

test("Y-06 Y-07: a parked record is replayed once by whoever reads its partition; one that fails again stays, and one may be discarded", async () => {
  const of = declare({ partitions: 1 });
  const { it, settings } = failing(0, throws, { retry: { attempts: 1 } });
  using parked = watch("stream.parked", ({ stream }) => stream === of.name);
  using failed = watch("stream.failed", ({ stream }) => stream === of.name);
  using replayed = watch("stream.replayed", ({ stream }) => stream === of.name);
  await using _running = await run(kit, of, settings);
  await of.append({ n: 0 }, { key: "k" });
  await parked.until(1);
  const name = { stream: of.name, consumer: "projector" };
  const { streams: room } = kit.platform;
  expect(await room.replay(name, ada)).toHaveLength(1);
  await failed.until(2);
  await expect.poll(() => room.parked(of.name)).toMatchObject([{ attempts: 2, replaying: false }]);
  it.repaired = true;
  const [{ id }] = (await room.parked(of.name)) as unknown as [{ id: string }];
  expect(await room.replay({ ...name, ids: [id] }, ada)).toEqual([id]);
  await replayed.until(1);
  expect(await room.parked(of.name)).toEqual([]);
  expect(await effects(kit, of)).toMatchObject([{ n: 0, id: `${of.name}/0/0` }]);
  expect(await room.replay(name, ada)).toEqual([]);
  expect(await room.records(of.name, { partition: 0, offset: 0, limit: 5 })).toMatchObject([
    { offset: 0, key: "k", body: '{"n":0}' },
  ]);
  it.repaired = false;
  await of.append({ n: 0 }, { key: "k" });
  await parked.until(2);
  expect(await room.discard(name, ada)).toHaveLength(1);
  expect(await room.parked(of.name)).toEqual([]);
});

test("a record that takes longer than its consumer's timeout has failed, also where its handler does not look at the signal", async () => {
  const of = declare({ partitions: 1 });
  const { settings } = failing(1, () => new Promise(() => undefined), {
    timeout: "300ms",
    retry: { attempts: 1 },
  });
  using parked = watch("stream.parked", ({ stream }) => stream === of.name);
  await using running = await run(kit, of, settings);
  await Promise.all(upTo(3).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(2);
  expect(parked.seen).toMatchObject([{ code: "TUNTAS_RECORD_TIMEOUT", offset: 1 }]);
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual([0, 2]);
});

test("a handler that returns after its time was over is not called with the records behind it by that attempt", async () => {
  const of = declare({ partitions: 1 });
  const calls: number[] = [];
  const late = gate();
  await using running = await run(kit, of, {
    timeout: "300ms",
    retry: { attempts: 1 },
    async handle({ value }: Event) {
      calls.push(value.n);
      if (value.n === 0) await late.promise;
    },
  });
  await Promise.all(upTo(3).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(2);
  late.open();
  await of.append({ n: 3 }, { key: "k" });
  await running.handled(3);
  expect(calls).toEqual(upTo(4));
});

test("of a batch whose shared statements fail, the one record whose statement it is is found and parked", async () => {
  const of = declare({ partitions: 1 });
  await ask(kit.platform, "create table tuntas.unlike (n integer check (n <> 6))");
  await using running = await run(kit, of, {
    retry: { attempts: 2, base: "1ms" },
    handle: ({ value }: Event, context) =>
      context.write(`insert into ${kit.schema}.unlike values ($1)`, [value.n]),
  });
  await Promise.all(upTo(10).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(9);
  const parked = await kit.platform.streams.parked(of.name);
  expect(parked).toMatchObject([{ offset: 6, code: "23514", attempts: 2 }]);
  expect(await kit.platform.streams.parked(of.name, { before: parked[0]!.id })).toEqual([]);
  const rows = await ask(kit.platform, "select n from tuntas.unlike order by n");
  expect(rows.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5, 7, 8, 9]);
});

test("a batch handler's bad record is found by halves, and every other record is handled once", async () => {
  const of = declare({ partitions: 1 });
  const sizes: number[] = [];
  await using running = await run(kit, of, {
    retry: { attempts: 1 },
    async handleBatch(records, context) {
      sizes.push(records.length);
      for (const record of records) await insertInto(kit)(record, context);
      if (records.some(({ value }) => value.n === 11)) return retry({ code: "ODD_ONE" });
      return undefined;
    },
  });
  await Promise.all(upTo(16).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(15);
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual(upTo(16).filter((n) => n !== 11));
  expect(await kit.platform.streams.parked(of.name)).toMatchObject([{ offset: 11, code: "ODD_ONE" }]);
  expect(sizes).toContain(1);
});
