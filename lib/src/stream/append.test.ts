// The trap of every log in a database: a reader that goes past an offset whose transaction has not committed never sees its
// record. Here appenders hold their transactions open, roll back, and commit in any order, while consumers read.
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gate } from "../queue/worker/worker.fixture.ts";
import { inSchema } from "../pg/join.ts";
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
const pools: pg.Pool[] = [];
beforeAll(async () => {
  kit = await testPlatform();
  await makeTable(kit);
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await kit[Symbol.asyncDispose]();
});

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<"commit" | "rollback">) {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query(await work(client));
  } finally {
    client.release();
  }
}

function openPool(max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: kit.databaseUrl, max });
  pools.push(pool);
  return pool;
}

const appendIn = (of: TestStream, client: pg.ClientBase, n: number, key: string) =>
  of.append({ n }, { key, tx: inSchema(client as never, kit.schema) });

test("Y-01: a record of a transaction that is open holds nobody up, and is read once it commits, though later ones were", async () => {
  const of = declare({ partitions: 1 });
  await using running = await run(kit, of, { handle: insertInto(kit) });
  const [appended, go] = [gate(), gate()];
  const slow = inTransaction(openPool(1), async (client) => {
    expect(await appendIn(of, client, 0, "slow")).toEqual({
      status: "created",
      partition: 0,
      offset: undefined,
    });
    appended.open();
    await go.promise;
    return "commit";
  });
  await appended.promise;
  for (const n of [1, 2]) expect(await of.append({ n }, { key: "fast" })).toMatchObject({ offset: n - 1 });
  await running.handled(2);
  go.open();
  await slow;
  await running.handled(3);
  expect((await effects(kit, of)).map(({ id, n }) => [id.split("/")[2], n])).toEqual([
    ["0", 1],
    ["1", 2],
    ["2", 0],
  ]);
});

test("what a transaction has appended comes before what is appended after its commit, whichever way", async () => {
  const of = declare({ partitions: 1 });
  await using _running = await run(kit, of);
  const pool = openPool(1);
  for (const n of upTo(6)) {
    if (n % 2 === 1) await of.append({ n }, { key: "k" });
    else await inTransaction(pool, (client) => appendIn(of, client, n, "k").then(() => "commit"));
  }
  await using reader = await run(kit, of, { handle: insertInto(kit) });
  await reader.handled(6);
  expect((await effects(kit, of)).map(({ n }) => n)).toEqual(upTo(6));
});

test("what is rolled back was never there, and leaves no gap", async () => {
  const of = declare({ partitions: 1 });
  await using running = await run(kit, of, { handle: insertInto(kit) });
  const pool = openPool(1);
  await inTransaction(pool, (client) => appendIn(of, client, 0, "k").then(() => "rollback"));
  await of.append({ n: 1 }, { key: "k" });
  await running.handled(1);
  expect(await effects(kit, of)).toMatchObject([{ n: 1, id: `${of.name}/0/0` }]);
});

test("Y-01 Y-02: however transactions overlap, roll back and commit, each committed record is read once, in one unbroken order", async () => {
  const writers = 6;
  const pool = openPool(writers);
  const step = fc.record({
    inTransaction: fc.boolean(),
    rollsBack: fc.boolean(),
    others: fc.integer({ min: 0, max: 3 }),
  });
  const plan = fc.array(fc.array(step, { minLength: 4, maxLength: 10 }), {
    minLength: writers,
    maxLength: writers,
  });
  await fc.assert(
    fc.asyncProperty(plan, async (all) => {
      const of = declare({ partitions: 3 });
      await using running = await run(kit, of, { batch: 7, handle: insertInto(kit) });
      const committed: Record<string, number[]> = {};
      const write = async (steps: (typeof all)[number], writer: number) => {
        const key = `writer ${writer}`;
        const kept: number[] = (committed[key] = []);
        for (const [n, each] of steps.entries()) {
          if (!each.inTransaction) await of.append({ n }, { key });
          else
            await inTransaction(pool, async (client) => {
              await appendIn(of, client, n, key);
              // Open while others commit.
              for (const _ of upTo(each.others)) await client.query("select 1");
              return each.rollsBack ? "rollback" : "commit";
            });
          if (!each.inTransaction || !each.rollsBack) kept.push(n);
        }
      };
      await Promise.all(all.map(write));
      const count = Object.values(committed).flat().length;
      await running.handled(count);
      const rows = await effects(kit, of);
      const expected = Object.fromEntries(Object.entries(committed).filter(([, kept]) => kept.length > 0));
      expect(byKey(rows)).toEqual(expected);
      for (const partition of upTo(3)) {
        const own = rows.filter(({ id }) => id.split("/")[1] === String(partition));
        expect(own.map(({ id }) => Number(id.split("/")[2]))).toEqual(upTo(own.length));
      }
    }),
    { numRuns: 8 },
  );
});
