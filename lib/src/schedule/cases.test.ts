// The cases of conformance/cases.jsonl that are about what a schedule does when it is due, each under its id; what of them
// is decided without a database stands in state.test.ts.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, start, type Platform } from "../index.ts";
import { statement } from "../pg/database.ts";
import { queue, worker } from "../queue/declaration.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { schedule, type OccurrenceInput, type ScheduleOptions } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const minute = 60_000;
const by = { by: "ana", reason: "a test" };

const nowMs = async () =>
  Number(
    (await kit.platform.database.run(statement("select extract(epoch from tuntas.now()) * 1000 as ms")))[0]!
      .ms,
  );

/** To a second after the next instant that so many minutes divide. */
async function toNext(minutes: number): Promise<void> {
  const every = minutes * minute;
  await kit.advance(every - ((await nowMs()) % every) + 1000);
}

const declared = (when: string, more: Partial<ScheduleOptions> = {}) => {
  const work = queue(`work-${randomUUID().slice(0, 8)}`, {
    message: z.custom<OccurrenceInput>(),
    visibilityTimeout: "30s",
    deadLetter: { after: 3, retention: "14d", owner: "reports-team", runbook: "r" },
  });
  const options: ScheduleOptions = {
    when,
    timeZone: "UTC",
    overlap: "allow",
    catchUp: "skip",
    succeedsWithin: "1h",
    owner: "reports-team",
    runbook: "r",
    target: work,
    ...more,
  };
  const name = `case-${randomUUID().slice(0, 8)}`;
  return { name, work, schedule: schedule(name, options) };
};

const records = async (name: string) => (await kit.platform.schedules.occurrences(name)).toReversed();
const states = async (name: string) => (await records(name)).map(({ state }) => state);

test("cron-13: a run more than 24.8 days away does not fire now, and comes once when it is due", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => void warnings.push(warning);
  process.on("warning", hear);
  const inFifty = new Date((await nowMs()) + 50 * 24 * 60 * minute);
  const yearly = declared(`0 4 ${inFifty.getUTCDate()} ${inFifty.getUTCMonth() + 1} *`);
  await using _running = await start(app({ work: yearly.work, yearly: yearly.schedule }), {
    platform: kit.platform,
  });
  await kit.platform.schedules.sweep();
  expect(await states(yearly.name)).toEqual([]);
  const { nextDueMs } = await kit.platform.schedules.find(yearly.name);
  expect(nextDueMs! - (await nowMs())).toBeGreaterThan(2 ** 31);
  await kit.advance(nextDueMs! - (await nowMs()) + 1000);
  expect(await states(yearly.name)).toEqual(["started"]);
  await kit.platform.schedules.sweep();
  expect(await states(yearly.name)).toEqual(["started"]);
  process.off("warning", hear);
  expect(warnings).toEqual([]);
});

test("S-16 sched-04: of many processes that fire together, and of one that comes three seconds later, one does it", async () => {
  const parts = declared("* * * * *");
  await using _running = await start(app({ work: parts.work, schedule: parts.schedule }), {
    platform: kit.platform,
  });
  const replicas: Platform[] = await Promise.all([1, 2, 3, 4].map(() => kit.another()));
  for (let round = 0; round < 5; round++) {
    const before = (await states(parts.name)).length;
    const wait = minute - ((await nowMs()) % minute);
    const clocked = kit.advance(wait + 500);
    await Promise.all([clocked, ...replicas.map((each) => each.schedules.sweep())]);
    await kit.advance(3000);
    expect(await states(parts.name)).toHaveLength(before + 1);
  }
  const sent = await kit.platform.database.run(
    statement("select count(*)::int as n from tuntas.message where body like '%' || $1 || '%'"),
    [parts.name],
  );
  expect(sent).toEqual([{ n: 5 }]);
  await Promise.all(replicas.map((each) => each.close()));
});

test("sched-05: skip means skipped, not queued for later", async () => {
  const { name, work, schedule: quarterly } = declared("*/15 * * * *", { overlap: "skip" });
  const got: OccurrenceInput[] = [];
  const gates: (() => void)[] = [];
  const working = worker(work, {
    idempotencyKey: (each) => each.scheduledAt,
    timeout: "2h",
    concurrency: 4,
    handle: (each) => {
      got.push(each);
      return new Promise<void>((resolve) => gates.push(resolve));
    },
  });
  await toNext(60);
  await using _running = await start(app({ work, working, quarterly }), { platform: kit.platform });
  for (const expected of [1, 1, 2, 2, 3]) {
    await toNext(15);
    await expect.poll(() => got.length).toBe(expected);
    const count = (await states(name)).length;
    if (count % 2 === 0) {
      gates.at(-1)!();
      await expect.poll(async () => (await states(name)).at(-2)).toBe("succeeded");
    }
  }
  gates.at(-1)!();
  await expect
    .poll(() => states(name))
    .toEqual(["succeeded", "skipped", "succeeded", "skipped", "succeeded"]);
  const times = got.map(({ scheduledAt }) => scheduledAt.slice(14, 16));
  expect(times).toEqual(["15", "45", "15"]);
});

test("sched-07: what became due between the last pass of one instance and the first of another is sent once", async () => {
  const { name, work, schedule: minutely } = declared("* * * * *", { catchUp: { all: "1h" } });
  const first = await kit.another();
  await using _running = await start(app({ work, minutely }), { platform: first, workers: false });
  await toNext(1);
  await first.schedules.pause(name, by);
  await first.schedules.resume(name, by);
  const before = await states(name);
  const wait = minute - ((await nowMs()) % minute);
  await kit.advance(wait + minute + 2300);
  expect(await states(name)).toEqual([...before, "started", "started"]);
  const instants = (await records(name)).map(({ dueMs }) => dueMs);
  expect(instants.at(-1)! - instants.at(-2)!).toBe(minute);
});
