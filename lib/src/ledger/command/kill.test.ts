import { expect, test } from "vitest";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import { testPlatform } from "../../testing/index.ts";
import { once } from "./once.ts";

test("G-03 G-07 G-08 killed at every point, change, announcement and record are all there or all not; a retry completes it once", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const query = (text: string, values: unknown[] = []) =>
    database.transaction((tx) => tx.client.query(text, values));
  await query(`create table ${kit.schema}.changed (key text not null)`);
  const counts = async (key: string) => {
    const { rows } = await query(
      `select (select count(*)::int from ${kit.schema}.changed where key = $1) as changes, (select count(*)::int from ${kit.schema}.outbox where key = $1) as announced,
        (select count(*)::int from ${kit.schema}.command where key = $1) as records`,
      [key],
    );
    return rows[0] as { changes: number; announced: number; records: number };
  };
  const points = await killAtEachStep({
    script: new URL("once.fixture.mjs", import.meta.url),
    args: (step) => [kit.databaseUrl, kit.schema, `k${step}`],
    async check(point, step) {
      const key = `k${step}`;
      const { changes, announced, records } = await counts(key);
      expect([announced, records], point).toEqual([changes, changes]);
      const retry = () =>
        database.transaction((tx) =>
          once(tx, { scope: "kill", key, request: { n: 1 } }, async () => {
            await tx.client.query(`insert into ${kit.schema}.changed (key) values ($1)`, [key]);
            return { key };
          }),
        );
      // The dead process's server session may live for a moment longer; until then the answer is "in progress".
      const answer = await retry().catch(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return retry();
      });
      expect(answer, point).toMatchObject({
        status: changes === 1 ? "duplicate" : "created",
        result: { key },
      });
      expect((await counts(key)).changes, point).toBe(1);
    },
  });
  expect(points).toEqual(expect.arrayContaining(["before commit", "after commit"]));
});
