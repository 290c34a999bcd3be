import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { forgetRates, makeRateGate, type RateGate, type RequestRates } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const silent = { warn: () => undefined };

/** A gate as each process of a service has one, which counts its statements. */
function gateOf(rates: RequestRates, service = "api") {
  let statements = 0;
  const database = {
    run: (...args: Parameters<typeof kit.platform.database.run>) => (
      statements++,
      kit.platform.database.run(...args)
    ),
  };
  const gate = makeRateGate({ database: database as never, log: silent, service, rates });
  return { gate, statements: () => statements };
}

async function admittedOf(gate: RateGate, tenant: string, count: number): Promise<number> {
  const all = await Promise.all(Array.from({ length: count }, () => gate.admit(tenant)));
  return all.filter(({ status }) => status === "admitted").length;
}

test("N-04 over two processes a tenant is admitted its burst once, and then by its rate; another is not held up", async () => {
  const rates = { perSecond: 10, burst: 20, only: { premium: { perSecond: 100 } } };
  const [one, other] = [gateOf(rates), gateOf(rates)];
  // The kit's clock moves for itself too, so that a slow machine may bring a few more.
  const both = await Promise.all([admittedOf(one.gate, "A", 50), admittedOf(other.gate, "A", 50)]);
  const sum = both[0] + both[1];
  expect(sum).toBeGreaterThanOrEqual(20);
  expect(sum).toBeLessThan(30);
  expect(await admittedOf(one.gate, "B", 5)).toBe(5);
  expect(await admittedOf(one.gate, "premium", 80)).toBe(80);
  const anew = gateOf(rates);
  await kit.advance(500);
  const later = await admittedOf(anew.gate, "A", 50);
  expect(later).toBeGreaterThanOrEqual(5);
  expect(later).toBeLessThan(15);
});

test("requests that come together are one statement, and a flood of whoever is refused is none", async () => {
  const { gate, statements } = gateOf({ perSecond: 0.01, burst: 1 }, "flood");
  expect(await admittedOf(gate, "A", 500)).toBe(1);
  expect(statements()).toBe(1);
  const refused = await gate.admit("A");
  expect(refused).toMatchObject({ status: "refused" });
  expect((refused as { againMs: number }).againMs).toBeGreaterThan(90_000);
  expect(await admittedOf(gate, "A", 500)).toBe(0);
  expect(statements()).toBe(1);
});

test("another service counts by itself, and a faster rate does not wait for what a slower one had put off", async () => {
  expect(await admittedOf(gateOf({ perSecond: 0.001, burst: 1 }, "one").gate, "A", 2)).toBe(1);
  expect(await admittedOf(gateOf({ perSecond: 0.001, burst: 1 }, "two").gate, "A", 2)).toBe(1);
  expect(await admittedOf(gateOf({ perSecond: 10, burst: 10 }, "one").gate, "A", 20)).toBe(0);
  await kit.advance(200);
  expect(await admittedOf(gateOf({ perSecond: 10, burst: 10 }, "one").gate, "A", 20)).toBeGreaterThanOrEqual(
    1,
  );
});

test.each([
  ["refuses", () => Promise.reject(new Error("gone"))],
  ["stands still", () => new Promise<never>(() => undefined)],
])("a database that %s holds no request up, and its outage is said once", async (_, run) => {
  const told: string[] = [];
  let isDown = true;
  let statements = 0;
  const { database } = kit.platform;
  const gate = makeRateGate({
    database: {
      run: (...args: Parameters<typeof database.run>) => (
        statements++,
        isDown ? run() : database.run(...args)
      ),
    } as never,
    log: { warn: (_: unknown, text: string) => void told.push(text) } as never,
    service: "outage",
    rates: { perSecond: 0.01, burst: 1 },
  });
  const begun = performance.now();
  for (let turn = 0; turn < 20; turn++) expect(await admittedOf(gate, "A", 10)).toBe(10);
  // Each that waited for it asked it once: as many seconds at most, however slow the machine.
  expect(statements).toBeLessThanOrEqual(2 + Math.floor((performance.now() - begun) / 1000));
  expect(told).toHaveLength(1);
  isDown = false;
  await expect.poll(() => admittedOf(gate, "B", 10), { timeout: 10_000 }).toBeLessThan(10);
  expect(told).toHaveLength(1);
});

test("a request of a tenant that is known leaves nothing in an index: its row stays in its page", async () => {
  const { database } = kit.platform;
  const statementOf = (text: string) => ({ name: `hot_${kit.schema}_${text.length}`, text });
  const [updated] = await database.transaction(async (tx) => {
    for (let n = 0; n < 5; n++)
      await tx.run(
        statementOf(
          `select from ${kit.schema}.admit('hot', array['A'], array[1], array[10::float8], array[10])`,
        ),
        [],
      );
    return tx.run<{ all: number; hot: number }>(
      statementOf(`select pg_stat_get_xact_tuples_updated(t)::int as all, pg_stat_get_xact_tuples_hot_updated(t)::int as hot
        from (select '${kit.schema}.request_rate'::regclass::oid) as r(t)`),
      [],
    );
  });
  expect(updated).toEqual({ all: 5, hot: 5 });
});

test("a rate that is none is refused by name, and who has not asked for an hour is forgotten", async () => {
  const make = (rates: RequestRates) => () => gateOf(rates);
  expect(make({ perSecond: 0 })).toThrow("expected rates.perSecond from 0.001 to 100000, got 0");
  expect(make({ perSecond: 1, burst: 0.5 })).toThrow("expected rates.burst from 1 to 100000, whole, got 0.5");
  expect(make({ perSecond: 1, only: { "a b": { perSecond: 1 } } })).toThrow(/rates.only to name tenants/);
  expect(make({ perSecond: 1, only: { a: { perSecond: -1 } } })).toThrow(/rates.only.a.perSecond/);
  await admittedOf(gateOf({ perSecond: 1 }, "old").gate, "A", 1);
  await kit.advance(3_700_000);
  await forgetRates(kit.platform.database);
  const [row] = await kit.platform.database.run(
    {
      name: `rates_${kit.schema}`,
      text: `select count(*)::int as n from ${kit.schema}.request_rate where service = 'old'`,
    },
    [],
  );
  expect(row).toEqual({ n: 0 });
});
