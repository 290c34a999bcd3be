// Batches beside the other rooms: begun by schedules and announcements, told of by the outbox, watched by alarms; and what
// time does to what they leave.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, queue, schedule, start, worker, type RunningApp } from "../index.ts";
import { add } from "../outbox/index.ts";
import { inSchema } from "../pg/join.ts";
import { statement } from "../pg/database.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { readBatchGauges } from "./gauges.ts";
import { batch, type BatchOptions } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.database.transaction(async ({ client }) => {
    await client.query(
      `create table ${kit.schema}.staged (job bigint not null, partition integer not null, n integer)`,
    );
  });
});

const running: RunningApp[] = [];
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await kit[Symbol.asyncDispose]();
});

const by = { by: "ana", reason: "a test" };
const input = z.object({ window: z.object({ start: z.string(), end: z.string() }).optional() });

function declare(more: Partial<BatchOptions<typeof input, { readonly key: string }>> = {}) {
  return batch(`beside-${randomUUID().slice(0, 8)}`, {
    input,
    partitions: () => [{ key: "odd" }, { key: "even" }],
    handle: (_, { tx, job, number }) =>
      tx.query(`insert into ${kit.schema}.staged select $1, $2, generate_series(1, 5)`, [job.id, number]),
    validate: () => [],
    promote: () => undefined,
    staging: { table: `${kit.schema}.staged`, kept: "1h" },
    retry: { attempts: 1, base: "10ms", max: "10ms" },
    timeout: "20s",
    concurrency: 2,
    priority: 0,
    runsOn: "anywhere",
    owner: "numbers-team",
    runbook: "runbooks/numbers.md",
    ...more,
  });
}

async function begin(parts: Parameters<typeof app>[0]): Promise<void> {
  running.push(await start(app(parts), { platform: kit.platform }));
}

const stagedOf = async (job: string) =>
  (
    await kit.platform.database.run(
      statement("select count(*)::int as rows from tuntas.staged where job = $1"),
      [job],
    )
  )[0]!.rows as number;

const settled = async (of: { readonly name: string }) => {
  await expect
    .poll(async () => (await kit.platform.batches.jobs({ batch: of.name })).length)
    .toBeGreaterThan(0);
  return kit.platform.batches.settled((await kit.platform.batches.jobs({ batch: of.name }))[0]!.id);
};

const daily = (target: ReturnType<typeof declare>) =>
  schedule(`daily-${target.name}`, {
    when: "rate(1 day)",
    timeZone: "UTC",
    overlap: "skip",
    catchUp: "skip",
    target,
    succeedsWithin: "1h",
    owner: "numbers-team",
    runbook: "r",
  });

test("a schedule starts a job with its window, once, and its occurrence ends with the job", async () => {
  const good = declare();
  const bad = declare({ validate: () => ["it is wrong"] });
  const [ofGood, ofBad] = [daily(good), daily(bad)];
  await begin({ good, bad, ofGood, ofBad });
  const job = await settled(good);
  expect(job).toMatchObject({ state: "completed", actor: `schedule ${ofGood.name}` });
  expect(JSON.parse(job.input)).toMatchObject({ schedule: ofGood.name, window: { timeZone: "UTC" } });
  await settled(bad);
  const latest = async (name: string) => (await kit.platform.schedules.occurrences(name))[0];
  await expect
    .poll(() => latest(ofGood.name))
    .toMatchObject({
      state: "succeeded",
      reference: job.id,
      recordsWritten: job.rows,
      target: { kind: "batch", name: good.name },
    });
  expect(job.rows).toBeGreaterThan(0);
  await expect
    .poll(() => latest(ofBad.name))
    .toMatchObject({
      state: "failed",
      recordsWritten: null,
      reason: expect.stringMatching(/^failed: TUNTAS_BATCH_INVALID/),
    });
});

