/* oxlint-disable no-restricted-globals -- the platform is the reference here, not a part */
import { describe, expect, test } from "vitest";
import { refusal } from "../refusal.fixture.ts";
import { leftOut, parseExpression, recurrence, zoneOf } from "./index.ts";

const at = (text: string): number => Date.parse(`${text}Z`);

function next(expression: string, from: string, { tz = "UTC", count = 3, anchor = from } = {}): string[] {
  const found: string[] = [];
  const of = recurrence(parseExpression(expression), zoneOf(tz), at(anchor));
  for (let each = of.next(at(from) - 1); each !== undefined; each = of.next(each)) {
    if (found.length === count) break;
    found.push(new Date(each).toISOString().slice(0, 16));
  }
  return found;
}

const days = (expression: string, from: string, count = 3): string[] =>
  next(expression, from, { count }).map((each) => each.slice(0, 10));

// The examples of "Schedule types in EventBridge Scheduler" and of its rules.
test.each([
  ["cron(0 10 * * ? *)", ["2026-01-01T10:00", "2026-01-02T10:00", "2026-01-03T10:00"]],
  ["cron(0 18 ? * MON-FRI *)", ["2026-01-01T18:00", "2026-01-02T18:00", "2026-01-05T18:00"]],
  ["cron(0 8 1 * ? *)", ["2026-01-01T08:00", "2026-02-01T08:00", "2026-03-01T08:00"]],
  ["cron(0/15 * * * ? *)", ["2026-01-01T00:00", "2026-01-01T00:15", "2026-01-01T00:30"]],
  ["cron(1/10 3 ? * MON-FRI *)", ["2026-01-01T03:01", "2026-01-01T03:11", "2026-01-01T03:21"]],
  ["cron(0/30 20-2 ? * MON-FRI *)", ["2026-01-01T00:00", "2026-01-01T00:30", "2026-01-01T01:00"]],
  ["cron(15 10 ? * 6L 2026-2027)", ["2026-01-30T10:15", "2026-02-27T10:15", "2026-03-27T10:15"]],
  ["cron(0 9 ? * 2#1 *)", ["2026-01-05T09:00", "2026-02-02T09:00", "2026-03-02T09:00"]],
  ["cron(0 9 ? * L *)", ["2026-01-03T09:00", "2026-01-10T09:00", "2026-01-17T09:00"]],
  ["cron(0 9 L * ? *)", ["2026-01-31T09:00", "2026-02-28T09:00", "2026-03-31T09:00"]],
  ["cron(0 9 L-2 * ? *)", ["2026-01-29T09:00", "2026-02-26T09:00", "2026-03-29T09:00"]],
  ["cron(0 0 1 nov-feb ? *)", ["2026-01-01T00:00", "2026-02-01T00:00", "2026-11-01T00:00"]],
  ["cron(0 0 1 1 ? 2026/4)", ["2026-01-01T00:00", "2030-01-01T00:00", "2034-01-01T00:00"]],
  ["0 6-8/2 * * *", ["2026-01-01T06:00", "2026-01-01T08:00", "2026-01-02T06:00"]],
  ["0 0 * * fri-sun", ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"]],
  ["0 0 * * 7", ["2026-01-04T00:00", "2026-01-11T00:00", "2026-01-18T00:00"]],
  ["0 0 */15 * 5", ["2026-01-16T00:00", "2026-05-01T00:00", "2026-07-31T00:00"]],
])("%s", (expression, expected) => {
  expect(next(expression, "2026-01-01T00:00")).toEqual(expected);
});

describe("dates", () => {
  test("29 February waits for leap years, over a century that has none", () => {
    expect(days("0 0 29 2 *", "2095-01-01T00:00")).toEqual(["2096-02-29", "2104-02-29", "2108-02-29"]);
  });

  test("a month that is too short is left out", () => {
    expect(days("0 0 31 * *", "2026-02-01T00:00")).toEqual(["2026-03-31", "2026-05-31", "2026-07-31"]);
    expect(days("cron(0 0 ? * 1#5 *)", "2026-01-01T00:00")).toEqual([
      "2026-03-29",
      "2026-05-31",
      "2026-08-30",
    ]);
  });

  test("a weekday at the edge of a month stays in the month", () => {
    expect(days("cron(0 0 1W 8,11 ? 2026)", "2026-01-01T00:00")).toEqual(["2026-08-03", "2026-11-02"]);
    expect(days("cron(0 0 15W 8 ? 2026)", "2026-01-01T00:00")).toEqual(["2026-08-14"]);
  });

  test.each(["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "cron(0 0 31W 4 ? *)", "cron(0 0 ? 2 1#5 2026-2027)"])(
    "%s is refused, since it would never be due",
    (expression) =>
      expect(refusal(() => parseExpression(expression))).toMatch(/^TUNTAS_CRON_NEVER day and month/),
  );

  test("years that are over are not due again", () => {
    expect(next("cron(0 0 1 1 ? 2020-2021)", "2026-01-01T00:00")).toEqual([]);
    const { previous } = recurrence(parseExpression("cron(0 0 1 1 ? 2020-2021)"), zoneOf("UTC"), 0);
    expect(previous(at("2026-01-01T00:00"))).toBe(at("2021-01-01T00:00"));
    expect(previous(at("2020-01-01T00:00"))).toBeUndefined();
  });
});

describe("clock changes", () => {
  const tz = "Europe/Berlin";

  test("S-02: a rhythm goes on through a gap and through both hours of a repeat; a fixed time does not", () => {
    expect(next("*/30 * * * *", "2026-03-29T00:30", { tz })).toEqual([
      "2026-03-29T00:30",
      "2026-03-29T01:00",
      "2026-03-29T01:30",
    ]);
    expect(next("0 * * * *", "2026-10-25T00:00", { tz })).toEqual([
      "2026-10-25T00:00",
      "2026-10-25T01:00",
      "2026-10-25T02:00",
    ]);
    expect(next("0 2 * * *", "2026-10-24T12:00", { tz })).toEqual([
      "2026-10-25T00:00",
      "2026-10-26T01:00",
      "2026-10-27T01:00",
    ]);
  });

  test("half an hour, and a day that a zone left out", () => {
    expect(next("15 2 * * *", "2026-10-02T00:00", { tz: "Australia/Lord_Howe", count: 2 })).toEqual([
      "2026-10-02T15:45",
      "2026-10-04T15:15",
    ]);
    expect(next("0 12 * * *", "2011-12-29T00:00", { tz: "Pacific/Apia", count: 2 })).toEqual([
      "2011-12-29T22:00",
      "2011-12-30T22:00",
    ]);
    expect(
      leftOut(parseExpression("0 12 * * *"), zoneOf("Pacific/Apia"), [
        at("2011-12-29T22:00"),
        at("2011-12-30T22:00"),
      ]),
    ).toEqual(["2011-12-30T12:00"]);
  });

  test("S-02: a fixed offset is a zone", () => {
    expect(next("0 1 * * *", "2026-01-01T00:00", { tz: "+07:00", count: 2 })).toEqual([
      "2026-01-01T18:00",
      "2026-01-02T18:00",
    ]);
    expect(next("0 1 * * *", "2026-01-01T00:00", { tz: "Asia/Jakarta", count: 1 })).toEqual([
      "2026-01-01T18:00",
    ]);
  });

  test("S-01: a one-time schedule is due once, at the first of two such times, and refused in a gap", () => {
    expect(next("at(2026-10-25T02:30:00)", "2026-01-01T00:00", { tz })).toEqual(["2026-10-25T00:30"]);
    const gap = () => recurrence(parseExpression("at(2026-03-29T02:30:00)"), zoneOf(tz), 0);
    expect(refusal(gap)).toMatch(/^TUNTAS_LOCAL_TIME_MISSING .* exists in Europe\/Berlin, got "at\(/);
  });
});

test("a rate counts elapsed time from its anchor, both ways", () => {
  const of = recurrence(parseExpression("rate(90 minutes)"), zoneOf("UTC"), 1000);
  const period = 90 * 60_000;
  expect([of.next(0), of.next(1000), of.next(1000 + period - 1)]).toEqual([
    1000,
    1000 + period,
    1000 + period,
  ]);
  expect([of.previous(1000), of.previous(1001), of.previous(1000 + 2 * period)]).toEqual([
    undefined,
    1000,
    1000 + period,
  ]);
});

test.each([
  ["cron(60 * * * ? *)", "minutes: expected 0-59, got"],
  ["cron(0 24 * * ? *)", "hours: expected 0-23, got"],
  ["cron(0 0 0 * ? *)", "day-of-month: expected 1-31, L, L-3, LW, 15W"],
  ["cron(0 0 L-31 * ? *)", "day-of-month: expected"],
  ["cron(0 0 32W * ? *)", "day-of-month: expected"],
  ["cron(0 0 * 13 ? *)", "month: expected 1-12 (JAN-DEC), got"],
  ["cron(0 0 ? * 0 *)", "day-of-week: expected 1-7 (SUN-SAT)"],
  ["cron(0 0 ? * 3#6 *)", "day-of-week: expected"],
  ["cron(0 0 ? * 3#1,6#3 *)", "day-of-week: expected"],
  ["cron(0 0 ? * MON/2 *)", "day-of-week: expected"],
  ["cron(0 0 * * ? 1969)", "year: expected 1970-2199, got"],
  ["cron(0 0 * * *)", "expression: expected six fields"],
  ["cron(0 0 * * * *)", "day-of-month and day-of-week: expected"],
  ["cron(0 0 ? * ? *)", "day-of-month and day-of-week: expected"],
  ["cron(0/0 * * * ? *)", "minutes: expected 0-59, with a step of 1-59"],
  ["*/90 * * * *", "minutes: expected 0-59, with a step of 1-59"],
  ["5/15 * * * *", 'minutes: expected 0-59, a step after a range or "*", as in 5-59/15'],
  ["0 22-2 * * *", "hours: expected 0-23, a range that goes up"],
  ["0 0 ? * 1", "day-of-month: expected 1-31, got"],
  ["0 12 * * ? *", "expression: expected cron(…), rate(…)"],
  ["@daily", "expression: expected"],
  ["", "expression: expected"],
  ["rate(0 minutes)", "expression: expected rate(value unit)"],
  ["rate(5 seconds)", "expression: expected rate(value unit)"],
  ["rate(99999999 days)", "expression: expected rate(value unit)"],
  ["at(2026-02-30T00:00:00)", "expression: expected at(yyyy-mm-ddThh:mm:ss)"],
  ["at(2026-02-03)", "expression: expected at(yyyy-mm-ddThh:mm:ss)"],
])("%s is refused, and the field is named", (expression, message) => {
  expect(refusal(() => parseExpression(expression))).toContain(`TUNTAS_CRON_INVALID ${message}`);
});

test("a zone that Node does not know is refused, however long its name", () => {
  for (const name of ["", "Mars/Olympus", "+25:00", "x".repeat(1e6)])
    expect(refusal(() => zoneOf(name)).slice(0, 200)).toContain(
      "TUNTAS_TIME_ZONE_INVALID time zone: expected an IANA name",
    );
});
