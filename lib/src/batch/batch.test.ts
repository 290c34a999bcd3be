// Batches with the real queue, the real worker and the database.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { poison, rejected } from "../core/outcome.ts";
import { app, start, type RunningApp } from "../index.ts";
import { statement } from "../pg/database.ts";
import { inSchema } from "../pg/join.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { batch, type BatchOptions, type PartitionContext } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.database.transaction(async ({ client }) => {
    await client.query(
      `create table ${kit.schema}.staged (job bigint not null, partition integer not null, n integer)`,
    );
    await client.query(`create table ${kit.schema}.final (name text, n integer)`);
  });
});

const running: RunningApp[] = [];
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await kit[Symbol.asyncDispose]();
});

const ask = (text: string, values: unknown[] = []) =>
  kit.platform.database.run<Record<string, any>>(statement(text), values);
const by = { by: "ana", reason: "a test" };
const input = z.object({ parts: z.number(), of: z.string().optional() });
type Part = { readonly key: string; readonly from: number };
type Handle = (part: Part, context: PartitionContext<any>) => unknown;

const stage: Handle = ({ from }, { job, number, tx }) =>
  tx.query(`insert into ${kit.schema}.staged select $1, $2, n from generate_series($3::int, $3::int + 9) n`, [
    job.id,
    number,
    from,
  ]);

const partsOf = ({ parts }: { readonly parts: number }): Part[] =>
  Array.from({ length: parts }, (_, index) => ({ key: `part-${index + 1}`, from: index * 10 }));

/** After a plan that took so long nothing is held ahead: what does not run lies in the queue. */
const slowly = async (given: { readonly parts: number }) => {
  await setTimeout(100);
  return partsOf(given);
};

/** A batch of its own, whose parts stage ten numbers each, or do what they are told. */
function declare(handle: Handle = stage, more: Partial<BatchOptions<typeof input, Part>> = {}) {
  return batch(`numbers-${randomUUID().slice(0, 8)}`, {
    input,
    partitions: partsOf,
    handle,
    validate: () => [],
    promote: ({ job, tx }) =>
      tx.query(`insert into ${kit.schema}.final select $2, n from ${kit.schema}.staged where job = $1`, [
        job.id,
        job.batch,
      ]),
    staging: { table: `${kit.schema}.staged`, kept: "1h" },
    retry: { attempts: 2, base: "10ms", max: "20ms" },
    timeout: "20s",
    concurrency: 4,
    priority: 0,
    runsOn: "anywhere",
    owner: "numbers-team",
    runbook: "runbooks/numbers.md",
    ...more,
  });
}

async function begin<T extends ReturnType<typeof declare>>(definition: T): Promise<T> {
  running.push(await start(app({ definition }), { platform: kit.platform }));
  return definition;
}

/** Starts a job and waits for what becomes of it. */
async function runJob(of: ReturnType<typeof declare>, parts: number) {
  const { jobId } = await of.start({ parts });
  return kit.platform.batches.settled(jobId);
}

const finalOf = async (name: string) =>
  (
    await ask("select count(*)::int as rows, count(distinct n)::int as n from tuntas.final where name = $1", [
      name,
    ])
  )[0];
const stagedOf = async (job: string) =>
  (await ask("select count(*)::int as rows from tuntas.staged where job = $1", [job]))[0]!.rows as number;

/** What lies in the batch's queue and nobody has received. */
const queuedOf = async (name: string) =>
  (
    await ask(
      `select count(*)::int as n from tuntas.queue q join (select queue_id from tuntas.ready union all select queue_id from tuntas.delayed) w
         on w.queue_id = q.id where q.name = $1`,
      [`batch-${name}`],
    )
  )[0]!.n as number;

/** A gate that handlers wait at, and how many have come to it. */
function gate() {
  let open!: () => void;
  let came = 0;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    open,
    came: () => came,
    pass: (signal?: AbortSignal) => {
      came++;
      const aborted = new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error)),
      );
      return Promise.race([opened, aborted]);
    },
  };
}

