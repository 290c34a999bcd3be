import fc from "fast-check";
import { expect, test } from "vitest";
import { zoneOf } from "../core/cron/index.ts";
import { defaultRetry, occurrencesMax, onTimeMs } from "./contract.ts";
import { closedBy } from "./holidays.ts";
import {
  clockworkOf,
  decide,
  dueInstants,
  filledIn,
  keyOf,
  leftOutBefore,
  retry,
  windowStartOf,
  type Rules,
} from "./state.ts";

const at = (text: string): number => Date.parse(text);
const unbounded = { startsMs: null, endsMs: null };
const minutely = clockworkOf({ expression: "* * * * *", timeZone: "UTC", anchorMs: 0, ...unbounded });
const hourMs = 3_600_000;

const rules = (more: Partial<Rules> = {}): Rules => ({
  overlap: "allow",
  catchUp: "skip",
  catchUpWithinMs: 24 * hourMs,
  flexibleMs: 0,
  ...more,
});

const open = () => undefined;

/** What is decided when somebody looks again at `until`, with nothing under way. */
function lookAt(until: string, { from, ...more }: Partial<Rules> & { readonly from: string }) {
  const { instants, beyond } = dueInstants(minutely, at(from), at(until));
  const decisions = decide({
    due: instants,
    nowMs: at(until),
    windowStartMs: windowStartOf(minutely, instants[0]!),
    rules: rules(more),
    underway: { running: undefined, waiting: 0 },
    closedAt: open,
    random: () => 0.5,
  });
  return { decisions, beyond };
}

const started = ({ decisions }: ReturnType<typeof lookAt>) =>
  decisions.filter(({ state }) => state !== "missed");

test("sched-01: after an outage none, the latest or all run, each with its own instant, and the next is on time", () => {
  const [from, until] = ["2025-06-01T08:29:00Z", "2025-06-01T10:21:30Z"];
  expect(lookAt(until, { from }).decisions).toHaveLength(113);
  expect(started(lookAt(until, { from }))).toEqual([]);
  const latest = started(lookAt(until, { from, catchUp: "latest" }));
  expect(latest.map(({ dueMs }) => dueMs)).toEqual([at("2025-06-01T10:21:00Z")]);
  const all = started(lookAt(until, { from, catchUp: "all", overlap: "queue" }));
  expect(all).toHaveLength(113);
  expect(all.map(({ state }) => state)).toEqual(["started", ...Array.from({ length: 112 }, () => "waiting")]);
  expect(all.map(({ dueMs }) => dueMs)).toEqual(all.map(({ dueMs }) => dueMs).toSorted((a, b) => a - b));
  expect(minutely.recurrence.next(at(until))).toBe(at("2025-06-01T10:22:00Z"));
  const onTime = lookAt("2025-06-01T10:22:01Z", { from: "2025-06-01T10:22:00Z" });
  expect(onTime.decisions).toMatchObject([{ state: "started", reason: null }]);
});

test("what is caught up is bounded in age and in number, and what is beyond is known", () => {
  const within = lookAt("2025-06-01T10:00:30Z", {
    from: "2025-06-01T08:00:00Z",
    catchUp: "all",
    catchUpWithinMs: hourMs,
  });
  expect(started(within)).toHaveLength(60);
  const { decisions, beyond } = lookAt("2026-06-01T00:00:30Z", {
    from: "2025-06-01T00:00:00Z",
    catchUp: "all",
    catchUpWithinMs: 400 * 24 * hourMs,
  });
  expect(decisions).toHaveLength(occurrencesMax);
  expect(beyond).toBe(at("2025-06-01T00:00:00Z"));
});

test("of the latest rule what is due on time is the latest", () => {
  const { decisions } = lookAt("2025-06-01T10:22:01Z", { from: "2025-06-01T10:20:00Z", catchUp: "latest" });
  expect(decisions.map(({ state }) => state)).toEqual(["missed", "missed", "started"]);
});

test("S-06 S-18: with skip a job of two hours that is due every 30 minutes never runs twice at a time", () => {
  const half = clockworkOf({
    expression: "*/30 * * * *",
    timeZone: "Asia/Jakarta",
    anchorMs: 0,
    ...unbounded,
  });
  const { instants } = dueInstants(half, at("2025-06-01T00:30:00Z"), at("2025-06-01T00:30:01Z"));
  const decided = decide({
    due: instants,
    nowMs: at("2025-06-01T00:30:01Z"),
    windowStartMs: at("2025-06-01T00:00:00Z"),
    rules: rules({ overlap: "skip" }),
    underway: { running: at("2025-06-01T00:00:00Z"), waiting: 0 },
    closedAt: open,
    random: () => 0.5,
  });
  expect(decided).toMatchObject([{ state: "skipped", reason: "the one of 2025-06-01T00:00:00Z still runs" }]);
});

