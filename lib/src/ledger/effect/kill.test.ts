import { afterAll, beforeAll, expect, test } from "vitest";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { effect } from "./effect.ts";
import { provider } from "./provider.ts";
import { findEffect } from "./store.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.ledger.close();
  await query(`create table ${kit.schema}.charge (key text not null)`);
});
afterAll(() => kit[Symbol.asyncDispose]());

async function query(text: string, values: unknown[] = []): Promise<any[]> {
  const client = await kit.platform.database.handlerClient();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    client.release();
  }
}

const charges = (key: string) => query(`select key from ${kit.schema}.charge where key = $1`, [key]);

test("G-16 G-17 G-18 killed at every point, the row tells the truth and the provider is charged once", async () => {
  const { database } = kit.platform;
  const bank = provider({
    name: "bank",
    timeout: "5s",
    reconcile: {
      charge: async ({ key }) =>
        (await charges(key)).length > 0
          ? { state: "succeeded", response: { receipt: `r-${key}` } }
          : { state: "absent" },
    },
  });
  const points = await killAtEachStep({
    script: new URL("effect.fixture.mjs", import.meta.url),
    args: (step) => [kit.databaseUrl, kit.schema, `k${step}`],
    async check(point, step) {
      const key = `k${step}`;
      const row = await findEffect(database, { provider: "bank", operation: "charge", key });
      if ((await charges(key)).length > 0) expect(row?.state, point).toMatch(/pending|succeeded/);
      if (row?.state === "succeeded") expect(await charges(key), point).toHaveLength(1);
      await kit.advance(11_000);
      const again = async () => {
        await query(`insert into ${kit.schema}.charge (key) values ($1)`, [key]);
        return { receipt: `r-${key}` };
      };
      const answer = await effect(
        { database },
        { provider: bank, operation: "charge", key, request: { amount: 5 } },
        again,
      );
      expect(answer.response, point).toEqual({ receipt: `r-${key}` });
      expect(await charges(key), point).toHaveLength(1);
    },
  });
  expect(points).toEqual(expect.arrayContaining(["before the call", "after the call"]));
});
