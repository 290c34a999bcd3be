// Schedules with the real queue, the real workflows and the database's clock, which the tests move.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { app, start, task, workflow, type RunningApp } from "../index.ts";
import { channelName } from "../engine/signals.ts";
import { statement } from "../pg/database.ts";
import { defaultScope } from "../queue/contract.ts";
import { queue, worker } from "../queue/declaration.ts";
import { gate } from "../queue/worker/worker.fixture.ts";
import { rejected } from "../core/outcome.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { outboxDestination } from "../outbox/destination.ts";
import { queueDestination } from "../queue/client/destination.ts";
import { workflowDestination } from "../workflow/client/destination.ts";
import { endedOccurrences, nextDueInstant } from "./store.ts";
import { schedule, type OccurrenceInput, type ScheduleOptions } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const minute = 60_000;
const by = { by: "ana", reason: "a test" };

const shared = {
  timeZone: "UTC",
  overlap: "allow",
  catchUp: "skip",
  succeedsWithin: "1h",
  owner: "reports-team",
  runbook: "runbooks/reports.md",
} as const satisfies Partial<ScheduleOptions>;

const nowMs = async () =>
  Number(
    (await kit.platform.database.run(statement("select extract(epoch from tuntas.now()) * 1000 as ms")))[0]!
      .ms,
  );

/** To so many seconds after the next full minute, in steps as a heartbeat would take them. */
async function toMinute(seconds = 1): Promise<void> {
  const now = await nowMs();
  await kit.advance(minute - (now % minute) + seconds * 1000);
}

/** A queue whose handler does what it is told, and what it got. */
function place(handle: (got: OccurrenceInput) => unknown = () => undefined) {
  const work = queue(`work-${randomUUID().slice(0, 8)}`, {
    message: z.object({
      schedule: z.string(),
      scheduledAt: z.string(),
      window: z.object({ start: z.string(), end: z.string(), timeZone: z.string() }),
      region: z.string().optional(),
    }),
    visibilityTimeout: "30s",
    deadLetter: { after: 1, retention: "14d", owner: "reports-team", runbook: "runbooks/reports.md" },
  });
  const got: OccurrenceInput[] = [];
  const working = worker(work, {
    idempotencyKey: (each) => `${each.schedule} ${each.scheduledAt} ${randomUUID()}`,
    timeout: "20s",
    concurrency: 4,
    handle: (each) => {
      got.push(each);
      return handle(each) as undefined;
    },
  });
  return { work, working, got };
}

const running: RunningApp[] = [];
afterAll(() => Promise.all(running.map((each) => each.stop())));

async function begin(parts: Parameters<typeof app>[0]): Promise<void> {
  running.push(await start(app(parts), { platform: kit.platform }));
}

const states = async (name: string) =>
  (await kit.platform.schedules.occurrences(name)).map(({ state }) => state).toReversed();
const seen = (name: string) => expect.poll(() => states(name), { interval: 20 });
const stopAll = async () => {
  for (const { name } of await kit.platform.schedules.list()) await kit.platform.schedules.remove(name, by);
};
beforeEach(stopAll);

test("S-03: on a holiday nothing begins, which is on record, and no success is missed; what is moved begins the next day", async () => {
  const { work, working, got } = place();
  const today = new Date(await nowMs()).toISOString().slice(0, 10);
  const tomorrow = new Date((await nowMs()) + 24 * 60 * minute).toISOString().slice(0, 10);
  const holidays = { dates: [today, tomorrow] };
  const options = { ...shared, target: work, when: "rate(30 days)" };
  await begin({
    work,
    working,
    left: schedule("left", { ...options, holidays: { ...holidays, rule: "skip" } }),
    moved: schedule("moved", { ...options, holidays: { ...holidays, rule: "move" } }),
  });
  await seen("left").toEqual(["skipped"]);
  await seen("moved").toEqual(["waiting"]);
  const [left] = await kit.platform.schedules.occurrences("left");
  expect(left!.reason).toBe(`${new Date(left!.dueMs).toISOString().slice(0, 10)} is a holiday`);
  await kit.advance(24 * 60 * minute);
  expect(await kit.platform.schedules.find("left")).toMatchObject({ overdue: false });
  expect(got).toEqual([]);
  await kit.advance(24 * 60 * minute);
  await seen("moved").toEqual(["succeeded"]);
  expect(got.map((each) => each.schedule)).toEqual(["moved"]);
  expect((await kit.platform.schedules.next("left", 1))[0]).toMatchObject({ holiday: null, movedToMs: null });
});

