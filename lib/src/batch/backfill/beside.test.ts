// Backfills beside production: nothing is announced again, the rate is kept by all processes, and what is slow slows them down.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { batch, downstream, queue, stream, worker, workflow } from "../../index.ts";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { channelName } from "../../engine/signals.ts";
import { effect, provider } from "../../ledger/index.ts";
import { add } from "../../outbox/index.ts";
import { inSchema } from "../../pg/join.ts";
import { readBackfillGauges } from "./gauges.ts";
import { openShop, planned } from "./backfill.fixture.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

test("B-22: whatever the handler announces, by whichever way, is kept back and counted; a worker beside it announces as ever", async () => {
  const got: unknown[] = [];
  const deadLetter = { after: 3, owner: "o", runbook: "r", retention: "14d" } as const;
  const notices = queue("notices", { message: z.unknown(), deadLetter });
  const listening = worker(notices, {
    idempotencyKey: "none",
    timeout: "20s",
    handle: (each) => void got.push(each),
  });
  const events = stream("events", {
    record: z.unknown(),
    partitions: 1,
    key: "k",
    retention: "7d",
    owner: "o",
    runbook: "r",
  });
  const letters = workflow("Letters", {
    definition: { StartAt: "A", States: { A: { Type: "Succeed" } } },
    tasks: {},
  });
  const reports = batch("reports", {
    input: z.object({}),
    partitions: () => [{ key: "a" }],
    handle: () => undefined,
    validate: () => [],
    promote: () => undefined,
    staging: { table: "nothing", kept: "1h" },
    retry: { attempts: 1, base: "1s", max: "1s" },
    timeout: "20s",
    concurrency: 1,
    priority: 0,
    runsOn: "anywhere",
    owner: "o",
    runbook: "r",
  });
  const { schema, platform } = shop.kit;
  const announcing = `create function ${schema}.announce() returns trigger language plpgsql as $$ begin
      perform ${schema}.send('notices', '"by trigger"');
      insert into ${schema}.outbox (event_id, target_kind, target_name, payload, created_at, due_at)
        values (gen_random_uuid(), 'queue', 'notices', '"by outbox"', now(), now());
      return null; end $$;
    create trigger announce after update on ${schema}.item for each row when (new.tenant = 'loud') execute function ${schema}.announce()`;
  await shop.sql(announcing);
  await shop.sql(`insert into ${schema}.item (id, tenant, amount) values (-1, 'loud', 1)`);
  const statuses: string[] = [];
  const of = shop.declare({
    async handle(records, { tx }) {
      await tx.query(`update ${schema}.item set fixed = fixed + 1 where id = any($1)`, [
        records.map(({ id }) => id),
      ]);
      const answers = [
        await notices.send("sent"),
        await notices.send("sent in it", { tx }),
        await events.append({}, { key: "k" }),
        await letters.start({}),
        await reports.start({}),
      ];
      statuses.push(...answers.map(({ status }) => status));
      await add(inSchema(tx, schema), { target: notices, payload: '"added"' });
    },
  });
  await shop.begin(of, platform, { notices, listening, events, letters, reports });
  const ended = await shop.go(await shop.ready(of, "loud"));
  expect(ended).toMatchObject({ state: "completed", handled: 1, suppressed: 8 });
  expect(ended.sample).toMatchObject({ handled: 1, suppressed: 8 });
  expect(new Set(statuses)).toEqual(new Set(["suppressed"]));
  await notices.send("as ever");
  await shop.sql(`update ${schema}.item set fixed = 0 where tenant = 'loud'`);
  await expect.poll(() => got.toSorted()).toEqual(["as ever", "by outbox", "by trigger"]);
  expect(await shop.sql(`select 1 from ${schema}.batch_job`)).toEqual([]);
});

test("B-22: a side effect for a record of long ago is refused before it is made", async () => {
  let made = 0;
  const mail = provider({ name: "mail", timeout: "5s", reconcile: { send: "manual" } });
  const of = shop.declare({
    abort: { errorShare: 1, downstream: "600s" },
    async handle(records) {
      const { database } = shop.kit.platform;
      await effect(
        { database, caller: "c", transactionOpen: false } as never,
        { provider: mail, operation: "send", key: String(records[0]!.id), request: {} },
        async () => void made++,
      );
    },
  });
  const tenant = await shop.stock(2);
  await shop.begin(of);
  const ended = await shop.go(await shop.ready(of, tenant));
  expect(ended).toMatchObject({ failed: 2, handled: 0 });
  expect((await shop.backfills.failures(ended.id)).map(({ code }) => code)).toEqual(
    Array(2).fill("TUNTAS_EFFECT_REPLAY"),
  );
  expect(made).toBe(0);
});

