// A record that kills the process which handles it: it is found, parked or stopped at, and what is around it goes on.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ChildProcess } from "node:child_process";
import { forkReady } from "../engine/child.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { app, start } from "../index.ts";
import { ask, gate, watch } from "../queue/worker/worker.fixture.ts";
import { partitionOf } from "./state.ts";
import {
  declare,
  declareConsumer,
  effects,
  insertInto,
  makeTable,
  run,
  upTo,
  type TestStream,
} from "./stream.fixture.ts";

let kit: TestPlatform;
const children: ChildProcess[] = [];
beforeAll(async () => {
  kit = await testPlatform({ name: "here" });
  await makeTable(kit);
});
afterAll(() => kit[Symbol.asyncDispose]());
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

const ada = { by: "ada", reason: "tried again" };

/** A process that dies by kill -9 within its handler of number 3; resolves once it is ready. */
async function reader(
  { name, options: { partitions } }: TestStream,
  onBadRecord: "park" | "stop",
  more: { readonly meet?: readonly number[]; readonly cutAt?: number } = {},
) {
  const { databaseUrl, schema } = kit;
  const options = { onBadRecord, retry: { attempts: 1 } };
  const place = { databaseUrl, schema, name, partitions, timeout: "20s" };
  const { child, told } = await forkReady(new URL("process.fixture.mjs", import.meta.url), {
    ...place,
    killAt: 3,
    ...more,
    options,
  });
  children.push(child);
  const died = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  return { child, died, told };
}

const standing = async ({ name }: TestStream) => {
  const [consumer] = (await kit.platform.streams.find(name)).consumers;
  return consumer!.partitions[0]!;
};
const numbers = async (of: TestStream) => (await effects(kit, of)).map(({ n }) => n);

test("Y-07: a record that kills its process each time is parked, the others are handled once and in order, and a replay that kills parks it again", async () => {
  const of = declare({ partitions: 1 });
  using failed = watch("stream.failed", ({ stream }) => stream === of.name);
  await using _here = await run(kit, of);
  await Promise.all(upTo(8).map((n) => of.append({ n }, { key: "k" })));
  // The first dies of a batch, in which it may have been any record; the second of this one.
  for (let life = 0; life < 2; life++) expect(await (await reader(of, "park")).died).toBe("SIGKILL");
  await failed.until(1); // freed by this process, which hears of it
  const third = await reader(of, "park");
  await expect.poll(() => numbers(of)).toEqual([0, 1, 2, 4, 5, 6, 7]);
  const parked = { offset: 3, attempts: 1, code: "TUNTAS_RECORD_FATAL", replaying: false };
  expect(await kit.platform.streams.parked(of.name)).toMatchObject([parked]);
  const died = { partition: 0, offset: 3, key: "k", code: "TUNTAS_RECORD_FATAL" };
  expect(failed.seen).toMatchObject([{ ...died, attempt: 1 }]);

  await kit.platform.streams.replay({ stream: of.name, consumer: "projector" }, ada);
  expect(await third.died).toBe("SIGKILL");
  await expect.poll(() => kit.platform.streams.parked(of.name)).toMatchObject([{ ...parked, attempts: 2 }]);
  expect(failed.seen).toMatchObject([
    { ...died, attempt: 1 },
    { ...died, attempt: 2 },
  ]);
}, 120_000);

test("Y-07: a record that kills its process each time stops its partition where that is declared, until somebody resumes it", async () => {
  const of = declare({ partitions: 1 });
  await using _here = await run(kit, of);
  await Promise.all(upTo(5).map((n) => of.append({ n }, { key: "k" })));
  for (let life = 0; life < 2; life++) expect(await (await reader(of, "stop")).died).toBe("SIGKILL");
  const third = await reader(of, "stop");
  const stopped = { nextOffset: 3, attempts: 1, stoppedAtMs: expect.any(Number) };
  await expect.poll(() => standing(of)).toMatchObject(stopped);
  expect((await standing(of)).reason).toMatch(/died/);
  third.child.kill("SIGTERM");
  await third.died;
  await kit.platform.streams.resume({ stream: of.name, consumer: "projector" }, ada);
  await using _repaired = await run(kit, of, { handle: insertInto(kit) });
  await expect.poll(() => numbers(of)).toEqual(upTo(5));
}, 120_000);

/** Keys of a stream's two partitions. */
const keys = ["a", "b", "c", "d"].toSorted((one, other) => partitionOf(one, 2) - partitionOf(other, 2));