const expressions = ["* * * * *", "*/7 3 * * *", "30 1 * * *", "0 0 L * ? *", "0 */5 * * 1-5"].map((each) =>
  each.endsWith("? *") ? `cron(${each})` : each,
);

test("S-13: the windows of consecutive occurrences tile the line, over changes of the clocks and however often one looks", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...expressions, "rate(90 minutes)"),
      fc.constantFrom("America/New_York", "Australia/Lord_Howe", "Asia/Jakarta"),
      fc.array(fc.integer({ min: 1, max: 40 * hourMs }), { minLength: 1, maxLength: 12 }),
      fc.constantFrom<Rules["catchUp"]>("skip", "latest", "all"),
      (expression, timeZone, pauses, catchUp) => {
        const startMs = at("2025-10-31T00:00:00Z");
        const clockwork = clockworkOf({ expression, timeZone, anchorMs: startMs, ...unbounded });
        let nextDueMs = clockwork.recurrence.next(startMs)!;
        let coveredUntilMs = windowStartOf(clockwork, nextDueMs);
        let [nowMs, looked] = [startMs, 0];
        for (const pause of pauses) {
          nowMs += pause;
          if (nextDueMs > nowMs) continue;
          const { instants, beyond } = dueInstants(clockwork, nextDueMs, nowMs);
          if (beyond !== undefined) return;
          const decisions = decide({
            due: instants,
            nowMs,
            windowStartMs: coveredUntilMs,
            rules: rules({ catchUp }),
            underway: { running: undefined, waiting: 0 },
            closedAt: open,
            random: () => 0.5,
          });
          expect(decisions[0]!.dueMs).toBe(nextDueMs);
          for (const each of decisions) {
            expect(each.windowStartMs).toBe(coveredUntilMs);
            expect(each.dueMs).toBeGreaterThan(each.windowStartMs);
            if (nowMs - each.dueMs <= onTimeMs) expect(each.state).toBe("started");
            coveredUntilMs = each.dueMs;
            looked++;
          }
          nextDueMs = clockwork.recurrence.next(coveredUntilMs)!;
          expect(nextDueMs).toBeGreaterThan(nowMs);
        }
        expect(looked).toBeGreaterThanOrEqual(0);
      },
    ),
    { numRuns: 150 },
  );
});

test("cron-01: the local time that the clocks left out is known with the occurrence after it", () => {
  const clockwork = clockworkOf({
    expression: "30 2 * * *",
    timeZone: "America/New_York",
    anchorMs: 0,
    ...unbounded,
  });
  expect(leftOutBefore(clockwork, at("2025-03-10T06:30:00Z"))).toEqual(["2025-03-09T02:30"]);
});

test("the key of an occurrence can name an execution", () => {
  expect(keyOf("nightly-report", at("2026-11-30T02:00:00Z"), 0)).toBe("nightly-report-20261130T020000Z");
  expect(keyOf("n".repeat(48), at("2026-11-30T02:00:00Z"), 12).length).toBeLessThanOrEqual(80);
});

test("work that cannot be begun is tried ever later, by EventBridge's policy for about a day, and never after its end", () => {
  for (const random of [0, 0.5, 1]) {
    let [nowMs, tries] = [0, 0];
    const waits: number[] = [];
    for (;;) {
      const next = retry({ tries: ++tries, firstTryMs: 0, nowMs, policy: defaultRetry, random });
      if ("exhausted" in next) break;
      waits.push(next.againAtMs - nowMs);
      nowMs = next.againAtMs;
    }
    expect(waits.slice(0, 9)).toEqual(waits.slice(0, 9).toSorted((a, b) => a - b));
    expect(waits[0]).toBeLessThanOrEqual(1000);
    expect(nowMs).toBeGreaterThan(14 * hourMs);
    expect(nowMs).toBeLessThanOrEqual(24 * hourMs);
  }
  const bounds = { firstTryMs: 0, random: 1, policy: { retriesMax: 2, retryWithinMs: 60_000 } };
  expect(retry({ ...bounds, tries: 3, nowMs: 5000 })).toEqual({ exhausted: "MaximumRetryAttempts" });
  expect(retry({ ...bounds, tries: 1, nowMs: 60_000 })).toEqual({ exhausted: "MaximumEventAgeInSeconds" });
  expect(retry({ ...bounds, tries: 2, nowMs: 59_000 })).toEqual({ againAtMs: 60_000 });
});

