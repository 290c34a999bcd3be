// What processes share about a provider: each `provider(…)` here stands for the one of another process.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runner } from "../../pg/join.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { refusal } from "./contract.ts";
import { effect } from "./effect.ts";
import { makeSharedBreaker } from "./shared-breaker.ts";
import { makeSharedLimit } from "./shared-limit.ts";
import { provider } from "./provider.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const down = () => Promise.reject(Object.assign(new Error("down"), { code: "ECONNREFUSED" }));
const breakerOf = (name: string) => makeSharedBreaker({ name, failures: 3, timeoutMs: 5000 });

/** The database, with a count of what was asked of it. */
function counting(): { sql: Runner; asked: () => number } {
  let count = 0;
  const sql: Runner = { run: (...args) => (count++, kit.platform.database.run(...args)) };
  return { sql, asked: () => count };
}

async function fail(breaker: ReturnType<typeof breakerOf>, sql: Runner, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const leave = await breaker.enter(sql);
    if (leave) await breaker.run(sql, leave, down).catch(() => undefined);
  }
}

test("what one process finds to be down is left alone by all, and one call of one of them tries whether it is back", async () => {
  const { database } = kit.platform;
  const [first, second, third] = [breakerOf("bank"), breakerOf("bank"), breakerOf("bank")];
  await fail(first, database, 3);
  expect(await first.enter(database)).toBeUndefined();
  expect(await second.enter(database)).toBeUndefined();
  await kit.advance(2000); // the time is over by the database's clock; whoever has looked before looks again within a second
  const late = breakerOf("bank");
  const trial = await late.enter(database);
  expect(trial).toEqual({ trial: true });
  expect(await third.enter(database)).toBeUndefined();
  await late.run(database, trial!, async () => "back");
  expect(await breakerOf("bank").enter(database)).toEqual({ trial: false });
});

test("a trial that fails leaves it alone for longer; an answer that is a refusal says that it is back", async () => {
  const { database } = kit.platform;
  const openMs = async () =>
    (
      await database.transaction(
        async (tx) =>
          (
            await tx.client.query(
              `select extract(epoch from open_until - ${kit.schema}.now())::float8 as s from ${kit.schema}.provider where name = 'slow bank'`,
            )
          ).rows,
      )
    )[0].s as number;
  await fail(breakerOf("slow bank"), database, 3);
  expect(await openMs()).toBeLessThanOrEqual(1);
  for (const longer of [1, 2]) {
    await kit.advance(10_000);
    const breaker = breakerOf("slow bank");
    const leave = await breaker.enter(database);
    await breaker.run(database, leave!, down).catch(() => undefined);
    expect(await openMs()).toBeGreaterThan(longer);
  }
  await kit.advance(10_000);
  const breaker = breakerOf("slow bank");
  const refused = breaker.run(database, (await breaker.enter(database))!, () =>
    Promise.reject(refusal("NO", "no")),
  );
  await expect(refused).rejects.toThrow("no");
  expect(await breakerOf("slow bank").enter(database)).toEqual({ trial: false });
});

test("the database is asked once a second while calls are made, not once a call", async () => {
  const { sql, asked } = counting();
  const breaker = breakerOf("busy bank");
  for (let n = 0; n < 200; n++) await breaker.run(sql, (await breaker.enter(sql))!, async () => n);
  expect(asked()).toBeLessThanOrEqual(2);
});

test("one rate for all processes: two that call as fast as they can make no more calls together than one may", async () => {
  const { sql, asked } = counting();
  const perSecond = 20;
  const limits = [makeSharedLimit("rated", perSecond), makeSharedLimit("rated", perSecond)];
  const begun = performance.now();
  const made: number[] = [];
  await Promise.all(
    limits.map(async (limit) => {
      for (let n = 0; n < 30; n++) {
        await limit.throttle(sql, 60_000);
        made.push(performance.now() - begun);
      }
    }),
  );
  // A second's worth at once, the rest at the rate: 60 calls take two seconds at least.
  expect(made).toHaveLength(60);
  expect(Math.max(...made)).toBeGreaterThanOrEqual(1900);
  // Never ahead of the rate; a stall makes calls late, and late ones may come together.
  made.sort((a, b) => a - b);
  made.forEach((atMs, n) => expect(n + 1).toBeLessThanOrEqual(perSecond * (1 + atMs / 1000) + 2));
  expect(asked()).toBeLessThan(30);
});

test("who may not wait so long is told so, and takes nothing away from others", async () => {
  const { database } = kit.platform;
  const limit = makeSharedLimit("tight", 2);
  for (let n = 0; n < 2; n++) await limit.throttle(database, 0);
  await expect(limit.throttle(database, 100)).rejects.toMatchObject({ code: "TUNTAS_EFFECT_THROTTLED" });
  await limit.throttle(database, 5000);
});

test("an effect that meets a provider which another process has found to be down is not made, and leaves no row", async () => {
  const { database } = kit.platform;
  await fail(breakerOf("outage"), database, 3);
  const here = provider({ name: "outage", timeout: "5s", reconcile: { charge: "manual" } });
  const made = effect(
    { database },
    { provider: here, operation: "charge", key: "k", request: {} },
    async () => 1,
  );
  await expect(made).rejects.toMatchObject({ code: "TUNTAS_EFFECT_FAILED", retryable: true });
});
