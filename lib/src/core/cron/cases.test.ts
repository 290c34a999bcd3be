/* oxlint-disable no-restricted-globals -- the platform is the reference here, not a part */
// The cases of conformance/cases.jsonl that are about cron expressions, each under its id.
import { expect, test } from "vitest";
import { leftOut, parseExpression, recurrence, zoneOf } from "./index.ts";

const at = (text: string): number => Date.parse(text);
const iso = (instant: number | undefined): string | undefined =>
  instant === undefined ? undefined : new Date(instant).toISOString().replace(":00.000Z", "Z");

const of = (expression: string, zone: string, anchor = 0) =>
  recurrence(parseExpression(expression), zoneOf(zone), anchor);

interface Asked {
  readonly cron: string;
  readonly tz: string;
  /** Included. */
  readonly from: string;
  readonly until?: string;
  readonly count?: number;
}

function occurrences({ cron, tz, from, until = "2199-01-01T00:00:00Z", count = 1000 }: Asked): string[] {
  const found: string[] = [];
  const { next } = of(cron, tz);
  for (let each = next(at(from) - 1); each !== undefined && each < at(until); each = next(each)) {
    if (found.length === count) break;
    found.push(iso(each)!);
  }
  return found;
}

test("cron-01: a daily job inside the spring gap is skipped that day, and it is known which local time was", () => {
  const cron = "30 2 * * *";
  const tz = "America/New_York";
  const found = occurrences({ cron, tz, from: "2025-03-08T00:00:00Z", until: "2025-03-11T00:00:00Z" });
  expect(found).toEqual(["2025-03-08T07:30Z", "2025-03-10T06:30Z"]);
  const [before, after] = found.map((each) => at(each)) as [number, number];
  expect(leftOut(parseExpression(cron), zoneOf(tz), [before, after])).toEqual(["2025-03-09T02:30"]);
});

test("cron-02: a fixed-time job in the repeated autumn hour runs once", () => {
  const cron = "30 1 * * *";
  const tz = "America/New_York";
  expect(occurrences({ cron, tz, from: "2025-11-01T12:00:00Z", until: "2025-11-04T00:00:00Z" })).toEqual([
    "2025-11-02T05:30Z",
    "2025-11-03T06:30Z",
  ]);
  const { previous } = of(cron, tz);
  const last = previous(at("2025-11-02T07:00:00Z"))!;
  expect([iso(last), iso(previous(last))]).toEqual(["2025-11-02T05:30Z", "2025-11-01T05:30Z"]);
});

test("cron-05: where the clock goes back across midnight the repeated hour belongs to the evening before", () => {
  const tz = "America/Sao_Paulo";
  expect(iso(of("* * * * *", tz).next(at("2016-02-21T02:00:00Z")))).toBe("2016-02-21T02:01Z");
  const from = "2016-02-20T12:00:00Z";
  expect(occurrences({ cron: "30 23 * * *", tz, from, count: 2 })).toEqual([
    "2016-02-21T01:30Z",
    "2016-02-22T02:30Z",
  ]);
  expect(occurrences({ cron: "0 0 * * *", tz, from, count: 2 })).toEqual([
    "2016-02-21T03:00Z",
    "2016-02-22T03:00Z",
  ]);
});

test("cron-08: LW, nW and the months that are too short for them; crontab has neither", () => {
  const days = (field: string, from: string, count: number) =>
    occurrences({ cron: `cron(0 9 ${field} * ? *)`, tz: "UTC", from, count }).map((each) =>
      each.slice(0, 10),
    );
  expect(days("LW", "2023-09-01T00:00:00Z", 4)).toEqual([
    "2023-09-29",
    "2023-10-31",
    "2023-11-30",
    "2023-12-29",
  ]);
  expect(days("1W", "2026-07-15T00:00:00Z", 1)).toEqual(["2026-08-03"]);
  expect(days("31W", "2026-04-01T00:00:00Z", 3)).toEqual(["2026-05-29", "2026-07-31", "2026-08-31"]);
  for (const field of ["LW", "1W", "31W"])
    expect(() => parseExpression(`0 9 ${field} * *`)).toThrow(/^day-of-month: expected 1-31, got/);
});

test("cron-10: in five fields a restricted day-of-month and day-of-week are joined by OR", () => {
  expect(
    occurrences({
      cron: "0 0 13 * 5",
      tz: "UTC",
      from: "2026-06-01T00:00:00Z",
      until: "2026-07-01T00:00:00Z",
    }),
  ).toEqual(["05", "12", "13", "19", "26"].map((day) => `2026-06-${day}T00:00Z`));
  expect(() => parseExpression("cron(0 0 13 * 5 *)")).toThrow(/expected "\?" in exactly one of them/);
});

test("cron-12: rate(1 day) is 24 elapsed hours; a daily cron is a time on the clock", () => {
  const first = at("2022-11-05T21:00:00Z");
  const two = ({ next }: ReturnType<typeof of>) => [iso(next(first)), iso(next(next(first)!))];
  const daily = ["2022-11-06T21:00Z", "2022-11-07T21:00Z"];
  expect(two(of("rate(1 day)", "America/Los_Angeles", first))).toEqual(daily);
  expect(two(of("0 14 * * *", "America/Phoenix"))).toEqual(daily);
  expect(two(of("0 14 * * *", "America/Los_Angeles"))).toEqual(["2022-11-06T22:00Z", "2022-11-07T22:00Z"]);
});