test("the end of a job is announced in its commit, and an announcement starts one job however often it comes", async () => {
  const got: unknown[] = [];
  const ends = queue(`ends-${randomUUID().slice(0, 8)}`, {
    message: z.unknown(),
    deadLetter: { after: 3, retention: "14d", owner: "o", runbook: "r" },
  });
  const listening = worker(ends, {
    idempotencyKey: "none",
    timeout: "20s",
    handle: (message) => void got.push(message),
  });
  const of = declare({ announce: ends });
  await begin({ of, ends, listening });
  const eventId = randomUUID();
  const announced = { target: of, eventId, payload: "{}" };
  await kit.platform.database.transaction(async ({ client }) => {
    await add(inSchema(client, kit.schema), announced);
  });
  const job = await settled(of);
  expect(job).toMatchObject({ state: "completed", key: eventId, actor: "outbox" });
  await expect
    .poll(() => got)
    .toEqual([
      {
        batch: of.name,
        job: job.id,
        key: eventId,
        state: "completed",
        failure: null,
        partitions: expect.any(Number),
        failedPartitions: 0,
        rows: expect.any(Number),
      },
    ]);
  const second = await of.start({}, { key: "second" });
  await kit.platform.batches.settled(second.jobId);
  await expect.poll(() => got.length).toBe(2);
});

test("B-07: staged rows are kept as long as the rule says, and those of the current job as long as it is the current one", async () => {
  const timed = declare();
  const current = declare({ staging: { table: `${kit.schema}.staged`, kept: "current" } });
  const failing = declare({ validate: () => ["it is wrong"] });
  await begin({ timed, current, failing });
  const run = async (of: typeof timed, key: string) =>
    kit.platform.batches.settled((await of.start({}, { key })).jobId);
  const jobs = [await run(timed, "a"), await run(current, "a"), await run(failing, "a")] as const;
  const staged = () => Promise.all(jobs.map(({ id }) => stagedOf(id)));
  await kit.platform.batches.sweep();
  expect(await staged()).toEqual([10, 10, 10]);
  const next = await run(current, "b");
  await kit.advance(3_601_000);
  expect(await staged()).toEqual([0, 0, 10]);
  expect(await stagedOf(next.id)).toBe(10);
  await kit.platform.batches.say("cancel", jobs[2].id, by);
  await kit.advance(3_601_000);
  expect(await staged()).toEqual([0, 0, 0]);
  await kit.advance(91 * 86_400_000);
  expect(await kit.platform.batches.jobs({ batch: timed.name })).toMatchObject([{ id: jobs[0].id }]);
  expect(await kit.platform.batches.jobs({ batch: current.name })).toMatchObject([{ id: next.id }]);
  expect(await kit.platform.batches.jobs({ batch: failing.name })).toEqual([]);
});

test("B-09 V-06: a job that failed is an alarm of its owner, and figures say how far one is", async () => {
  const failing = declare({ validate: () => ["it is wrong"] });
  let go!: () => void;
  const gate = new Promise<void>((resolve) => (go = resolve));
  const slow = declare({ handle: ({ key }) => (key === "even" ? gate : undefined) });
  await begin({ failing, slow });
  await kit.platform.batches.settled((await failing.start({})).jobId);
  const { jobId } = await slow.start({});
  await expect.poll(async () => (await kit.platform.batches.job(jobId)).partitions.done).toBe(1);
  const alarm = async () =>
    (await kit.platform.alarms.list()).find(
      (each) => each.name === "batch-failed" && each.subject === failing.name,
    );
  for (let part = 0; part < 30 && (await alarm())?.state !== "ALARM"; part++) {
    await kit.advance(10_000);
    await kit.platform.sample();
  }
  expect(await alarm()).toMatchObject({ state: "ALARM", severity: "ticket", owner: "numbers-team" });
  expect(await readBatchGauges(kit.platform.database)).toEqual(
    expect.arrayContaining([
      { name: "tuntas_batch_progress_ratio", labels: { batch: slow.name }, value: 0.5 },
      { name: "tuntas_batch_partitions", labels: { batch: slow.name, state: "running" }, value: 1 },
      { name: "tuntas_batch_jobs", labels: { batch: failing.name, state: "failed" }, value: 1 },
    ]),
  );
  const job = await kit.platform.batches.job(jobId);
  expect(job.leftMs).toBeGreaterThan(0);
  expect(job.perMinute).toBeGreaterThan(0);
  go();
  expect((await kit.platform.batches.settled(jobId)).state).toBe("completed");
});