test("S-05: also where occurrences may overlap, a window that is still worked on is not run beside itself", async () => {
  const at = gate();
  const { work, working, got } = place(() => at.promise);
  const beside = schedule("beside", { ...shared, target: work, when: "rate(1 day)" });
  await begin({ work, working, beside });
  await expect.poll(() => got.length).toBe(1);
  await kit.platform.schedules.run("beside", by);
  await seen("beside").toEqual(["started", "waiting"]);
  const { dueMs } = (await kit.platform.schedules.occurrences("beside"))[0]!;
  at.open();
  await seen("beside").toEqual(["succeeded", "succeeded"]);
  expect(got.map(({ scheduledAt }) => Date.parse(scheduledAt))).toEqual([dueMs, dueMs]);
});

test("work that a declared schedule cannot begin is given up by its policy, and its dead letter says why", async () => {
  const { catalog, receiver } = kit.platform.queues;
  await catalog.create(defaultScope, "letters", {});
  await kit.platform.schedules.declare("a test", [
    schedule("refused", {
      ...shared,
      when: "rate(1 day)",
      target: { kind: "queue", name: "nowhere" },
      retry: { attempts: 1, within: "1h" },
      deadLetter: { kind: "queue", name: "letters" },
    }),
    schedule("spread", {
      ...shared,
      when: "rate(1 day)",
      target: { kind: "queue", name: "letters" },
      flexible: "30m",
    }),
  ]);
  await seen("refused").toEqual(["failed"]);
  const letters = await catalog.get(defaultScope, "letters");
  const [letter] = await receiver.receive(letters, { countMax: 10, waitMs: 0, visibilitySeconds: 60 });
  expect(letter!.attributes).toContain("MaximumRetryAttempts");
  expect(JSON.parse(letter!.body)).toMatchObject({ schedule: "refused" });
  await seen("spread").toEqual(["waiting"]);
  await kit.advance(31 * minute);
  await seen("spread").toEqual(["started"]);
});

test("S-01 S-10 S-20: a cron, a rate and a one-time schedule are due when the clock passes, with window and record", async () => {
  const { work, working, got } = place();
  const at = new Date((await nowMs()) + 90 * minute).toISOString().slice(0, 19);
  const options = { ...shared, target: work };
  await begin({
    work,
    working,
    minutely: schedule("minutely", {
      ...options,
      when: "* * * * *",
      input: { region: "eu", window: "not this" },
    }),
    hourly: schedule("hourly", { ...options, when: "rate(1 hour)" }),
    once: schedule("once", { ...options, when: `at(${at})` }),
  });
  await expect.poll(() => got.map((each) => each.schedule)).toEqual(["hourly"]); // a rate begins at once
  await toMinute();
  await seen("minutely").toEqual(["succeeded"]);
  await toMinute();
  await seen("minutely").toEqual(["succeeded", "succeeded"]);
  const [first, second] = got.filter((each) => each.schedule === "minutely") as [
    OccurrenceInput,
    OccurrenceInput,
  ];
  expect(first).toMatchObject({ region: "eu", window: { end: first.scheduledAt, timeZone: "UTC" } });
  expect(Date.parse(first.window.end) - Date.parse(first.window.start)).toBe(minute);
  expect(second.window.start).toBe(first.window.end);
  const [record] = await kit.platform.schedules.occurrences("minutely", 1);
  expect(record).toMatchObject({ run: 0, state: "succeeded", reference: expect.stringMatching(/^\d+$/) });
  expect(record!.endedAtMs! - record!.startedAtMs!).toBeGreaterThanOrEqual(0);
  await kit.platform.schedules.remove("minutely", by);
  await kit.advance(Date.parse(`${at}Z`) - (await nowMs()) + 1000);
  await seen("once").toEqual(["succeeded"]);
  expect((await kit.platform.schedules.find("once")).nextDueMs).toBeNull();
});

