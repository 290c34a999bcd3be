import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { shareCommits } from "./share.ts";

let kit: TestPlatform;

beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.database.transaction(({ client }) =>
    client.query(`create table ${kit.schema}.n (n integer primary key)`),
  );
});
afterAll(() => kit[Symbol.asyncDispose]());

const adder = () => {
  const sizes: number[] = [];
  const add = shareCommits(kit.platform.database, {
    async run({ client }, items: readonly number[]) {
      sizes.push(items.length);
      await client.query(`insert into ${kit.schema}.n select unnest($1::int[])`, [items as number[]]);
      return items.map((item) => item * 10);
    },
  });
  return { add, sizes };
};

test("items that come together share one commit, and each gets its own result", async () => {
  const { add, sizes } = adder();
  expect(await Promise.all([1, 2, 3].map(add))).toEqual([10, 20, 30]);
  expect(sizes).toEqual([3]);
});

test("one item that fails does not make the others fail", async () => {
  const { add } = adder();
  const settled = await Promise.allSettled([4, 1, 5].map(add));
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
