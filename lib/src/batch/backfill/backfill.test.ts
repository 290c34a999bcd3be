// Backfills as people run them: scope, dry run, approval, start; pauses, windows, aborts, verification, rollback.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approved, openShop, planned } from "./backfill.fixture.ts";
import type { RunVerb } from "./contract.ts";
import { queueNameOf } from "./declaration.ts";
import { canSay, verbs } from "./state.ts";
import { bodyOf } from "./step.ts";

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

test("B-13 B-18 B-19 B-23 B-26: a scope is planned, tried out, approved by another person, run and verified; what is final is left alone and counted", async () => {
  const of = shop.declare({
    verify: async ({ counts, run }) =>
      counts.handled === 900 && run.scope.tenant === tenant ? [] : ["counts"],
  });
  const tenant = await shop.stock(1000, 10);
  await shop.begin(of);
  const { status, runId } = await shop.backfills.plan(of.name, { tenant }, planned);
  expect(status).toBe("created");
  expect(await shop.backfills.settled(runId)).toMatchObject({
    state: "planned",
    partitions: { total: 2, ended: 0 },
    records: 1000,
    leftMs: 10,
  });
  await expect(shop.backfills.say("approve", runId, approved)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_STATE",
  });
  await expect(shop.backfills.say("start", runId, planned)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_STATE",
  });
  await shop.backfills.say("dry-run", runId, planned);
  const tried = await shop.backfills.settled(runId);
  expect(tried).toMatchObject({
    state: "sampled",
    sample: { handled: 180, final: 20, failed: 0, suppressed: 0 },
  });
  expect(tried.sample!.changes).toHaveLength(5);
  expect(await shop.fixed(tenant)).toEqual({ 0: 900 });
  await expect(shop.backfills.say("approve", runId, planned)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_FOUR_EYES",
  });
  expect(await shop.backfills.say("approve", runId, approved)).toMatchObject({
    state: "approved",
    approvedBy: "ben",
  });
  expect(await shop.go(runId)).toMatchObject({
    state: "completed",
    handled: 900,
    final: 100,
    failed: 0,
    read: 1000,
    partitions: { total: 2, ended: 2 },
    leftMs: null,
  });
  expect(await shop.fixed(tenant)).toEqual({ 1: 900 });
  expect(await shop.fixed(tenant, "closed")).toEqual({ 0: 100 });
});

test("B-13 B-15 B-25: no scope, no run; a scope has one run at a time, a backfill one that runs; run again it comes to the same", async () => {
  const of = shop.declare({
    handle: (records, { tx }) =>
      tx.query(`update ${shop.kit.schema}.item set fixed = 7 where id = any($1)`, [
        records.map(({ id }) => id),
      ]),
  });
  const [tenant, other] = [await shop.stock(50), await shop.stock(50)];
  await shop.begin(of);
  await expect(shop.backfills.plan(of.name, undefined, planned)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_SCOPE",
  });
  await expect(shop.backfills.plan("nothing", {}, planned)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_MISSING",
  });
  const wrong = await shop.backfills.plan(of.name, { tenant: 7 }, planned);
  expect(await shop.backfills.settled(wrong.runId)).toMatchObject({
    state: "aborted",
    failure: expect.stringContaining("TUNTAS_BACKFILL_SCOPE"),
  });
  const twins = await Promise.all([1, 2].map(() => shop.backfills.plan(of.name, { tenant }, planned)));
  expect(twins.map(({ status }) => status).toSorted()).toEqual(["created", "duplicate"]);
  expect(twins[0]!.runId).toBe(twins[1]!.runId);
  const id = await shop.ready(of, tenant);
  const second = await shop.ready(of, other);
  const starts = await Promise.allSettled(
    [id, second].map((each) => shop.backfills.say("start", each, planned)),
  );
  const refused = starts.flatMap((each) => (each.status === "rejected" ? [each.reason.code as string] : []));
  // The first may be over already.
  expect([[], ["TUNTAS_BACKFILL_BUSY"]]).toContainEqual(refused);
  expect(await shop.backfills.settled(starts[0]!.status === "fulfilled" ? id : second)).toMatchObject({
    state: "completed",
  });
  const left = await shop.backfills.run(starts[0]!.status === "fulfilled" ? second : id);
  if (left.state === "approved") await shop.go(left.id);
  expect(await shop.go(await shop.ready(of, tenant))).toMatchObject({ state: "completed", handled: 50 });
  expect(await shop.fixed(tenant)).toEqual({ 7: 50 });
});

/** A handler that stops at the gate before its `at`-th call. */
function gated(at: number) {
  let [open, reached] = [(): void => undefined, (): void => undefined];
  const gate = new Promise<void>((resolve) => (open = resolve));
  const arrived = new Promise<void>((resolve) => (reached = resolve));
  let calls = 0;
  return {
    open: () => open(),
    arrived,
    async pass() {
      if (++calls < at) return;
      reached();
      await gate;
    },
  };
}

const fix = (records: readonly { readonly id: unknown }[]) =>
  [
    `update ${shop.kit.schema}.item set fixed = fixed + 1 where id = any($1)`,
    [records.map(({ id }) => id)],
  ] as const;

