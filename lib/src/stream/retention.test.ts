import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, watch } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { declare, declareConsumer, run, upTo, type TestStream } from "./stream.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const hour = 3_600_000;
const ada = { by: "ada", reason: "nobody reads it any more" };

const tablesOf = async (of: TestStream) =>
  (
    await ask<{ name: string }>(
      kit.platform,
      `select c.relname as name from pg_class c join tuntas.stream s on c.relname like 'stream_record_' || s.id || '\\_%' and c.relkind = 'r'
       where s.name = $1 and c.relnamespace = '${kit.schema}'::regnamespace order by 1`,
      [of.name],
    )
  ).map(({ name }) => name);

test("records are dropped by whole segments when their time is over, and what is kept is read on across segments", async () => {
  const of = declare({ partitions: 2, retention: "8h" });
  await using running = await run(kit, of, { handle: () => undefined });
  const appendSome = (from: number) =>
    Promise.all(upTo(10).map((n) => of.append({ n: from + n }, { key: `k${n}` })));
  using dropped = watch("stream.dropped", ({ stream }) => stream === of.name);
  for (const segment of upTo(4)) {
    await appendSome(10 * segment);
    await running.handled(10 * (segment + 1));
    await kit.advance(hour);
  }
  expect(await tablesOf(of)).toHaveLength(5);
  await kit.platform.streams.rewind({ stream: of.name, consumer: "projector" }, { to: "start" }, ada);
  await running.handled(80);
  await kit.advance(7 * hour);
  expect(dropped.seen.reduce((sum, { segments }) => sum + segments, 0)).toBe(3);
  expect(await tablesOf(of)).toHaveLength(2);
  const report = await kit.platform.streams.find(of.name);
  expect(report.records).toBe(10);
  expect(report.offsets.reduce((sum, { first }) => sum + first, 0)).toBe(30);
  await expect(
    kit.platform.streams.rewind({ stream: of.name, consumer: "projector" }, { offset: 0, partition: 0 }, ada),
  ).rejects.toMatchObject({ code: "TUNTAS_STREAM_OFFSET" });
  await kit.platform.streams.rewind({ stream: of.name, consumer: "projector" }, { to: "start" }, ada);
  await running.handled(90);
});

test("of sweeps at the same time one begins the next segment", async () => {
  const of = declare({ partitions: 2, retention: "8h" });
  await using running = await run(kit, of, { handle: () => undefined });
  const client = await kit.platform.database.dedicatedClient();
  for (const segments of [2, 3]) {
    await of.append({ n: segments }, { key: "k" });
    await client.query(
      `update ${kit.schema}.stream_segment set began_at = began_at - interval '1 hour'
       where stream_id = (select id from ${kit.schema}.stream where name = $1)`,
      [of.name],
    );
    await Promise.all(upTo(4).map(() => kit.platform.streams.sweep()));
    expect(await tablesOf(of)).toHaveLength(segments);
  }
  await client.end();
  void running;
});

test("Y-13: nothing is dropped that a consumer has not read: it is kept, aloud, until it is read or the consumer is forgotten", async () => {
  const of = declare({ partitions: 1, retention: "8h" });
  const slow = declareConsumer(of, { name: "slow", handle: () => undefined });
  await kit.platform.streams.declare([of], [slow]);
  await using running = await run(kit, of, { name: "fast", handle: () => undefined });
  using held = watch("stream.held", ({ stream }) => stream === of.name);
  await Promise.all(upTo(10).map((n) => of.append({ n }, { key: "k" })));
  await running.handled(10);
  await kit.advance(hour);
  await of.append({ n: 10 }, { key: "k" });
  await kit.advance(9 * hour);
  expect(held.seen.at(-1)).toMatchObject({ segments: 1, consumers: "slow" });
  expect(await tablesOf(of)).toHaveLength(3);
  expect(await kit.platform.streams.find(of.name)).toMatchObject({ records: 11 });
  await kit.platform.streams.forget({ stream: of.name, consumer: "slow" }, ada);
  await kit.platform.streams.sweep();
  expect(await kit.platform.streams.find(of.name)).toMatchObject({ records: 1 });
});
