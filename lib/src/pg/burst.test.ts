import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { askRows, burst, runBurst } from "./burst.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

async function withTable(
  work: (client: Awaited<ReturnType<typeof connect>>) => Promise<void>,
): Promise<void> {
  const client = await connect();
  try {
    await client.query("create temporary table pg_temp.t (i int primary key deferrable initially deferred)");
    await work(client);
  } finally {
    await client.query("discard temp");
    client.release();
  }
}
const connect = () => kit.platform.database.handlerClient();

const insert = "insert into pg_temp.t values ($1)";
const rows = async (client: Awaited<ReturnType<typeof connect>>) =>
  (await client.query("select i from pg_temp.t order by i")).rows.map(({ i }) => i);

test("statements run in order in one round trip, and the last one's tag comes back", () =>
  withTable(async (client) => {
    const adds = [1, 2, 3].map((i) => ({ text: insert, values: [i] }));
    const raise = { text: "update pg_temp.t set i = i + $1::int", values: [10] };
    expect(await runBurst(client, [{ text: "begin" }, ...adds, raise, { text: "commit" }])).toBe("COMMIT");
    expect(await rows(client)).toEqual([11, 12, 13]);
  }));

test("what stands behind a failure does not run, and the connection goes on", () =>
  withTable(async (client) => {
    const begin = [{ text: "begin" }, { name: "burst_test_one", text: insert, values: [1] }];
    const sent = runBurst(client, [
      ...begin,
      { text: "select 1 / $1::int", values: [0] },
      { text: "commit" },
    ]);
    await expect(sent).rejects.toMatchObject({ code: "22012" });
    await client.query("rollback");
    expect(await rows(client)).toEqual([]);
    expect(await runBurst(client, [...begin, { text: "commit" }])).toBe("COMMIT");
    expect(await runBurst(client, [{ name: "burst_test_one", text: insert, values: [2] }])).toBe(
      "INSERT 0 1",
    );
    expect(await rows(client)).toEqual([1, 2]);
  }));

test("a value that cannot be sent, and a commit that fails, reject", () =>
  withTable(async (client) => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const unsendable = [{ text: "begin" }, { text: insert, values: [cycle] }, { text: "commit" }];
    await expect(runBurst(client, unsendable)).rejects.toThrow(/circular/i);
    await client.query("rollback");
    const twice = [1, 1].map((i) => ({ text: insert, values: [i] }));
    const failing = runBurst(client, [{ text: "begin" }, ...twice, { text: "commit" }]);
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await rows(client)).toEqual([]);
  }));

test("a text that comes first without a name and then with one is not taken for known under it", () =>
  withTable(async (client) => {
    const name = "burst_test_two";
    const mixed = [
      { text: insert, values: [1] },
      { name, text: insert, values: [2] },
    ];
    await runBurst(client, mixed);
    await runBurst(client, [{ name, text: insert, values: [3] }]);
    await client.query({ name, text: insert, values: [4] });
    expect(await rows(client)).toEqual([1, 2, 3, 4]);
  }));

test("what is sent again and again answers with its columns each time, rows or none, and after a failure", () =>
  withTable(async (client) => {
    const read = {
      name: "burst_test_three",
      text: "select i, i / $1::int as part from pg_temp.t order by i",
    };
    const ask = (by: number) => burst(client, [{ ...read, values: [by], rows: {} }]);
    const names = ({ results: [result] }: Awaited<ReturnType<typeof ask>>) =>
      result!.fields.map(({ name }) => name);
    expect(names(await ask(1))).toEqual(["i", "part"]);
    expect(names(await ask(1))).toEqual(["i", "part"]);
    await client.query("insert into pg_temp.t values (4), (6)");
    const [failed, behind, last] = await Promise.all([ask(0), ask(2), ask(3)]);
    expect(failed.failure?.cause).toMatchObject({ code: "22012" });
    expect(behind.results[0]!.rows).toEqual([
      { i: 4, part: 2 },
      { i: 6, part: 3 },
    ]);
    expect(last.results[0]!.rows).toEqual([
      { i: 4, part: 1 },
      { i: 6, part: 2 },
    ]);
    expect(await askRows(client, { ...read, values: [6] })).toEqual([
      { i: 4, part: 0 },
      { i: 6, part: 1 },
    ]);
  }));

test("the same name gives rows where they are wanted, and none where they are not", () =>
  withTable(async (client) => {
    const add = { name: "burst_test_four", text: "insert into pg_temp.t values ($1) returning i" };
    const without = await burst(client, [{ ...add, values: [1] }]);
    const wanted = await burst(client, [
      { ...add, values: [2], rows: {} },
      { ...add, values: [3] },
      { ...add, values: [4], rows: { rowMode: "array" } },
    ]);
    expect(without.results).toEqual([]);
    expect(wanted.results.map(({ rows: given }) => given)).toEqual([[{ i: 2 }], [[4]]]);
  }));

test("values arrive as they were, however large, and whatever stood before them", () =>
  withTable(async (client) => {
    const text = "select $1::text as text, $2::bytea as bytes, $3::text as nothing";
    for (const length of [1, 20_000, 3_000_000, 1]) {
      const values = ["é€😀".repeat(length), Buffer.alloc(length, 7), null];
      const [row] = (await askRows(client, { text, values })) as {
        text: string;
        bytes: Buffer;
        nothing: null;
      }[];
      expect([row!.text === values[0], row!.bytes.equals(values[1] as Buffer), row!.nothing]).toEqual([
        true,
        true,
        null,
      ]);
    }
  }));
