import { expect, test } from "vitest";
import { z } from "zod";
import { app } from "../app.ts";
import { refusal } from "../core/refusal.fixture.ts";
import { queue } from "../queue/declaration.ts";
import { firedOf } from "./declaration.ts";
import { longestPauseMs, schedule } from "./index.ts";
import type { ScheduleOptions } from "./contract.ts";

const work = queue("report-work", {
  message: z.unknown(),
  visibilityTimeout: "30s",
  deadLetter: { after: 3, retention: "14d", owner: "reports-team", runbook: "r" },
});

const whole: ScheduleOptions = {
  when: "cron(0 2 * * ? *)",
  timeZone: "Asia/Jakarta",
  overlap: "skip",
  catchUp: { latest: "1d" },
  target: work,
  succeedsWithin: "1h",
  owner: "reports-team",
  runbook: "runbooks/nightly.md",
};

test("a whole declaration is taken, and its queue comes along", () => {
  const nightly = schedule("nightly", whole);
  expect(nightly).toMatchObject({ kind: "schedule", name: "nightly" });
  expect(app({ nightly, work }).parts).toHaveProperty("nightly");
});

test.each([
  ["timeZone", "S-02"],
  ["overlap", "S-04"],
  ["catchUp", "S-14"],
  ["owner", "S-19"],
  ["runbook", "S-23"],
  ["succeedsWithin", "S-22"],
  ["target", "S-01"],
  ["when", "S-01"],
])("without %s a schedule does not compile and is refused (%s)", (field) => {
  const { [field as keyof ScheduleOptions]: _, ...rest } = whole;
  expect(refusal(() => schedule("nightly", rest as ScheduleOptions))).toMatch(
    new RegExp(`^TUNTAS_SCHEDULE_OPTIONS schedule "nightly": ${field}`),
  );
});

test.each<[Partial<Record<keyof ScheduleOptions, unknown>>, RegExp]>([
  [{ when: "cron(0 25 * * ? *)" }, /when: hours: expected 0-23/],
  [{ when: "0 0 30 2 *" }, /when: day and month: expected a date that exists/],
  [{ timeZone: "Europe/Nowhere" }, /timeZone: time zone: expected an IANA name/],
  [
    { when: "at(2026-03-29T02:30:00)", timeZone: "Europe/Berlin" },
    /when: expression: expected a local time that exists/,
  ],
  [{ overlap: "queue", catchUp: { all: "0s" } }, /catchUp.all: expected a duration/],
  [{ catchUp: { all: "1h" } }, /catchUp: all that are caught up come at once/],
  [{ catchUp: { all: "1h", latest: "1h" } }, /catchUp: expected "skip"/],
  [{ input: [] }, /input: expected an object/],
  [{ flexible: "2h" }, /flexible: expected less than succeedsWithin/],
  [{ flexible: "2d" }, /flexible: expected a duration from 1s to 1d/],
  [{ retry: { attempts: 0, within: "1h" } }, /retry.attempts: expected a whole number from 1 to 1000, got 0/],
  [{ retry: { attempts: 3 } }, /retry.within: expected a duration/],
  [{ deadLetter: { kind: "workflow", name: "x" } }, /deadLetter: expected a queue/],
  [{ holidays: { dates: ["2026-02-30"], rule: "skip" } }, /holidays.dates: expected dates/],
  [{ holidays: { dates: [], weekdays: ["FUN"], rule: "skip" } }, /holidays.weekdays: expected some of/],
  [{ holidays: { dates: [] } }, /holidays.rule: expected "skip" or "move"/],
  [{ holidays: { dates: [], rule: "move" } }, /holidays.rule: .*choose overlap "queue" or "allow"/],
  [{ owner: "\ud800" }, /expected text without NUL/],
])("%j is refused", (wrong, message) => {
  expect(refusal(() => schedule("nightly", { ...whole, ...wrong } as ScheduleOptions))).toMatch(message);
});

test("everything that is missing is named at once", () => {
  const message = refusal(() => schedule("no good", {} as ScheduleOptions));
  for (const part of [
    "letters, digits",
    "timeZone:",
    "when:",
    "overlap:",
    "catchUp:",
    "target:",
    "owner:",
    "runbook:",
  ])
    expect(message).toContain(part);
});

test("an application refuses two of one name, and a queue that it does not declare", () => {
  const nightly = schedule("nightly", whole);
  expect(refusal(() => app({ work, a: nightly, b: schedule("nightly", whole) }))).toMatch(
    /^TUNTAS_SCHEDULE_REGISTERED/,
  );
  const strict = queue("strict-work", { ...work.options, message: z.object({ region: z.string() }) });
  const misfit = schedule("misfit", { ...whole, target: strict });
  expect(refusal(() => app({ strict, misfit }))).toMatch(
    /^TUNTAS_SCHEDULE_TARGET .*strict-work does not take what it gives: region/,
  );
  expect(
    app({ strict, fit: schedule("fit", { ...whole, target: strict, input: { region: "eu" } }) }),
  ).toBeDefined();
  expect(refusal(() => app({ nightly }))).toMatch(/^TUNTAS_SCHEDULE_TARGET .*its queue report-work/);
  const lettered = schedule("lettered", { ...whole, deadLetter: strict });
  expect(refusal(() => app({ work, lettered }))).toMatch(
    /^TUNTAS_SCHEDULE_TARGET .*its dead letters' queue strict-work/,
  );
  expect(app({ work, strict, lettered })).toBeDefined();
});

test("D-32: an application may fire some of its schedules and leave the others to EventBridge; unknown names are refused", () => {
  const [nightly, hourly] = [schedule("nightly", whole), schedule("hourly", whole)];
  const names = (given?: readonly string[]) => firedOf([nightly, hourly], given).map(({ name }) => name);
  expect(names()).toEqual(["nightly", "hourly"]);
  expect(names(["hourly"])).toEqual(["hourly"]);
  expect(names([])).toEqual([]);
  expect(refusal(() => names(["weekly"]))).toMatch(/expected names of declared schedules, got "weekly"/);
});

test.each([
  ["rate(5 minutes)", 300],
  ["cron(0 2 * * ? *)", 86_400],
  ["cron(0 9 ? * MON-FRI *)", 3 * 86_400],
  ["cron(0 0 1 * ? *)", 31 * 86_400],
  ["at(2040-01-01T00:00:00)", Infinity],
])("the longest pause of %s is %d s", (when, seconds) => {
  expect(longestPauseMs(schedule("nightly", { ...whole, when })) / 1000).toBe(seconds);
});