test("B-14 B-20: paused it rests at its checkpoints, resumed it goes on there", async () => {
  const gate = gated(3);
  const of = shop.declare({
    concurrency: 1,
    async handle(records, { tx, dryRun }) {
      if (!dryRun) await gate.pass();
      const [text, values] = fix(records);
      await tx.query(text, [...values]);
    },
  });
  const tenant = await shop.stock(6000);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  await gate.arrived;
  expect(await shop.backfills.say("pause", id, planned)).toMatchObject({ state: "paused", pause: "person" });
  gate.open();
  // What was under way is finished, and nothing else is begun.
  await expect.poll(() => shop.fixed(tenant)).toMatchObject({ 1: 3000 });
  await shop.kit.advance(60_000);
  expect(await shop.fixed(tenant)).toEqual({ 0: 3000, 1: 3000 });
  const rested = await shop.backfills.partitions(id);
  expect(rested.reduce((sum, { read }) => sum + read, 0)).toBe(3000);
  expect(rested.some(({ checkpoint }) => checkpoint !== null)).toBe(true);
  await shop.backfills.say("resume", id, planned);
  expect(await shop.backfills.settled(id)).toMatchObject({ state: "completed", handled: 6000 });
  expect(await shop.fixed(tenant)).toEqual({ 1: 6000 });
});

test("B-20: a step from before a pause stops nothing when its attempts are at an end", async () => {
  const gate = gated(1);
  const of = shop.declare(
    {
      async handle(records, { tx, dryRun }) {
        if (!dryRun) await gate.pass();
        const [text, values] = fix(records);
        await tx.query(text, [...values]);
      },
    },
    1,
  );
  const tenant = await shop.stock(10);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  await gate.arrived;
  const { schema } = shop.kit;
  // Of the turn before, from a process that has died of it eight times.
  const [message] = await shop.sql(
    `with body as (insert into ${schema}.message (message_id, sent_at, sender, body) values (gen_random_uuid(), now(), 'dead', $2) returning id)
     insert into ${schema}.ready (queue_id, id, receives, sent_at, first_received_at)
     select q.id, b.id, 8, now(), now() from body b, ${schema}.queue q where q.name = $1 returning queue_id, id`,
    [queueNameOf(of.name), bodyOf({ step: "slice", run: id, number: 1, turn: 0 })],
  );
  const there = ["ready", "in_flight"].map(
    (table) => `select from ${schema}.${table} where queue_id = $1 and id = $2`,
  );
  const found = () => shop.sql(there.join(" union all "), [message.queue_id, message.id]);
  await expect.poll(async () => (await found()).length, { interval: 50 }).toBe(0);
  expect(await shop.backfills.run(id)).toMatchObject({ state: "running", failure: null });
  gate.open();
  expect(await shop.backfills.settled(id)).toMatchObject({ state: "completed", handled: 10 });
});

test("B-17: outside its window it pauses by itself, and goes on when that opens", async () => {
  const [{ at }] = (await shop.sql(
    `select to_char(${shop.kit.schema}.now() at time zone 'Asia/Jakarta', 'HH24') as at`,
  )) as [{ at: string }];
  const hour = (plus: number) => `${String((Number(at) + plus) % 24).padStart(2, "0")}:00`;
  const gate = gated(1);
  const of = shop.declare({
    concurrency: 1,
    window: { from: hour(0), to: hour(2), timeZone: "Asia/Jakarta" },
    async handle(records, { tx, dryRun }) {
      if (!dryRun) await gate.pass();
      const [text, values] = fix(records);
      await tx.query(text, [...values]);
    },
  });
  const tenant = await shop.stock(100);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  await gate.arrived;
  await shop.kit.advance(3 * 3_600_000);
  expect(await shop.backfills.run(id)).toMatchObject({ state: "paused", pause: "window" });
  gate.open();
  await expect.poll(() => shop.fixed(tenant)).toEqual({ 0: 50, 1: 50 });
  await shop.kit.advance(21 * 3_600_000 + 1000);
  await expect.poll(async () => (await shop.backfills.run(id)).state).toBe("completed");
  expect(await shop.fixed(tenant)).toEqual({ 1: 100 });
});

test("B-21: with a tenth of the records failing it is aborted, with the reason, and they are named", async () => {
  const of = shop.declare({
    throttle: { perSecond: 500, slowAbove: { database: "60s", downstream: "60s" } },
    concurrency: 1,
    async handle(records, { tx, dryRun }) {
      const [text, values] = fix(records);
      await tx.query(text, [...values]);
      const bad = records.find(({ id }) => id % 10 === 0);
      if (bad && !dryRun) throw Object.assign(new Error(`no fee for ${bad.id}`), { code: "NO_FEE" });
    },
  });
  const tenant = await shop.stock(1000);
  await shop.begin(of);
  const ended = await shop.go(await shop.ready(of, tenant));
  expect(ended).toMatchObject({ state: "aborted", handled: 90, failed: 10 });
  expect(ended.failure).toBe("TUNTAS_BACKFILL_ERRORS: 10 of 100 records failed (10 %), more than 5 %");
  expect(await shop.fixed(tenant)).toEqual({ 0: 910, 1: 90 });
  const failures = await shop.backfills.failures(ended.id);
  expect(failures).toHaveLength(10);
  expect(failures[0]).toMatchObject({ code: "NO_FEE", message: `no fee for ${failures[0]!.record}` });
});

