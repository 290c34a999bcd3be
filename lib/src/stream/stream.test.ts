import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, gate, watch } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import {
  byKey,
  declare,
  declareConsumer,
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

const ada = { by: "ada", reason: "to see it again" };
const keys = ["a", "b", "c", "d", "e", "f"];
const wideningWaits =
  "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%stream_widen%'";

test("Y-01 Y-02: a hundred records come in the order of their offsets, which leave no gap, and in the order of each key", async () => {
  const of = declare();
  await using running = await run(kit, of, { handle: insertInto(kit) });
  const appended = await Promise.all(upTo(100).map((n) => of.append({ n }, { key: keys[n % keys.length]! })));
  await running.handled(100);
  const rows = await effects(kit, of);
  for (const [key, numbers] of Object.entries(byKey(rows)))
    expect(numbers, key).toEqual(upTo(100).filter((n) => keys[n % keys.length] === key));
  for (const partition of upTo(4)) {
    const own = rows.filter(({ id }) => id.split("/")[1] === String(partition));
    expect(own.map(({ id }) => Number(id.split("/")[2]))).toEqual(upTo(own.length));
    const { offset } = appended.findLast((each) => each.partition === partition) ?? { offset: -1 };
    expect(own.length).toBe(offset! + 1);
  }
  const report = await kit.platform.streams.find(of.name);
  expect(report).toMatchObject({
    records: 100,
    consumers: [{ lag: 0, lagMs: null, behind: false, members: 1 }],
  });
});

test("Y-04: a record is past when what was written for it is, in both ways of writing and with neither", async () => {
  const of = declare({ partitions: 1 });
  await using running = await run(
    kit,
    of,
    { name: "own", handle: insertInto(kit, "own") },
    {
      name: "shared",
      handle: ({ id, key, value }, { write }) => void [id, key, value, write],
    },
    {
      name: "handed-over",
      handle({ id, key, value }: Event, context) {
        context.write(
          `insert into ${kit.schema}.effect (stream, id, key, n, who) values ($1, $2, $3, $4, 'written')`,
          [of.name, id, key, value.n],
        );
      },
    },
    {
      name: "whole",
      handleBatch: (records, { tx }) =>
        tx.query(
          `insert into ${kit.schema}.effect (stream, id, key, n, who) select $1, u.id, u.key, u.n, 'batch'
           from unnest($2::text[], $3::text[], $4::int[]) as u(id, key, n)`,
          [
            of.name,
            records.map(({ id }) => id),
            records.map(({ key }) => key),
            records.map(({ value }) => value.n),
          ],
        ),
    },
  );
  for (const n of upTo(10)) await of.append({ n }, { key: "k" });
  await running.handled(40);
  const rows = await effects(kit, of);
  for (const who of ["own", "written", "batch"])
    expect(rows.filter((row) => row.who === who).map(({ n }) => n)).toEqual(upTo(10));
});

test("a handler that fails writes nothing, and is called again with the records of its batch from the first that is not past", async () => {
  const of = declare({ partitions: 1 });
  let failures = 2;
  await using running = await run(kit, of, {
    async handle(record, context) {
      await insertInto(kit)(record, context);
      if (record.value.n === 5 && failures-- > 0) throw new Error("not yet");
    },
  });
  await Promise.all(upTo(10).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(10);
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual(upTo(10));
});

test("before its application has started a stream takes nothing, and it takes only what fits its schema, under a key", async () => {
  const of = declare();
  await expect(of.append({ n: 1 }, { key: "k" })).rejects.toMatchObject({
    code: "TUNTAS_STREAM_NOT_STARTED",
  });
  await using _running = await run(kit, of);
  await expect(of.append({ n: "1" } as never, { key: "k" })).rejects.toMatchObject({
    code: "TUNTAS_RECORD_INVALID",
  });
  for (const key of ["", undefined, "a\0b", "\ud800"])
    await expect(of.append({ n: 1 }, { key } as never)).rejects.toMatchObject({
      code: "TUNTAS_RECORD_INVALID",
    });
});

test("fewer partitions are refused, and change nothing", async () => {
  const of = declare({ partitions: 2 });
  await using _running = await run(kit, of);
  await expect(kit.platform.streams.declare([declare({ partitions: 1 }, of.name)], [])).rejects.toMatchObject(
    { code: "TUNTAS_STREAM_PARTITIONS" },
  );
  expect(await kit.platform.streams.find(of.name)).toMatchObject({ partitions: 2 });
});

test("Y-02 Y-13: more partitions take new records at once, and each key keeps its order over the change", async () => {
  const of = declare({ partitions: 2 });
  const orders = upTo(24).map((n) => `order ${n}`);
  const held = gate();
  const insert = insertInto(kit);
  // The oldest record of the first partition is under way for as long as the change takes.
  const handle: Settings["handle"] = async (record, context) => {
    if (record.partition === 0 && record.offset === 0) await held.promise;
    await insert(record, context);
  };
  await using running = await run(kit, of, { handle });
  const other = await kit.another();
  const append = (n: number, by = kit.platform) =>
    by.streams.append(of as never, { n }, { key: orders[n % orders.length]! });
  for (const n of upTo(36)) await append(n, n % 2 ? other : kit.platform);

  const client = await kit.platform.database.dedicatedClient();
  await client.query("begin");
  await of.append({ n: 36 }, { key: orders[12]!, tx: client });
  const widening = kit.platform.streams.declare([declare({ partitions: 5 }, of.name)], []);
  await expect.poll(async () => (await ask(kit.platform, wideningWaits)).length).toBeGreaterThan(0);
  await client.query("commit");
  await widening;
  // Who has appended before knows of two partitions; so does a transaction.
  for (const n of upTo(84).slice(37)) await append(n, n % 2 ? other : kit.platform);
  await client.query("begin");
  await of.append({ n: 84 }, { key: orders[12]!, tx: client });
  await client.query("commit");
  await client.end();

  const claimed = async () =>
    (await kit.platform.streams.find(of.name)).consumers[0]!.partitions.map(({ owner }) => owner !== null);
  await expect.poll(claimed).toEqual([true, true, true, true, true]);
  held.open();
  await running.handled(85);
  const rows = await effects(kit, of);
  expect(byKey(rows)).toEqual(
    Object.fromEntries(orders.map((key, at) => [key, upTo(85).filter((n) => n % orders.length === at)])),
  );
  const partitions = new Set(rows.map(({ id }) => id.split("/")[1]));
  expect([...partitions].toSorted()).toEqual(["0", "1", "2", "3", "4"]);

  // A deployment that is taken back declares the number before.
  await kit.platform.streams.declare([declare({ partitions: 2 }, of.name)], []);
  expect(await kit.platform.streams.find(of.name)).toMatchObject({ partitions: 5 });
  const never = kit.platform.streams.declare([declare({ partitions: 3 }, of.name)], []);
  await expect(never).rejects.toMatchObject({ code: "TUNTAS_STREAM_PARTITIONS" });
});

test("Y-02: a key keeps its order over two changes between which nothing came", async () => {
  const of = declare({ partitions: 1 });
  const orders = upTo(12).map((n) => `order ${n}`);
  const held = gate();
  const handle: Settings["handle"] = async (record, context) => {
    if (record.value.n === 0) await held.promise;
    await insertInto(kit)(record, context);
  };
  await using running = await run(kit, of, { handle });
  const append = (n: number) =>
    kit.platform.streams.append(of as never, { n }, { key: orders[n % orders.length]! });
  for (const n of upTo(12)) await append(n);
  for (const partitions of [2, 3, 5])
    await kit.platform.streams.declare([declare({ partitions }, of.name)], []);
  for (const n of upTo(24).slice(12)) await append(n);
  const readable = (partition: number) =>
    ask(
      kit.platform,
      `select from tuntas.stream s join tuntas.stream_consumer k on k.stream_id = s.id, tuntas.stream_read(k.id, s.id, $2, 0, 100) where s.name = $1`,
      [of.name, partition],
    ).then(({ length }) => length);
  expect(await Promise.all(upTo(5).map(readable))).toEqual([12, 0, 0, 0, 0]);
  held.open();
  await running.handled(24);
  const expected = orders.map((key, at) => [key, [at, at + 12]]);
  expect(byKey(await effects(kit, of))).toEqual(Object.fromEntries(expected));
});

test("more partitions come while a consumer is forgotten", async () => {
  const of = declare({ partitions: 2 });
  const parts = ["goes", "stays"].map((name) => declareConsumer(of, { name, handle: () => undefined }));
  await kit.platform.streams.declare([of], parts);
  const client = await kit.platform.database.dedicatedClient();
  await client.query("begin");
  await client.query(
    `delete from ${kit.schema}.stream_consumer k using ${kit.schema}.stream s
     where s.id = k.stream_id and k.name = 'goes' and s.name = $1`,
    [of.name],
  );
  const widening = kit.platform.streams.declare([declare({ partitions: 4 }, of.name)], []);
  await expect.poll(async () => (await ask(kit.platform, wideningWaits)).length).toBeGreaterThan(0);
  await client.query("commit");
  await client.end();
  await widening;
  const { consumers } = await kit.platform.streams.find(of.name);
  expect(consumers.map(({ name, partitions }) => [name, partitions.length])).toEqual([["stays", 4]]);
});

test("a process of the version before seams goes on until a stream has one, then appends and reads nothing behind it", async () => {
  const of = declare({ partitions: 1 });
  await kit.platform.streams.declare([of], []);
  const [{ id }] = (await ask<{ id: number }>(kit.platform, "select id from tuntas.stream where name = $1", [
    of.name,
  ])) as [{ id: number }];
  // As that version says it.
  const append = () =>
    ask(kit.platform, "select * from tuntas.stream_append($1, array[0], array['k'], array['{}'])", [id]);
  const arrive = () =>
    ask(
      kit.platform,
      "insert into tuntas.stream_arrival (stream_id, partition, key, body, appended_at) select $1, 0, 'k', '{}', now()",
      [id],
    );
  const read = () => ask(kit.platform, 'select "offset" from tuntas.stream_read($1, 0, 0, 10)', [id]);
  expect(await append()).toEqual([{ partition: 0, first_offset: "0" }]);
  await arrive();
  expect(await read()).toHaveLength(2);
  await kit.platform.streams.declare([declare({ partitions: 2 }, of.name)], []);
  await expect(append()).rejects.toMatchObject({ code: "55000" });
  await expect(arrive()).rejects.toMatchObject({ code: "55000" });
  const keys = upTo(20).map((n) => kit.platform.streams.append(of as never, { n }, { key: `key ${n}` }));
  await Promise.all(keys);
  expect(await read()).toHaveLength(2);
});

test("Y-01: a new consumer begins with the oldest record, or with what comes, as it says; a known one where it was", async () => {
  const of = declare({ partitions: 2 });
  {
    await using first = await run(kit, of, { name: "all", handle: insertInto(kit, "all") });
    for (const n of upTo(6)) await of.append({ n }, { key: keys[n]! });
    await first.handled(6);
  }
  await kit.platform.streams.declare(
    [of],
    [declareConsumer(of, { name: "new", from: "end", handle: () => {} })],
  );
  await using second = await run(
    kit,
    of,
    { name: "all", handle: insertInto(kit, "all") },
    { name: "new", from: "end", handle: insertInto(kit, "new") },
    { name: "late", from: "start", handle: insertInto(kit, "late") },
  );
  await of.append({ n: 6 }, { key: "a" });
  await second.handled(9);
  const rows = await effects(kit, of);
  const of1 = (who: string) =>
    rows
      .filter((row) => row.who === who)
      .map(({ n }) => n)
      .toSorted((a, b) => a - b);
  expect([of1("all"), of1("new"), of1("late")]).toEqual([upTo(7), [6], upTo(7)]);
});

test("Y-05 Y-06: rewound to an offset, an instant or the start, records are read again from there; their ids keep the effect single", async () => {
  const of = declare({ partitions: 1 });
  await ask(kit.platform, "create table tuntas.once (id text primary key)");
  const seen: number[] = [];
  await using running = await run(kit, of, {
    batch: 4,
    async handle({ id, value }: Event, { tx }) {
      seen.push(value.n);
      await tx.query(`insert into ${kit.schema}.once values ($1) on conflict do nothing`, [id]);
    },
  });
  for (const n of upTo(5)) await of.append({ n }, { key: "k" });
  await running.handled(5);
  const { streams } = kit.platform;
  const name = { stream: of.name, consumer: "projector" };
  const replayed = watch("stream.handled", (fields) => fields.stream === of.name && fields.replayed > 0);
  await streams.rewind(name, { offset: 3, partition: 0 }, ada);
  await running.handled(7);
  const records = await ask(
    kit.platform,
    "select (extract(epoch from appended_at) * 1000)::float8 as ms from tuntas.stream_peek((select id from tuntas.stream where name = $1), 0, 1, 1)",
    [of.name],
  );
  await streams.rewind(name, { instantMs: records[0].ms }, ada);
  await running.handled(11);
  await streams.rewind(name, { to: "start" }, ada);
  await running.handled(16);
  expect(seen).toEqual([...upTo(5), 3, 4, 1, 2, 3, 4, ...upTo(5)]);
  expect(await ask(kit.platform, "select count(*)::int as count from tuntas.once")).toEqual([{ count: 5 }]);
  expect(replayed.seen.reduce((sum, { replayed: count }) => sum + count, 0)).toBe(11);
  replayed.close();
  await streams.rewind(name, { to: "end" }, ada);
  const audit = await ask(
    kit.platform,
    "select actor, action, reason from tuntas.audit where subject like $1",
    [`stream ${of.name} %`],
  );
  expect(audit).toEqual(upTo(4).map(() => ({ actor: "ada", action: "stream.rewind", reason: ada.reason })));
  for (const offset of [-1, 6, 1.5])
    await expect(streams.rewind(name, { offset, partition: 0 }, ada)).rejects.toMatchObject({
      code: "TUNTAS_STREAM_OFFSET",
    });
  await expect(streams.rewind({ ...name, consumer: "none" }, { to: "end" }, ada)).rejects.toMatchObject({
    code: "TUNTAS_STREAM_MISSING",
  });
});

test("a batch that is under way when its consumer is rewound commits nothing and is done again", async () => {
  const of = declare({ partitions: 1 });
  const [begun, go] = [gate(), gate()];
  let calls = 0;
  const lost = watch("stream.lost", ({ stream: name }) => name === of.name);
  await using running = await run(kit, of, {
    async handle(record, context) {
      await insertInto(kit, String(++calls))(record, context);
      begun.open();
      await go.promise;
    },
  });
  await of.append({ n: 0 }, { key: "k" });
  await begun.promise;
  await kit.platform.streams.rewind({ stream: of.name, consumer: "projector" }, { to: "start" }, ada);
  go.open();
  await running.handled(1);
  expect(await effects(kit, of)).toMatchObject([{ n: 0, who: "2" }]);
  lost.close();
});

test("Y-11: a projection is built anew from the start beside the old one and takes its place in one commit", async () => {
  const of = declare({ partitions: 2 });
  const sum =
    (table: string) =>
    ({ key, value }: Event, { tx }: any) =>
      tx.query(
        `insert into ${kit.schema}.${table} values ($1, $2) on conflict (key) do update set total = ${table}.total + excluded.total`,
        [key, value.n],
      );
  for (const table of ["total_1", "total_2"])
    await ask(kit.platform, `create table tuntas.${table} (key text primary key, total integer)`);
  await ask(kit.platform, "create view tuntas.total as select * from tuntas.total_1");
  const held = gate();
  await using running = await run(
    kit,
    of,
    { name: "totals-1", handle: sum("total_1") },
    {
      name: "totals-2",
      async handle(record, context) {
        await held.promise;
        await sum("total_2")(record, context);
      },
    },
  );
  for (const n of upTo(20)) await of.append({ n }, { key: keys[n % 6]! });
  await running.handled(20);
  await ask(kit.platform, "delete from tuntas.total_1 where key = 'a'"); // it has gone wrong
  const swap = () =>
    kit.platform.streams.swap({ stream: of.name, from: "totals-1", to: "totals-2" }, ada, ({ client }) =>
      client.query(`create or replace view ${kit.schema}.total as select * from ${kit.schema}.total_2`),
    );
  await expect(swap()).rejects.toMatchObject({ code: "TUNTAS_STREAM_BEHIND" });
  held.open();
  await running.handled(40);
  await swap();
  const expected = keys.map((key, at) => ({
    key,
    total: upTo(20)
      .filter((n) => n % 6 === at)
      .reduce((a, b) => a + b, 0),
  }));
  expect(await ask(kit.platform, "select * from tuntas.total order by key")).toEqual(expected);
  expect((await kit.platform.streams.find(of.name)).consumers.map(({ name }) => name)).toEqual(["totals-2"]);
});