test("nothing is due before the start or after the end, both included; a one-time schedule knows neither", () => {
  const [startsMs, endsMs] = [at("2025-06-01T10:00:00Z"), at("2025-06-01T10:02:00Z")];
  const bounded = { timeZone: "UTC", anchorMs: startsMs, startsMs, endsMs };
  for (const expression of ["* * * * *", "rate(1 minute)"]) {
    const { recurrence } = clockworkOf({ ...bounded, expression });
    expect(recurrence.next(0)).toBe(startsMs);
    expect(recurrence.next(endsMs - 1)).toBe(endsMs);
    expect(recurrence.next(endsMs)).toBeUndefined();
    expect(recurrence.previous(endsMs + hourMs)).toBe(endsMs);
    expect(recurrence.previous(startsMs)).toBeUndefined();
  }
  const { recurrence } = clockworkOf({ ...bounded, expression: "at(2025-06-02T00:00:00)" });
  expect(recurrence.next(endsMs)).toBe(at("2025-06-02T00:00:00Z"));
});

test("EventBridge's keywords are filled in wherever they stand, and nothing else is", () => {
  const keywords = {
    "schedule-arn": "$&",
    "scheduled-time": "T",
    "execution-id": "E",
    "attempt-number": "1",
  };
  const text =
    "<aws.scheduler.schedule-arn> <aws.scheduler.scheduled-time><aws.scheduler.scheduled-time> <aws.scheduler.x> <T>";
  expect(filledIn(text, keywords)).toBe("$& TT <aws.scheduler.x> <T>");
});

test("within its flexible window an occurrence begins later, one that is late anyway at once", () => {
  const flexible = {
    due: [0],
    windowStartMs: -1,
    rules: rules({ flexibleMs: 60_000 }),
    underway: { running: undefined, waiting: 0 },
    closedAt: open,
  };
  expect(decide({ ...flexible, nowMs: 10, random: () => 0.5 })).toMatchObject([
    { state: "waiting", beginAtMs: 30_000 },
  ]);
  expect(decide({ ...flexible, nowMs: 10, random: () => 0 })).toMatchObject([
    { state: "started", beginAtMs: null },
  ]);
});

const holidays = { dates: ["2026-03-27"], weekdays: ["SAT", "SUN"] } as const;
const utc = zoneOf("UTC");

test("S-03: what falls on a holiday is skipped, or begins at its time of the next day that is none, and says so", () => {
  const due = at("2026-03-27T02:00:00Z"); // a Friday
  const look = (rule: "skip" | "move", nowMs: number, more: Partial<Rules> = {}) =>
    decide({
      due: [due],
      nowMs,
      windowStartMs: due - 24 * hourMs,
      rules: rules(more),
      underway: { running: undefined, waiting: 0 },
      closedAt: closedBy({ ...holidays, rule }, utc),
      random: () => 0,
    });
  expect(look("skip", due)).toMatchObject([{ state: "skipped", reason: "2026-03-27 is a holiday" }]);
  const monday = at("2026-03-30T02:00:00Z");
  const moved = { state: "waiting", beginAtMs: monday, reason: "moved from 2026-03-27, a holiday" };
  expect(look("move", due)).toMatchObject([moved]);
  expect(look("move", due + 2 * 24 * hourMs)).toMatchObject([moved]);
  expect(look("move", monday)).toMatchObject([{ state: "started", beginAtMs: null, reason: null }]);
  expect(look("move", monday + hourMs)).toMatchObject([{ state: "missed" }]);
  expect(look("move", monday + hourMs, { catchUp: "latest" })).toMatchObject([{ state: "started" }]);
});

test("S-03: a holiday is the zone's, and what is moved over a change of the clocks keeps its local time", () => {
  const berlin = closedBy({ ...holidays, rule: "move" }, zoneOf("Europe/Berlin"));
  expect(berlin(at("2026-03-26T22:59:00Z"))).toBeUndefined();
  // 09:00 before the clocks go forward on Sunday, and after.
  expect(berlin(at("2026-03-27T08:00:00Z"))).toEqual({
    date: "2026-03-27",
    movedToMs: at("2026-03-30T07:00:00Z"),
  });
  expect(closedBy(undefined, utc)(0)).toBeUndefined();
});
