// What a person or a take-over does to checkpoints while others hold them: it is done again, or without those.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, gate } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { freePartitions } from "./store/deaths.ts";
import { declare, declareConsumer, run, upTo, type TestStream } from "./stream.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform({ name: "here" });
});
afterAll(() => kit[Symbol.asyncDispose]());

const nothing = () => undefined;
const fencesOf = async ({ name }: TestStream): Promise<number[]> =>
  (
    await ask<{ fence: number }>(
      kit.platform,
      `select c.fence::int from tuntas.stream_checkpoint c join tuntas.stream s on s.id = c.stream_id where s.name = $1 order by c.partition`,
      [name],
    )
  ).map(({ fence }) => fence);

/** A transaction that holds one checkpoint after another, as a commit does. */
async function holder({ name }: TestStream) {
  const client = await kit.platform.database.dedicatedClient();
  const hold = (partition: number) =>
    client.query(
      `select from ${kit.schema}.stream_checkpoint c join ${kit.schema}.stream s on s.id = c.stream_id
       where s.name = $1 and c.partition = $2 for update of c`,
      [name, partition],
    );
  await client.query("begin");
  return {
    hold,
    async end() {
      await client.query("rollback");
      await client.end();
    },
  };
}

const waiting = () =>
  ask(
    kit.platform,
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%stream_checkpoint%'",
  );

test("a rewind that the database ends for another's sake is done again", async () => {
  const of = declare({ partitions: 2 });
  await using _here = await run(kit, of, { handle: nothing });
  await expect.poll(async () => (await fencesOf(of)).every((fence) => fence > 0)).toBe(true);
  const before = await fencesOf(of);
  const other = await holder(of);
  await other.hold(1);
  const act = { by: "ada", reason: "to see it again" };
  const rewound = kit.platform.streams.rewind(
    { stream: of.name, consumer: "projector" },
    { to: "start" },
    act,
  );
  await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
  await other.hold(0).catch(nothing); // each waits for the other now: one of them is ended
  await other.end();
  await rewound;
  for (const [at, fence] of (await fencesOf(of)).entries()) expect(fence).toBeGreaterThan(before[at]!);
});

const ownerOf = async ({ name }: TestStream): Promise<string> =>
  (
    await ask<{ owner: string }>(
      kit.platform,
      "select owner_id::text as owner from tuntas.stream_checkpoint c join tuntas.stream s on s.id = c.stream_id where s.name = $1",
      [name],
    )
  )[0]!.owner;

test("who is frozen in the middle of its commit keeps its partitions from nobody: its session is ended; a person's that takes its time is not", async () => {
  const [of, swapped] = [declare({ partitions: 2 }), declare({ partitions: 1 })];
  await using _here = await run(kit, of, { handle: nothing });
  await using _two = await run(kit, swapped, { handle: nothing }, { name: "next", handle: nothing });
  const begun = async (each: TestStream) => (await fencesOf(each)).every((fence) => fence > 0);
  await expect.poll(async () => (await begun(of)) && (await begun(swapped))).toBe(true);
  const before = await fencesOf(of);
  const [working, go] = [gate(), gate()];
  const swap = kit.platform.streams.swap(
    { stream: swapped.name, from: "projector", to: "next" },
    { by: "ada", reason: "it takes its time" },
    () => (working.open(), go.promise),
  );
  await working.promise;
  const frozen = await holder(of);
  await frozen.hold(0);
  await freePartitions(kit.platform.database, [await ownerOf(of)]);
  const after = await fencesOf(of);
  for (const [at, fence] of after.entries()) expect(fence).toBeGreaterThan(before[at]!);
  await expect(frozen.end()).rejects.toThrow();
  go.open();
  await swap;
  const { consumers } = await kit.platform.streams.find(swapped.name);
  expect(consumers.map(({ name }) => name)).toEqual(["next"]);
}, 60_000);

/** What a process was doing that died: it tries the first record of two partitions by itself. */
async function diedTrying(of: TestStream): Promise<string> {
  await kit.platform.streams.declare([of], [declareConsumer(of, { handle: nothing })]);
  await using _appending = await run(kit, of);
  for (const n of upTo(20)) await of.append({ n }, { key: `key ${n}` });
  const [{ id }] = (await ask<{ id: string }>(
    kit.platform,
    `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
     values ('dead', 'here', 1, 'v', tuntas.now(), tuntas.now(), tuntas.now() + interval '1 h') returning id::text`,
  )) as [{ id: string }];
  await ask(
    kit.platform,
    `update tuntas.stream_checkpoint c set owner_id = $2, fence = fence + 1, trying = 0 from tuntas.stream s where s.id = c.stream_id and s.name = $1`,
    [of.name, id],
  );
  return id;
}

const ada = { by: "ada", reason: "meanwhile" };
const name = ({ name: stream }: TestStream) => ({ stream, consumer: "projector" });

test("a record that was tried beside one that a person has taken away meanwhile is not charged with their process's death", async () => {
  const { streams, database } = kit.platform;
  const acts: ((of: TestStream) => Promise<unknown>)[] = [
    (of) => streams.rewind(name(of), { partition: 1, offset: 0 }, ada),
    (of) => streams.rewind(name(of), { to: "end" }, ada),
    (of) => streams.resume(name(of), ada),
  ];
  const stopped = `update tuntas.stream_checkpoint c set stopped_at = tuntas.now() from tuntas.stream s
    where s.id = c.stream_id and s.name = $1 and c.partition = 1`;
  for (const act of acts) {
    const of = declare({ partitions: 2 });
    const dead = await diedTrying(of);
    await ask(kit.platform, stopped, [of.name]);
    await act(of);
    expect((await freePartitions(database, [dead])).fatal).toEqual([]);
  }
  // Another consumer's, which is forgotten with what it had under way.
  const [of, other] = [declare({ partitions: 1 }), declare({ partitions: 1 })];
  const dead = await diedTrying(of);
  const also = await diedTrying(other);
  await ask(kit.platform, `update tuntas.stream_checkpoint set owner_id = $1 where owner_id = $2`, [
    dead,
    also,
  ]);
  await streams.forget(name(other), ada);
  expect((await freePartitions(database, [dead])).fatal).toEqual([]);
  // With nothing beside it, and nobody's act, it is.
  const alone = declare({ partitions: 1 });
  const died = await diedTrying(alone);
  expect((await freePartitions(database, [died])).fatal).toMatchObject([{ offset: 0, attempt: 1 }]);
});