test("B-01 B-02 B-05 B-09 B-11 O-17: what is staged in partitions is promoted by one manifest, and all of it is on record", async () => {
  const of = await begin(declare());
  const job = await runJob(of, 20);
  expect(job).toMatchObject({
    state: "completed",
    failure: null,
    rows: 200,
    partitions: { total: 20, done: 20, pending: 0, running: 0, failed: 0, cancelled: 0 },
    manifest: { partitions: 20, rows: 200, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    planHash: expect.any(String),
    leftMs: null,
  });
  expect(await finalOf(of.name)).toEqual({ rows: 200, n: 200 });
  const parts = await kit.platform.batches.partitions(job.id);
  expect(parts.map(({ key }) => key)).toEqual(Array.from({ length: 20 }, (_, index) => `part-${index + 1}`));
  expect(
    parts.every(
      ({ state, rows, hash, attempts }) => state === "done" && rows === 10 && hash && attempts === 1,
    ),
  ).toBe(true);
  expect(parts[0]!.hash).not.toBe(parts[1]!.hash);
  const rest = await kit.platform.batches.partitions(job.id, { after: 18, limit: 5 });
  expect(rest.map(({ number }) => number)).toEqual([19, 20]);
  expect(job.movedAtMs).toBe(job.endedAtMs);
  expect(await kit.platform.batches.jobs({ batch: of.name, before: job.id })).toEqual([]);
});

test("B-01: one input is planned to one list, and a list that another call makes otherwise is refused", async () => {
  const of = await begin(declare());
  const [first, second] = [
    await of.start({ parts: 3 }, { key: "a" }),
    await of.start({ parts: 3 }, { key: "b" }),
  ];
  const jobs = await Promise.all([first, second].map(({ jobId }) => kit.platform.batches.settled(jobId)));
  expect(jobs[0]!.planHash).toBe(jobs[1]!.planHash);
  for (const [partitions, why] of [
    [() => [{ key: randomUUID(), from: 0 }], /not the same list/],
    [() => [], /expected 1 to 10000 partitions, got 0/],
    [
      () => [
        { key: "a", from: 0 },
        { key: "a", from: 1 },
      ],
      /partition 2: the key "a" was there before/,
    ],
    [() => [{ from: 0 } as Part], /partition 1: expected a key/],
    [() => "x" as never, /expected a list/],
    [() => [{ key: "a", from: 0, note: "\0" }], undefined],
  ] as const) {
    const job = await runJob(await begin(declare(stage, { partitions })), 1);
    if (why)
      expect(job).toMatchObject({ state: "failed", failure: expect.stringMatching(why), planHash: null });
    else expect(job.state).toBe("completed"); // JSON escapes it
  }
});

test("B-04 B-06: while a job runs and when it has failed, the final place is empty", async () => {
  const at = gate();
  const of = await begin(
    declare(async (part, context) => {
      await stage(part, context);
      if (context.number > 2) await at.pass();
    }),
  );
  const { jobId } = await of.start({ parts: 3 });
  await expect.poll(async () => (await kit.platform.batches.job(jobId)).partitions.done).toBe(2);
  expect(await stagedOf(jobId)).toBe(20);
  expect(await finalOf(of.name)).toEqual({ rows: 0, n: 0 });
  at.open();
  await kit.platform.batches.settled(jobId);
  expect(await finalOf(of.name)).toEqual({ rows: 30, n: 30 });
});

test("B-03 B-07 B-11: one of 20 fails; it is named with its reason, and only that one is tried again", async () => {
  let broken = true;
  const calls: string[] = [];
  const of = await begin(
    declare((part, context) => {
      calls.push(part.key);
      if (broken && part.key === "part-7")
        throw Object.assign(new Error("no such region"), { code: "REGION" });
      return stage(part, context);
    }),
  );
  const job = await runJob(of, 20);
  expect(job).toMatchObject({
    state: "failed",
    failure: "1 failed; part-7: REGION: no such region",
    partitions: { done: 19, failed: 1 },
    manifest: null,
  });
  expect(calls.filter((key) => key === "part-7").length).toBe(2);
  const before = await kit.platform.batches.partitions(job.id);
  expect(before.find(({ key }) => key === "part-7")).toMatchObject({
    state: "failed",
    attempts: 2,
    failureCode: "REGION",
    failureMessage: "no such region",
  });
  broken = false;
  calls.length = 0;
  await kit.platform.batches.say("retry", job.id, by);
  expect(await kit.platform.batches.settled(job.id)).toMatchObject({ state: "completed", rows: 200 });
  expect(calls).toEqual(["part-7"]);
  const untouched = (parts: typeof before) => parts.filter(({ key }) => key !== "part-7");
  expect(untouched(await kit.platform.batches.partitions(job.id))).toEqual(untouched(before));
  expect(await finalOf(of.name)).toEqual({ rows: 200, n: 200 });
});

test("a partition that is refused, that can never succeed, or whose statement fails says why, and the first two are tried once", async () => {
  const of = await begin(
    declare(({ key }, { write }) => {
      if (key === "part-1") throw rejected({ code: "CLOSED", message: "the year is closed" });
      if (key === "part-2") return poison({ code: "BAD_LINE", message: "line 7" });
      write("insert into nowhere values (1)");
    }),
  );
  const job = await runJob(of, 3);
  expect(job.failure).toBe("3 failed; part-1: CLOSED: the year is closed");
  expect(
    (await kit.platform.batches.partitions(job.id)).map((each) => [each.failureCode, each.attempts]),
  ).toEqual([
    ["CLOSED", 1],
    ["BAD_LINE", 1],
    ["42P01", 2],
  ]);
});

test("what a handler writes both ways is one commit with the end of its partition, and nothing of a failed attempt is left", async () => {
  const of = await begin(
    declare(async (part, context) => {
      const { job, number, attempt } = context;
      await stage(part, context);
      context.write(`insert into ${kit.schema}.staged values ($1, $2, $3)`, [
        job.id,
        number,
        1000 + part.from,
      ]);
      if (attempt === 1) throw new Error("once more");
    }),
  );
  const job = await runJob(of, 2);
  expect(job).toMatchObject({ state: "completed", rows: 22 });
  expect(await finalOf(of.name)).toEqual({ rows: 22, n: 22 });
});

test("an attempt that is too slow is aborted and tried again, and says so where it was the last", async () => {
  const signals: AbortSignal[] = [];
  const of = await begin(
    declare(
      async (part, context) => {
        signals.push(context.signal);
        if (context.attempt === 1 || part.key === "part-2") await gate().pass(context.signal);
        await stage(part, context);
      },
      { timeout: "300ms" },
    ),
  );
  const job = await runJob(of, 2);
  expect(job).toMatchObject({ state: "failed", partitions: { done: 1, failed: 1 } });
  expect(job.failure).toMatch(/part-2: TUNTAS_ATTEMPT_TIMEOUT/);
  expect(signals.filter(({ aborted }) => aborted).length).toBe(3);
});

test("B-05: what is found invalid, or was changed after its partition ended, is not promoted; a retry validates it again", async () => {
  let findings: string[] = ["the sum of part-2 is negative"];
  const of = await begin(declare(stage, { validate: () => findings }));
  const job = await runJob(of, 2);
  expect(job).toMatchObject({
    state: "failed",
    failure: expect.stringMatching(/TUNTAS_BATCH_INVALID: .*negative/),
  });
  findings = [];
  await ask("update tuntas.staged set n = 5000 where job = $1 and partition = 2 and n = 10", [job.id]);
  await kit.platform.batches.say("retry", job.id, by);
  expect((await kit.platform.batches.settled(job.id)).failure).toMatch(
    /partition part-2: its staged rows were changed/,
  );
  await ask("update tuntas.staged set n = 10 where job = $1 and partition = 2 and n = 5000", [job.id]);
  expect(await finalOf(of.name)).toEqual({ rows: 0, n: 0 });
  await kit.platform.batches.say("retry", job.id, by);
  expect(await kit.platform.batches.settled(job.id)).toMatchObject({ state: "completed", failure: null });
});

test("a promotion that fails is tried again and then left to a person, with nothing of it written", async () => {
  let broken = true;
  const { options } = declare();
  const of = await begin(
    declare(stage, {
      async promote(context) {
        await options.promote({ ...context, job: { ...context.job, batch: of.name } });
        if (broken) throw new Error("the view is gone");
      },
    }),
  );
  const job = await runJob(of, 2);
  expect(job).toMatchObject({ state: "failed", failure: "Error: the view is gone", manifest: null });
  expect(await finalOf(of.name)).toEqual({ rows: 0, n: 0 });
  broken = false;
  await kit.platform.batches.say("retry", job.id, by);
  expect((await kit.platform.batches.settled(job.id)).state).toBe("completed");
  expect(await finalOf(of.name)).toEqual({ rows: 20, n: 20 });
});

test("B-10: a cancelled job stops its workers and promotes nothing, and its input may be started again", async () => {
  const at = gate();
  const stopped: unknown[] = [];
  const handle: Handle = async (part, context) => {
    await stage(part, context);
    await at.pass(context.signal).catch((cause: unknown) => stopped.push(cause));
  };
  const of = await begin(declare(handle, { partitions: slowly }));
  const { jobId } = await of.start({ parts: 10 });
  await expect.poll(at.came).toBe(4);
  expect(await queuedOf(of.name)).toBeGreaterThan(0);
  const job = await kit.platform.batches.say("cancel", jobId, by);
  expect(job).toMatchObject({ state: "cancelled", partitions: { cancelled: 10 }, manifest: null });
  expect(await queuedOf(of.name)).toBe(0);
  await expect.poll(() => stopped.length).toBe(4);
  await expect
    .poll(() => running.flatMap((each) => each.active()).every((each) => each.running === 0))
    .toBe(true);
  expect(await stagedOf(jobId)).toBe(0);
  expect(await finalOf(of.name)).toEqual({ rows: 0, n: 0 });
  await expect(kit.platform.batches.say("cancel", jobId, by)).rejects.toMatchObject({
    code: "TUNTAS_BATCH_STATE",
  });
  at.open();
  const again = await of.start({ parts: 10 });
  expect(again.status).toBe("created");
  expect((await kit.platform.batches.settled(again.jobId)).state).toBe("completed");
});

test("B-10: a job that is cancelled elsewhere stops here at the next beat", async () => {
  const other = await kit.another({ watches: false });
  let signal: AbortSignal | undefined;
  const of = await begin(
    declare(async (_, context) => {
      signal = context.signal;
      await gate().pass(context.signal);
    }),
  );
  const { jobId } = await of.start({ parts: 1 });
  await expect.poll(() => signal).toBeDefined();
  await other.batches.say("cancel", jobId, by);
  await expect.poll(() => signal!.aborted).toBe(true);
});

test("B-20: while it is paused nothing more is begun, and what runs ends; resumed, it goes on where it was", async () => {
  const at = gate();
  const calls: string[] = [];
  const of = await begin(
    declare(
      async (part, context) => {
        calls.push(part.key);
        await stage(part, context);
        await at.pass();
      },
      { concurrency: 2 },
    ),
  );
  const { jobId } = await of.start({ parts: 6 });
  await expect.poll(at.came).toBe(2);
  await kit.platform.batches.say("pause", jobId, by);
  at.open();
  await expect
    .poll(async () => (await kit.platform.batches.job(jobId)).partitions)
    .toMatchObject({ done: 2, pending: 4, running: 0 });
  expect(await kit.platform.batches.settled(jobId)).toMatchObject({ state: "paused" });
  // A later message of the queue has been through, so those of the partitions have been as well.
  const { jobId: next } = await of.start({ parts: 1 });
  expect((await kit.platform.batches.settled(next)).state).toBe("completed");
  expect(calls.filter((key) => key !== "part-1").length).toBe(1);
  await kit.platform.batches.say("resume", jobId, by);
  expect(await kit.platform.batches.settled(jobId)).toMatchObject({ state: "completed", rows: 60 });
  expect(calls.toSorted()).toEqual(["part-1", "part-1", "part-2", "part-3", "part-4", "part-5", "part-6"]);
});

test("B-20: a partition whose attempt fails while its job is paused waits for the resumption, and is then worked on once", async () => {
  const at = gate();
  let calls = 0;
  const of = await begin(
    declare(async (part, context) => {
      if (++calls === 1) await at.pass().then(() => Promise.reject(new Error("once more")));
      await stage(part, context);
    }),
  );
  const { jobId } = await of.start({ parts: 1 });
  await expect.poll(at.came).toBe(1);
  await kit.platform.batches.say("pause", jobId, by);
  at.open();
  await expect
    .poll(async () => (await kit.platform.batches.partitions(jobId))[0])
    .toMatchObject({ state: "pending", failureMessage: "once more" });
  await kit.platform.batches.say("resume", jobId, by);
  expect(await kit.platform.batches.settled(jobId)).toMatchObject({ state: "completed", rows: 10 });
  expect(calls).toBe(2);
});

test("B-25 O-05: two starts of one input are one job; another input under its key is a conflict", async () => {
  const of = await begin(declare());
  const both = await Promise.all([of.start({ parts: 2 }), of.start({ parts: 2 }), of.start({ parts: 2 })]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["created", "duplicate", "duplicate"]);
  expect(new Set(both.map(({ jobId }) => jobId)).size).toBe(1);
  const job = await kit.platform.batches.settled(both[0]!.jobId);
  expect(await of.start({ parts: 2 })).toEqual({ status: "duplicate", jobId: job.id });
  expect(await of.start({ parts: 3 }, { key: job.key })).toEqual({ status: "conflict", jobId: job.id });
  expect(await finalOf(of.name)).toEqual({ rows: 20, n: 20 });
  const [one, again, next] = [
    await of.start({ parts: 4 }),
    await of.start({ parts: 4 }),
    await of.start({ parts: 5 }),
  ].map(({ jobId }) => Number(jobId));
  expect([again, next]).toEqual([one, one! + 1]);
});

test("a job that is started in a transaction is there with its commit, and not without it", async () => {
  const of = await begin(declare());
  const rolledBack = kit.platform.database.transaction(async ({ client }) => {
    await of.start({ parts: 1 }, { tx: inSchema(client, kit.schema) });
    throw new Error("no");
  });
  await expect(rolledBack).rejects.toThrow("no");
  expect(await kit.platform.batches.jobs({ batch: of.name })).toEqual([]);
});

test("B-08: what is declared for a service is worked on in its processes only, wherever it is started", async () => {
  const of = await begin(declare(stage, { runsOn: { service: "nightly" } }));
  const { jobId } = await of.start({ parts: 2 });
  expect((await kit.platform.batches.list()).find(({ name }) => name === of.name)).toMatchObject({
    runsOn: "nightly",
  });
  expect(running.at(-1)!.active()).toEqual([]);
  vi.stubEnv("TUNTAS_SERVICE", "nightly");
  running.push(await start(app({ of }), { platform: await kit.another({}) }));
  vi.unstubAllEnvs();
  expect((await kit.platform.batches.settled(jobId)).state).toBe("completed");
});

test("B-08: of jobs that wait, the one with the highest priority is begun first, one at a time", async () => {
  const at = gate();
  const order: string[] = [];
  const of = await begin(
    declare(async (part, context) => {
      order.push(context.job.key);
      await at.pass();
      await stage(part, context);
    }),
  );
  const first = await of.start({ parts: 1 }, { key: "first" });
  await expect.poll(at.came).toBe(1);
  const later = [
    await of.start({ parts: 1 }, { key: "usual" }),
    await of.start({ parts: 1 }, { key: "urgent", priority: 9 }),
    await of.start({ parts: 1 }, { key: "whenever", priority: -1 }),
  ];
  await expect
    .poll(async () => (await kit.platform.batches.jobs({ batch: of.name, states: ["waiting"] })).length)
    .toBe(3);
  at.open();
  for (const { jobId } of [first, ...later]) await kit.platform.batches.settled(jobId);
  expect(order).toEqual(["first", "urgent", "usual", "whenever"]);
});

test("an input that the schema refuses, a staging table that is missing and a batch that nobody declared say so", async () => {
  const of = await begin(declare());
  const { jobId } = await of.start({ parts: "many" as never });
  expect(await kit.platform.batches.settled(jobId)).toMatchObject({
    state: "failed",
    failure: expect.stringMatching(/TUNTAS_BATCH_INPUT/),
  });
  const without = await begin(declare(stage, { staging: { table: "not_there", kept: "0s" } }));
  expect((await runJob(without, 1)).failure).toMatch(/TUNTAS_BATCH_STAGING.*expected a table not_there/);
  await expect(kit.platform.batches.start("nobodys", {})).rejects.toMatchObject({
    code: "TUNTAS_BATCH_MISSING",
  });
  await expect(kit.platform.batches.job("77777777")).rejects.toMatchObject({ code: "TUNTAS_BATCH_MISSING" });
  await expect(of.start("\uD800" as never)).resolves.toMatchObject({ status: "created" }); // JSON escapes it
  await expect(of.start(undefined as never)).rejects.toMatchObject({ code: "TUNTAS_BATCH_INPUT" });
});

test("what partitions hand over is committed together, and one whose statement fails undoes and says only its own", async () => {
  const insert = `insert into ${kit.schema}.staged select $1, $2, 1 / $3::int`;
  const handle: Handle = ({ from }, { job, number, write }) => write(insert, [job.id, number, from - 70]);
  const of = await begin(declare(handle, { concurrency: 8 }));
  const { jobId } = await of.start({ parts: 80 });
  const job = await kit.platform.batches.settled(jobId);
  expect(job).toMatchObject({ state: "failed", partitions: { done: 79, failed: 1 } });
  const [failed] = await kit.platform.batches.partitions(jobId, { state: "failed" });
  expect(failed).toMatchObject({ key: "part-8", attempts: 2, failureMessage: "division by zero" });
  expect(await stagedOf(jobId)).toBe(79);
  const commits = "select count(distinct xmin::text)::int as n from tuntas.staged where job = $1";
  expect((await ask(commits, [jobId]))[0]!.n).toBeLessThan(60);
});

test("a process that dies with messages that it held ahead uses up none of their attempts", async () => {
  const held = gate();
  const handle: Handle = async (part, context) => {
    if (part.from < 20) await held.pass(context.signal);
    await stage(part, context);
  };
  const retry = { attempts: 1, base: "10ms", max: "20ms" } as const;
  const of = await begin(declare(handle, { concurrency: 2, partitions: slowly, retry }));
  const { jobId } = await of.start({ parts: 6 });
  await expect.poll(held.came).toBe(2);
  // One that had claimed the others, and died before it began them, has left them so.
  const received = await ask(
    `update tuntas.ready set receives = 1, first_received_at = now()
     where queue_id = (select id from tuntas.queue where name = $1) returning id`,
    [`batch-${of.name}`],
  );
  expect(received).toHaveLength(4);
  held.open();
  const job = await kit.platform.batches.settled(jobId);
  expect(job).toMatchObject({ state: "completed", partitions: { done: 6 } });
});