test("S-20: a workflow is started in the same transaction, and what it came to is known", async () => {
  const got: unknown[] = [];
  const nightly = workflow("Nightly", {
    definition: { StartAt: "Report", States: { Report: { Type: "Task", Resource: "report", End: true } } },
    tasks: {
      report: task({
        idempotent: true,
        timeout: "20s",
        handle: (input: unknown) => {
          got.push(input);
          if (got.length === 2) throw new Error("no paper");
          return { recordsRead: 12, recordsWritten: 12 };
        },
      } as never),
    },
  });
  await begin({ nightly, schedule: schedule("nightly", { ...shared, when: "* * * * *", target: nightly }) });
  await toMinute();
  await seen("nightly").toEqual(["succeeded"]);
  await toMinute();
  await seen("nightly").toEqual(["succeeded", "failed"]);
  expect(got[0]).toMatchObject({ schedule: "nightly", window: { timeZone: "UTC" } });
  const [last, first] = await kit.platform.schedules.occurrences("nightly", 2);
  expect(first).toMatchObject({ state: "succeeded", reason: null, recordsWritten: 12 });
  expect(last).toMatchObject({
    recordsWritten: null,
    reason: expect.stringContaining("no paper"),
    reference: expect.stringContaining("Nightly:nightly-2"),
  });
});

test("another target is told by the outbox, and its occurrence ends when it has taken that", async () => {
  const got: OccurrenceInput[] = [];
  const target = { kind: "function", name: "ping" };
  const deliver = async ({ payload }: { readonly payload: string }) => void got.push(JSON.parse(payload));
  const unbind = kit.platform.targets.bind(target, { deliver });
  await begin({ ping: schedule("ping", { ...shared, when: "rate(1 day)", overlap: "skip", target }) });
  await seen("ping").toEqual(["succeeded"]);
  expect(got).toMatchObject([{ schedule: "ping", window: { end: got[0]!.scheduledAt } }]);
  unbind();
});

describe("S-04 overlap", () => {
  /** Three ticks while the first still works. */
  async function threeTicks(overlap: ScheduleOptions["overlap"]) {
    const gates: (() => void)[] = [];
    const { work, working, got } = place(() => new Promise<void>((resolve) => gates.push(resolve)));
    const name = `overlap-${overlap}`;
    await begin({
      work,
      working,
      schedule: schedule(name, { ...shared, when: "* * * * *", overlap, target: work }),
    });
    for (let count = 1; count <= 3; count++) {
      await toMinute();
      await expect.poll(async () => (await states(name)).length).toBe(count);
      await expect.poll(() => got.length).toBeGreaterThan(0);
    }
    return { name, gates, got, open: () => gates.shift()?.() };
  }

  test("S-06 skip: what comes meanwhile is left out for good, and the next one runs", async () => {
    const { name, open, got } = await threeTicks("skip");
    expect(await states(name)).toEqual(["started", "skipped", "skipped"]);
    const [, second] = (await kit.platform.schedules.occurrences(name)).toReversed();
    expect(second!.reason).toMatch(/^the one of .* still runs$/);
    open();
    await seen(name).toEqual(["succeeded", "skipped", "skipped"]);
    await toMinute();
    await expect.poll(() => got.length).toBe(2);
    open();
  });

  test("S-07 queue: they run in order, one after the other, and those that wait are counted", async () => {
    const { name, open, got } = await threeTicks("queue");
    expect(await states(name)).toEqual(["started", "waiting", "waiting"]);
    expect(await kit.platform.schedules.find(name)).toMatchObject({ running: 1, waiting: 2 });
    for (let count = 1; count <= 3; count++) {
      await expect.poll(() => got.length).toBe(count);
      open();
    }
    await seen(name).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(got.map((each) => each.scheduledAt)).toEqual(got.map((each) => each.scheduledAt).toSorted());
  });

  test("S-05 S-09 allow: each window is work of its own, side by side", async () => {
    const { name, open, got } = await threeTicks("allow");
    await expect.poll(() => got.length).toBe(3);
    expect(await states(name)).toEqual(["started", "started", "started"]);
    expect(new Set(got.map((each) => each.window.start)).size).toBe(3);
    for (const _ of got) open();
  });
});