test("B-18: a dry run whose share of failures would abort the run is not to be approved", async () => {
  const of = shop.declare({ handle: () => Promise.reject(new Error("never")) });
  const tenant = await shop.stock(20);
  await shop.begin(of);
  const { runId } = await shop.backfills.plan(of.name, { tenant }, planned);
  await shop.backfills.settled(runId);
  await shop.backfills.say("dry-run", runId, planned);
  expect(await shop.backfills.settled(runId)).toMatchObject({ sample: { handled: 0, failed: 20 } });
  await expect(shop.backfills.say("approve", runId, approved)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_SAMPLE",
  });
});

test("B-26: what is wrong with the result stops it before its end; verified again it is completed", async () => {
  const wrong = ["3 fees are below zero"];
  const of = shop.declare({ verify: () => wrong });
  const tenant = await shop.stock(20);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  expect(await shop.go(id)).toMatchObject({
    state: "paused",
    pause: "trouble",
    failure: "TUNTAS_BACKFILL_UNVERIFIED: 3 fees are below zero",
  });
  wrong.pop();
  await shop.backfills.say("verify", id, planned);
  expect(await shop.backfills.settled(id)).toMatchObject({ state: "completed", failure: null });
  await expect(shop.backfills.say("rollback", id, planned)).rejects.toMatchObject({
    code: "TUNTAS_BACKFILL_ROLLBACK",
  });
});

test("B-26: an aborted run is rolled back from its checkpoint to its beginning, and no further", async () => {
  const gate = gated(3);
  const of = shop.declare({
    concurrency: 1,
    async handle(records, { tx, dryRun }) {
      if (!dryRun) await gate.pass();
      const [text, values] = fix(records);
      await tx.query(text, [...values]);
    },
    rollback: {
      plan: "subtract one again",
      undo: (records, { tx }) =>
        tx.query(`update ${shop.kit.schema}.item set fixed = fixed - 1 where id = any($1)`, [
          records.map(({ id }) => id),
        ]),
    },
  });
  const tenant = await shop.stock(6000);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  await gate.arrived;
  await shop.backfills.say("abort", id, planned);
  gate.open();
  expect(await shop.fixed(tenant)).toEqual({ 0: 4000, 1: 2000 });
  await shop.backfills.say("rollback", id, planned);
  expect(await shop.backfills.settled(id)).toMatchObject({ state: "rolled_back", failed: 0, handled: 2000 });
  expect(await shop.fixed(tenant)).toEqual({ 0: 6000 });
});

test("what says something about the moment, and nothing about a record, is tried again as a whole", async () => {
  let tries = 0;
  const of = shop.declare({
    async handle(records, { tx, dryRun }) {
      const [text, values] = fix(records);
      await tx.query(text, [...values]);
      if (!dryRun && ++tries === 1) throw Object.assign(new Error("too many"), { status: 503 });
    },
  });
  const tenant = await shop.stock(20);
  await shop.begin(of);
  const id = await shop.ready(of, tenant);
  await shop.backfills.say("start", id, planned);
  await expect.poll(async () => (await shop.backfills.run(id)).failure).toMatch(/too many/);
  await shop.kit.advance(60_000);
  await expect.poll(async () => (await shop.backfills.run(id)).state).toBe("completed");
  expect(await shop.fixed(tenant)).toEqual({ 1: 20 });
});

test("B-26: whatever people say in whatever order, a run does what the model allows, and refuses the rest", async () => {
  let isWrong = false;
  const of = shop.declare({
    handle: (records, { tx }) =>
      tx.query(`update ${shop.kit.schema}.item set fixed = 1 where id = any($1)`, [
        records.map(({ id }) => id),
      ]),
    verify() {
      isWrong = !isWrong;
      return isWrong ? ["it is wrong"] : [];
    },
    rollback: { plan: "set it back", undo: () => undefined },
  });
  const tenant = await shop.stock(20);
  await shop.begin(of);
  const plan = async () => (await shop.backfills.plan(of.name, { tenant }, planned)).runId;
  let id = await plan();
  const said = Object.keys(verbs).filter((verb) => verb !== "rate") as Exclude<RunVerb, "rate">[];
  // Each way forward is among them, so that the run gets on.
  const words = fc.sample(fc.constantFrom(...said), 30).flatMap((word, index) => [word, said[index % 3]!]);
  const met = new Set<string>();
  for (const word of words) {
    const { state } = await shop.backfills.settled(id);
    met.add(state);
    const saying = shop.backfills.say(word, id, approved);
    if (canSay(word, state)) await saying;
    else await expect(saying, `${word} at ${state}`).rejects.toMatchObject({ code: "TUNTAS_BACKFILL_STATE" });
    if ((await shop.backfills.settled(id)).state === "rolled_back") id = await plan();
  }
  expect(met.size).toBeGreaterThan(1);
});
