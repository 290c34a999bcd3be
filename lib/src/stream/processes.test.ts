// Several processes share the partitions of a consumer: as many as there are partitions work, and what one held that dies,
// blocks or leaves goes on elsewhere, with no record skipped and none done twice.
import type { ChildProcess } from "node:child_process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { forkReady } from "../engine/child.fixture.ts";
import { ask } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import {
  byKey,
  declare,
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

interface SpawnOptions {
  readonly platforms?: number;
  readonly timeout?: string;
  readonly blockAt?: number;
  readonly holdAt?: number;
}

async function spawn({ name, options: { partitions } }: TestStream, who: string, options: SpawnOptions = {}) {
  const { databaseUrl, schema } = kit;
  const argument = { databaseUrl, schema, name, partitions, who, timeout: "20s", ...options };
  const made = await forkReady(new URL("process.fixture.mjs", import.meta.url), argument);
  children.push(made.child);
  return made;
}

const ownersOf = async ({ name }: TestStream) =>
  (
    await ask<{ owner: string | null }>(
      kit.platform,
      `select p.name as owner from tuntas.stream_checkpoint c join tuntas.stream s on s.id = c.stream_id
         left join tuntas.process p on p.id = c.owner_id where s.name = $1 order by c.partition`,
      [name],
    )
  ).map(({ owner }) => owner);

const countOf = async (of: TestStream) => (await effects(kit, of)).length;

const keys = upTo(12).map((n) => `order ${n}`);
const appendAll = (of: TestStream, numbers: readonly number[]) =>
  Promise.all(numbers.map((n) => of.append({ n }, { key: keys[n % keys.length]! })));
const expected = (count: number) =>
  Object.fromEntries(keys.map((key, at) => [key, upTo(count).filter((n) => n % keys.length === at)]));

test("Y-02 Y-03 Y-04 W-22: ten workers share four partitions, at most four work; kill -9 skips nothing and does nothing twice", async () => {
  const of = declare({ partitions: 4 });
  await using _here = await run(kit, of);
  const first = appendAll(of, upTo(200));
  const processes = await Promise.all(["a", "b"].map((who) => spawn(of, who, { platforms: 5, holdAt: 250 })));
  await first;
  await expect.poll(() => countOf(of)).toBe(200);
  await expect.poll(async () => new Set(await ownersOf(of)).size).toBe(4);
  await appendAll(of, upTo(400).slice(200));
  const holder = await Promise.race(
    processes.map(async (each) => (await each.told(({ began }) => began === 250), each)),
  );
  for (const { child } of processes) if (child !== holder.child) child.send("hold no more");
  const killedAt = performance.now();
  holder.child.kill("SIGKILL");
  await expect.poll(() => countOf(of), { interval: 20 }).toBe(400);
  console.log(`all is handled ${Math.round(performance.now() - killedAt)} ms after kill -9`);
  expect(byKey(await effects(kit, of))).toEqual(expected(400));
});

test("one that comes gets its share, and one that leaves in order gives back what it holds at once", async () => {
  const of = declare({ partitions: 4 });
  const others = await Promise.all(["first", "second"].map((name) => kit.another({ name })));
  const settings = { handle: () => undefined };
  const [one, two] = others.map(
    (platform) => () => run({ platform }, declare({ partitions: 4 }, of.name), settings),
  );
  const first = await one!();
  await expect.poll(() => ownersOf(of)).toEqual(Array(4).fill("first"));
  await using _second = await two!();
  const count = async (who: string) => (await ownersOf(of)).filter((owner) => owner === who).length;
  await expect.poll(() => count("second")).toBe(2);
  expect(await count("first")).toBe(2);
  await first.stop();
  await expect.poll(() => ownersOf(of)).toEqual(Array(4).fill("second"));
});

test("one whose event loop is blocked is not alive for ever: its partitions go to another, and it changes nothing any more", async () => {
  const of = declare({ partitions: 1 });
  const blocked = await spawn(of, "blocked", { blockAt: 1, timeout: "1s" });
  await using _here = await run(kit, of, { timeout: "1s", handle: insertInto(kit, "here") });
  await appendAll(of, upTo(3));
  await blocked.told(({ began }) => began === 1);
  await kit.advance(16_000);
  await expect.poll(() => kit.advance(1000).then(() => ownersOf(of)), { interval: 200 }).toEqual(["here"]);
  await expect.poll(() => countOf(of)).toBe(3);
  expect((await effects(kit, of)).map(({ n, who }) => [n, who])).toEqual(upTo(3).map((n) => [n, "here"]));
  expect(blocked.child.exitCode).toBeNull();
});