test("work that becomes a dead letter has failed within moments, not at the next tidying", async () => {
  const { work, working } = place(() => {
    throw new Error("no ink");
  });
  await begin({
    work,
    working,
    dying: schedule("dying", { ...shared, when: "0 0 1 1 *", target: work }),
  });
  await kit.platform.schedules.run("dying", by);
  await seen("dying").toEqual(["failed"]);
  expect((await kit.platform.schedules.occurrences("dying"))[0]!.reason).toBe("dead letter: no ink");
});

test("S-22 V-03: a success that does not come is overdue, also while it is paused; a failure says why", async () => {
  const { work, working } = place(() => rejected({ code: "NO_DATA", message: "no data" }));
  await begin({
    work,
    working,
    failing: schedule("failing", { ...shared, when: "0 0 1 1 *", succeedsWithin: "1m", target: work }),
  });
  await kit.platform.schedules.run("failing", by);
  await seen("failing").toEqual(["failed"]);
  expect((await kit.platform.schedules.occurrences("failing"))[0]!.reason).toContain("no data");
  const { nextDueMs } = await kit.platform.schedules.find("failing");
  await kit.platform.schedules.pause("failing", by);
  expect(await kit.platform.schedules.find("failing")).toMatchObject({ overdue: false, pausedBy: "ana" });
  await kit.advance(nextDueMs! - (await nowMs()) + 2 * minute);
  expect(await kit.platform.schedules.find("failing")).toMatchObject({ overdue: true });
  const alarm = async () =>
    (await kit.platform.alarms.list()).find(
      (each) => each.name === "schedule-overdue" && each.subject === "failing",
    );
  for (let part = 0; part < 30 && (await alarm())?.state !== "ALARM"; part++) {
    await kit.advance(10_000);
    await kit.platform.sample();
  }
  expect(await alarm()).toMatchObject({ state: "ALARM", severity: "page", owner: "reports-team" });
});