test("B-16: two processes together handle no more than the rate that a person has turned it down to", async () => {
  const times: number[] = [];
  const of = shop.declare({
    throttle: { perSecond: 200, slowAbove: { database: "60s", downstream: "60s" } },
    handle: (records, { dryRun }) => {
      if (!dryRun) times.push(...records.map(() => performance.now()));
    },
  });
  const tenant = await shop.stock(150);
  await shop.begin(of);
  await shop.begin(of, await shop.kit.another());
  const id = await shop.ready(of, tenant);
  const tooMany = shop.backfills.setRate(id, 201, planned);
  await expect(tooMany).rejects.toMatchObject({ code: "TUNTAS_BACKFILL_RATE" });
  expect(await shop.backfills.setRate(id, 100, planned)).toMatchObject({ perSecond: 100, leftMs: 1500 });
  const startedAt = performance.now();
  expect(await shop.go(id)).toMatchObject({ state: "completed", handled: 150 });
  // It is paid for before it is taken: at no moment was there more than the rate since the start.
  times.forEach((at, index) => expect(index + 1).toBeLessThanOrEqual(((at - startedAt) / 1000) * 100 + 1));
});

test("B-24 B-21: it takes less while a downstream is slow, says so, takes more when that is well, and stops where it is unbearable", async () => {
  const slowed: { pace: number; downstreamMs: number }[] = [];
  const listen = (message: unknown) => void slowed.push(message as (typeof slowed)[number]);
  subscribe(channelName("backfill.slowed"), listen);
  let tookMs = 60;
  const fees = downstream("fees", { concurrency: 10, timeout: "10s" });
  const slow = {
    concurrency: 1,
    throttle: { perSecond: 100_000, slowAbove: { database: "60s", downstream: "30ms" } },
    abort: { errorShare: 1, downstream: "300ms" },
    handle: (_: unknown, { dryRun }: { dryRun: boolean }) =>
      dryRun ? undefined : fees.call(() => sleep(tookMs)),
  } as const;
  // Small partitions, so that there are many slices.
  const of = shop.declare(slow, 200);
  const tenant = await shop.stock(2000);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  const pace = async () => (await shop.backfills.run(id)).pace;
  await expect.poll(pace, { interval: 20 }).toBeLessThan(0.6);
  expect(slowed[0]).toMatchObject({ pace: expect.closeTo(2 / 3, 5) });
  expect(slowed[0]!.downstreamMs).toBeGreaterThan(30);
  const gauges = await readBackfillGauges(shop.kit.platform.database);
  expect(
    gauges.find(({ name, labels }) => name === "tuntas_backfill_pace_ratio" && labels.backfill === of.name)!
      .value,
  ).toBeLessThan(1);
  tookMs = 0;
  await expect.poll(pace, { interval: 20 }).toBe(1);
  tookMs = 700;
  expect(await shop.backfills.settled(id)).toMatchObject({
    state: "aborted",
    failure: expect.stringContaining("TUNTAS_BACKFILL_DOWNSTREAM"),
  });
  unsubscribe(channelName("backfill.slowed"), listen);
});

test("B-24: it takes less while the database is slow", async () => {
  const { schema } = shop.kit;
  const of = shop.declare({
    concurrency: 1,
    throttle: { perSecond: 50, slowAbove: { database: "150ms", downstream: "60s" } },
  });
  const tenant = await shop.stock(1000);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  // What it writes to the database at the begin of a slice takes long, as everything does on a database that is busy.
  await shop.sql(`create function ${schema}.drag() returns trigger language plpgsql as $$ begin perform pg_sleep(0.4); return new; end $$;
    create trigger drag before update of next_at on ${schema}.backfill_run for each row
      when (new.handled = old.handled and new.state = old.state) execute function ${schema}.drag()`);
  await shop.backfills.say("start", id, planned);
  await expect.poll(async () => (await shop.backfills.run(id)).pace, { interval: 50 }).toBeLessThan(0.7);
  expect((await shop.backfills.run(id)).databaseMs).toBeGreaterThan(150);
  await shop.backfills.say("abort", id, planned);
  await shop.sql(`drop trigger drag on ${schema}.backfill_run`);
});

test("B-19 V-06: a run that stopped by itself is an alarm of its owner", async () => {
  const of = shop.declare({ verify: () => ["it is wrong"] });
  const tenant = await shop.stock(10);
  await shop.begin(of);
  await shop.go(await shop.ready(of, tenant));
  const alarm = async () =>
    (await shop.kit.platform.alarms.list()).find(
      (each) => each.name === "backfill-stopped" && each.subject === of.name,
    );
  for (let part = 0; part < 30 && (await alarm())?.state !== "ALARM"; part++) {
    await shop.kit.advance(10_000);
    await shop.kit.platform.sample();
  }
  expect(await alarm()).toMatchObject({ state: "ALARM", severity: "ticket", owner: "fees-team" });
});
