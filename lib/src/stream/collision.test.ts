// What a person or a take-over does to checkpoints while others hold them: it is done again, or without those.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { freePartitions } from "./store/deaths.ts";
import { declare, run, type TestStream } from "./stream.fixture.ts";

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

test("a partition whose owner is frozen in the middle of its commit keeps nobody else's from being taken over", async () => {
  const of = declare({ partitions: 2 });
  await using _here = await run(kit, of, { handle: nothing });
  await expect.poll(async () => (await fencesOf(of)).every((fence) => fence > 0)).toBe(true);
  const before = await fencesOf(of);
  const [{ owner }] = (await ask<{ owner: string }>(
    kit.platform,
    "select owner_id::text as owner from tuntas.stream_checkpoint c join tuntas.stream s on s.id = c.stream_id where s.name = $1",
    [of.name],
  )) as [{ owner: string }];
  const frozen = await holder(of);
  await frozen.hold(0);
  await freePartitions(kit.platform.database, [owner]);
  const after = await fencesOf(of);
  await frozen.end();
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBeGreaterThan(before[1]!);
});