test("pause, resume, run again, change and removal are on the record", async () => {
  const { work, working, got } = place();
  const options = { ...shared, when: "* * * * *", target: work } as const;
  await begin({ work, working, governed: schedule("governed", options) });
  await toMinute();
  await seen("governed").toEqual(["succeeded"]);
  await kit.platform.schedules.pause("governed", by);
  await toMinute();
  await toMinute();
  expect(await states("governed")).toEqual(["succeeded"]);
  const again = await kit.platform.schedules.run("governed", {
    ...by,
    dueMs: Date.parse(got[0]!.scheduledAt),
  });
  expect(again).toMatchObject({ run: 1, actor: "ana", state: "started" });
  await expect.poll(() => got.length).toBe(2);
  expect(got[1]!.window).toEqual(got[0]!.window);
  await expect(kit.platform.schedules.run("governed", { ...by, dueMs: 12_345 })).rejects.toMatchObject({
    code: "TUNTAS_SCHEDULE_WINDOW",
  });
  const future = Date.parse(got[0]!.scheduledAt) + 60 * minute;
  await expect(kit.platform.schedules.run("governed", { ...by, dueMs: future })).rejects.toThrow(
    "is not over before",
  );
  await kit.platform.schedules.resume("governed", by);
  await toMinute();
  await expect.poll(() => got.length).toBe(3);
  await kit.platform.schedules.declare("reports", [schedule("governed", { ...options, when: "0 0 1 1 *" })]);
  const { nextDueMs } = await kit.platform.schedules.find("governed");
  expect(new Date(nextDueMs!).toISOString()).toMatch(/-01-01T00:00:00/);
  await kit.platform.schedules.remove("governed", by);
  await expect(kit.platform.schedules.find("governed")).rejects.toMatchObject({
    code: "TUNTAS_SCHEDULE_MISSING",
  });
  const rows = await kit.platform.database.run(
    statement("select action from tuntas.audit where subject = 'schedule governed' order by audit.id"),
  );
  expect(rows.map(({ action }) => action)).toEqual(
    ["pause", "run", "resume", "change", "remove"].map((verb) => `schedule.${verb}`),
  );
});

test("S-14: occurrences that nobody was there for are counted, and treated by the rule", async () => {
  const late: unknown[] = [];
  const hear = (fields: unknown) => void late.push(fields);
  subscribe(channelName("schedule.late"), hear);
  const { work, working, got } = place();
  const options = { ...shared, when: "* * * * *", target: work } as const;
  await begin({
    work,
    working,
    none: schedule("rule-skip", options),
    latest: schedule("rule-latest", { ...options, catchUp: { latest: "1h" } }),
    all: schedule("rule-all", { ...options, overlap: "queue", catchUp: { all: "1h" } }),
  });
  const now = await nowMs();
  await kit.advance(minute - (now % minute) + 2 * minute + 25_000);
  await seen("rule-skip").toEqual(["missed", "missed", "missed"]);
  await seen("rule-latest").toEqual(["missed", "missed", "succeeded"]);
  await seen("rule-all").toEqual(["succeeded", "succeeded", "succeeded"]);
  for (const name of ["rule-skip", "rule-latest", "rule-all"])
    expect(late).toContainEqual({ schedule: name, count: 3 });
  unsubscribe(channelName("schedule.late"), hear);
  const instants = got.filter((each) => each.schedule === "rule-all").map((each) => each.scheduledAt);
  expect(instants).toEqual(instants.toSorted());
});

test("what is beyond its retention is forgotten, and a schedule whose queue is gone keeps nobody back", async () => {
  const { work, working } = place();
  await begin({
    work,
    working,
    brief: schedule("brief", { ...shared, when: "* * * * *", retention: "1m", target: work }),
  });
  await kit.platform.schedules.declare("other", [
    schedule("a-lost", { ...shared, when: "* * * * *", target: { kind: "queue", name: "nowhere" } }),
  ]);
  await toMinute();
  await seen("brief").toEqual(["succeeded"]);
  await kit.platform.schedules.pause("brief", by);
  const [lost] = await kit.platform.schedules.occurrences("a-lost");
  expect(lost).toMatchObject({ state: "waiting", reason: expect.stringContaining("nowhere does not exist") });
  await kit.advance(3 * minute);
  await seen("brief").toEqual([]);
});

test("what the heartbeat asks of schedules is read from the ends of indexes, however empty the tables were when it was planned", async () => {
  const { platform } = kit;
  const bound = new Map([
    ["queue", queueDestination(platform.queues)],
    ["workflow", workflowDestination(platform.workflows)],
  ]);
  for (const question of [
    `select exists (${endedOccurrences(bound, outboxDestination)})`,
    `select ${nextDueInstant}`,
  ]) {
    const rows = await platform.database.run(statement(`explain ${question}`));
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/occurrence_open|schedule_due/);
    expect(plan).not.toMatch(/hashed|Seq Scan|outbox_waiting/);
  }
});