test("Y-07: suspects of two partitions are tried side by side, and one that was under way when another killed its process has not failed", async () => {
  const of = declare({ partitions: 2 });
  using failed = watch("stream.failed", ({ stream }) => stream === of.name);
  await using _here = await run(kit, of);
  for (const n of upTo(5)) {
    await of.append({ n }, { key: keys[0]! });
    await of.append({ n: 10 + n }, { key: keys.at(-1)! });
  }
  const meet = [3, 13];
  // Of a batch of each partition; of two suspects; then of one by itself, whichever of them comes first.
  for (let life = 0; life < 3; life++) {
    const { died, told } = await reader(of, "park", { meet });
    if (life === 1) await Promise.all(meet.map((n) => told(({ began }) => began === n)));
    expect(await died).toBe("SIGKILL");
    if (life === 1) expect(failed.seen).toEqual([]);
  }
  await reader(of, "park", { meet });
  const innocent = [0, 1, 2, 4, 10, 11, 12, 13, 14];
  await expect.poll(async () => (await numbers(of)).toSorted((a, b) => a - b)).toEqual(innocent);
  expect(await kit.platform.streams.parked(of.name)).toMatchObject([{ offset: 3, attempts: 1 }]);
  expect(failed.seen).toMatchObject([{ partition: 0, offset: 3, code: "TUNTAS_RECORD_FATAL", attempt: 1 }]);
}, 120_000);

/** As a death beside others leaves them. */
const contest = ({ name }: TestStream, partition = 0) =>
  ask(
    kit.platform,
    `update tuntas.stream_checkpoint c set suspect = true, contested = true from tuntas.stream s
     where s.id = c.stream_id and s.name = $1 and c.partition = $2`,
    [name, partition],
  );

test("Y-07: a record whose commit is in doubt is not charged with what another does to their process meanwhile", async () => {
  const of = declare({ partitions: 2 });
  using failed = watch("stream.failed", ({ stream }) => stream === of.name);
  await kit.platform.streams.declare([of], [declareConsumer(of, { handle: () => undefined })]);
  await contest(of);
  await using _appending = await run(kit, of);
  await of.append({ n: 0 }, { key: keys[0]! });
  await of.append({ n: 3 }, { key: keys.at(-1)! });
  expect(await (await reader(of, "park", { cutAt: 0 })).died).toBe("SIGKILL");
  await using _repaired = await run(kit, of, { handle: insertInto(kit) });
  await expect.poll(async () => (await numbers(of)).toSorted()).toEqual([0, 3]);
  expect(failed.seen).toEqual([]);
  expect(await kit.platform.streams.parked(of.name)).toEqual([]);
}, 120_000);

test("a record that waits until it may be tried alone is not taken for one whose process stands still", async () => {
  const [slow, waits] = [declare({ partitions: 1 }), declare({ partitions: 1 })];
  // Two applications of one process.
  const begin = (parts: Parameters<typeof app>[0]) => start(app(parts), { platform: kit.platform });
  const waiting = { waits: declareConsumer(waits, { timeout: "1s", handle: insertInto(kit) }) };
  await (await begin(waiting)).stop();
  const checkpoint = `tuntas.stream_checkpoint c where c.stream_id = (select id from tuntas.stream where name = $1)`;
  await contest(waits);
  const [began, held] = [gate(), gate()];
  using stuck = watch("stream.stuck");
  await using _slow = await begin({
    slow: declareConsumer(slow, { timeout: "1h", handle: () => (began.open(), held.promise) }),
  });
  await using _waits = await begin(waiting);
  await slow.append({ n: 0 }, { key: "k" });
  await began.promise;
  await waits.append({ n: 1 }, { key: "k" });
  const isWaiting = `select c.waiting_at > tuntas.now() - interval '9 s' as waits from ${checkpoint}`;
  const noted = () =>
    expect
      .poll(() => ask(kit.platform, isWaiting, [waits.name]), { timeout: 10_000 })
      .toEqual([{ waits: true }]);
  await noted();
  for (let step = 0; step < 3; step++) {
    await kit.advance(10_000);
    await noted();
  }
  await kit.platform.streams.sweep();
  expect(stuck.seen).toEqual([]);
  expect(await numbers(waits)).toEqual([]);
  held.open();
  await expect.poll(() => numbers(waits)).toEqual([1]);
}, 60_000);
