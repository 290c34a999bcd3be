// A record that kills the process which handles it: it is found, parked or stopped at, and what is around it goes on.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ChildProcess } from "node:child_process";
import { forkReady } from "../engine/child.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { declare, effects, insertInto, makeTable, run, upTo, type TestStream } from "./stream.fixture.ts";

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
async function reader({ name }: TestStream, onBadRecord: "park" | "stop") {
  const { databaseUrl, schema } = kit;
  const options = { onBadRecord, retry: { attempts: 1 } };
  const place = { databaseUrl, schema, name, partitions: 1, timeout: "20s" };
  const { child } = await forkReady(new URL("process.fixture.mjs", import.meta.url), {
    ...place,
    killAt: 3,
    options,
  });
  children.push(child);
  const died = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  return { child, died };
}

const standing = async ({ name }: TestStream) => {
  const [consumer] = (await kit.platform.streams.find(name)).consumers;
  return consumer!.partitions[0]!;
};
const numbers = async (of: TestStream) => (await effects(kit, of)).map(({ n }) => n);

test("Y-07: a record that kills its process each time is parked, the others are handled once and in order, and a replay that kills parks it again", async () => {
  const of = declare({ partitions: 1 });
  await using _here = await run(kit, of);
  await Promise.all(upTo(8).map((n) => of.append({ n }, { key: "k" })));
  // The first dies of a batch, in which it may have been any record; the second of this one.
  for (let life = 0; life < 2; life++) expect(await (await reader(of, "park")).died).toBe("SIGKILL");
  const third = await reader(of, "park");
  await expect.poll(() => numbers(of)).toEqual([0, 1, 2, 4, 5, 6, 7]);
  const parked = { offset: 3, attempts: 1, code: "TUNTAS_RECORD_FATAL", replaying: false };
  expect(await kit.platform.streams.parked(of.name)).toMatchObject([parked]);

  await kit.platform.streams.replay({ stream: of.name, consumer: "projector" }, ada);
  expect(await third.died).toBe("SIGKILL");
  await expect.poll(() => kit.platform.streams.parked(of.name)).toMatchObject([{ ...parked, attempts: 2 }]);
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
