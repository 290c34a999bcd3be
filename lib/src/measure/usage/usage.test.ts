import { channel } from "node:diagnostics_channel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { alarm, app, queue, start, worker } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { isMoving } from "../changes.ts";
import { readSnapshot } from "../gauges.ts";
import { readUsage, startUsage } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const silent = { warn: () => undefined };
const attempt = (work: string, tenant: string | undefined, durationMs: number) =>
  channel("tuntas.worker.attempt").publish({ queue: work, tenant, durationMs });

const sum = (rows: readonly { readonly uses: number }[]) => rows.reduce((total, { uses }) => total + uses, 0);

test("K-07 what tenants used of a queue sums to all attempts, those without a tenant and those that failed among them", async () => {
  const deadLetter = {
    after: 5,
    owner: "documents",
    runbook: "runbooks/documents.md",
    retention: "14d",
  } as const;
  const document = z.object({ customer: z.string(), fails: z.boolean().default(false) });
  const of = queue("used", { message: document, tenant: ({ customer }) => customer, deadLetter });
  const plain = queue("used-by-nobody", { message: document, deadLetter });
  const handle = ({ fails }: { fails: boolean }, { attempt: nth }: { attempt: number }) => {
    if (fails && nth < 3) throw new Error("not yet");
  };
  const options = {
    idempotencyKey: "none",
    timeout: "5s",
    backoff: { base: "1ms", max: "1ms" },
    handle,
  } as const;
  let attempts = 0;
  const count = (message: unknown) =>
    void (attempts += Number((message as { queue: string }).queue.startsWith("used")));
  channel("tuntas.worker.attempt").subscribe(count);
  const running = await start(app({ of, plain, one: worker(of, options), two: worker(plain, options) }), {
    platform: kit.platform,
  });
  for (let n = 0; n < 30; n++) await of.send({ customer: n % 3 === 0 ? "A" : "B", fails: n === 0 });
  for (let n = 0; n < 5; n++) await plain.send({ customer: "A" });
  await expect.poll(() => attempts).toBe(37);
  channel("tuntas.worker.attempt").unsubscribe(count);
  await running.stop();
  await kit.platform.sample();
  const rows = (await readUsage(kit.platform.database)).map(({ work, tenant, uses }) => [work, tenant, uses]);
  expect(rows.toSorted()).toEqual([
    ["used", "A", 12],
    ["used", "B", 20],
    ["used-by-nobody", "", 5],
  ]);
});

test("what was written and not answered is written again and counted once, with what came meanwhile", async () => {
  const { database } = kit.platform;
  let answers = false;
  const run = async (...given: Parameters<typeof database.run>) => {
    const rows = await database.run(...given);
    if (!answers) throw new Error("the answer was lost");
    return rows as never;
  };
  const usage = startUsage({ database: { run: run as never }, log: silent });
  attempt("unanswered", "A", 500);
  await usage.flush();
  attempt("unanswered", "A", 500);
  await usage.flush();
  answers = true;
  await usage.close();
  expect(await readUsage(database, { work: "unanswered" })).toEqual([
    { work: "unanswered", tenant: "A", uses: 2, seconds: 1 },
  ]);
});

test("what several processes counted is one sum a day, tenant and work; requests are counted beside attempts", async () => {
  await using own = await testPlatform();
  const { database } = own.platform;
  for (let process = 0; process < 2; process++) {
    const usage = startUsage({ database, log: silent });
    for (let n = 0; n < 10; n++) attempt("pool", n < 3 ? "A" : "B", 500);
    attempt("pool", undefined, 250);
    channel("tuntas.http.request").publish({ service: "api", tenant: "A", durationMs: 20 });
    await usage.close();
  }
  const rows = await readUsage(database);
  expect(rows.map(({ seconds, ...row }) => ({ ...row, seconds: Number(seconds.toFixed(6)) }))).toEqual([
    { work: "pool", tenant: "B", uses: 14, seconds: 7 },
    { work: "pool", tenant: "A", uses: 6, seconds: 3 },
    { work: "pool", tenant: "", uses: 2, seconds: 0.5 },
    { work: "http api", tenant: "A", uses: 2, seconds: 0.04 },
  ]);
  expect(sum(await readUsage(database, { work: "pool" }))).toBe(22);
  expect(await readUsage(database, { tenant: "A" })).toHaveLength(2);
  await own.advance(3 * 86_400_000);
  expect(await readUsage(database, { days: 2 })).toEqual([]);
});

test("K-08 N-10 what a tenant has used beyond its budget raises an alarm, and another's budget none", async () => {
  await using own = await testPlatform();
  const budgetOf = (tenant: string) =>
    alarm(`budget-${tenant}`, {
      metric: { name: "tuntas_tenant_used_seconds", labels: { tenant } },
      when: { above: 60 },
      of: [1, 1],
      missing: "ignore",
      period: "10s",
      owner: "documents-team",
      runbook: "runbooks/budget.md",
      notify: [],
    });
  const running = await start(app({ a: budgetOf("acme"), b: budgetOf("other") }), { platform: own.platform });
  const look = async () => {
    for (let round = 0; round < 4; round++) {
      await own.advance(10_000);
      await own.platform.sample();
    }
    const all = await own.platform.alarms.list();
    return Object.fromEntries(
      all.filter(({ name }) => name.startsWith("budget-")).map(({ name, state }) => [name, state]),
    );
  };
  attempt("pool", "acme", 50_000);
  attempt("pool", "other", 50_000);
  attempt("pool", "C", 500_000);
  expect(await look()).toEqual({ "budget-acme": "OK", "budget-other": "OK" });
  attempt("elsewhere", "acme", 20_000);
  expect(await look()).toEqual({ "budget-acme": "ALARM", "budget-other": "OK" });
  const { readings } = await readSnapshot(own.platform.database);
  const used = readings.filter(({ name }) => name === "tuntas_tenant_used_seconds");
  // Once nothing happens any more nobody goes on looking at it.
  expect(isMoving(used)).toBe(false);
  const tenants = used.map(({ labels, value }) => [labels.tenant, value]);
  expect(tenants.toSorted()).toEqual([
    ["acme", 70],
    ["other", 50],
  ]);
  await running.stop();
});

test("what could not be written is written with what comes next, and nothing is written where nothing was used", async () => {
  await using own = await testPlatform();
  const { database } = own.platform;
  let [fails, statements] = [true, 0];
  const flaky = {
    run: (...args: Parameters<typeof database.run>) => (
      statements++,
      fails ? Promise.reject(new Error("gone")) : database.run(...args)
    ),
  };
  const usage = startUsage({ database: flaky as never, log: silent });
  await usage.flush();
  expect(statements).toBe(0);
  attempt("later", "A", 10);
  await usage.flush();
  fails = false;
  attempt("later", "A", 10);
  await usage.close();
  expect(await readUsage(database, { work: "later" })).toMatchObject([{ tenant: "A", uses: 2 }]);
});
