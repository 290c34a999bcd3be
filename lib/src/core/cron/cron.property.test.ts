/* oxlint-disable no-restricted-globals -- the platform is the reference here, not a part */
// Cron expressions against an oracle that knows no calendar: it looks at each minute of some days, asks Intl what the clocks
// show, and keeps those that fit. The days are those around changes of the clocks, in zones that change them differently.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { isTuntasError } from "../error.ts";
import { parseExpression, recurrence, zoneOf } from "./index.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** What the clocks show at a minute. */
interface Shown {
  readonly instant: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  /** Sunday is 0. */
  readonly weekday: number;
  /** True where the same was shown before: the second of two such hours. */
  readonly again: boolean;
}

const places: readonly (readonly [zone: string, from: string, days: number])[] = [
  ["America/New_York", "2025-03-07", 4],
  ["America/New_York", "2025-10-31", 4],
  ["Europe/Berlin", "2026-03-27", 4],
  ["Europe/London", "2026-10-23", 4],
  ["America/Sao_Paulo", "2016-02-19", 4],
  ["Australia/Lord_Howe", "2026-04-03", 3],
  ["Australia/Lord_Howe", "2026-10-02", 3],
  ["Pacific/Apia", "2011-12-28", 5],
  ["Africa/Cairo", "2026-04-22", 4],
  ["Antarctica/Casey", "2018-03-09", 3],
  ["Africa/Monrovia", "1972-01-05", 4],
  ["Asia/Kathmandu", "2024-02-27", 4],
  ["+07:00", "2026-12-30", 3],
];

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function watchClocks([zone, from, days]: (typeof places)[number]): Shown[] {
  const fixed = /^\+(\d\d):/.exec(zone);
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: fixed ? `Etc/GMT-${Number(fixed[1])}` : zone,
    hourCycle: "h23",
    weekday: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const seen = new Set<string>();
  const shown: Shown[] = [];
  // Some clocks were not whole minutes from UTC, so that their minutes begin at any second.
  const partsAt = (instant: number) =>
    Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const start = Date.parse(`${from}T00:00:00Z`);
  for (let at = start; at < start + days * dayMs; at += minuteMs) {
    const here = partsAt(at);
    const late = (60 - Number(here.second)) % 60;
    const instant = at + late * 1000;
    const { second, weekday, ...parts } = (late === 0 ? here : partsAt(instant)) as Record<string, string>;
    if (second !== "0" && second !== "00") continue;
    const text = JSON.stringify(parts);
    const { minute, hour, day, month } = Object.fromEntries(
      Object.entries(parts).map(([type, value]) => [type, Number(value)]),
    ) as Record<"minute" | "hour" | "day" | "month", number>;
    shown.push({
      instant,
      minute,
      hour,
      day,
      month,
      weekday: weekdays.indexOf(weekday!),
      again: seen.has(text),
    });
    seen.add(text);
  }
  return shown;
}

const clocks = new Map<string, Shown[]>();
beforeAll(() => {
  for (const place of places) clocks.set(place.join(), watchClocks(place));
});

/** A field as text, what it takes, and whether it is a rhythm. */
interface Part {
  readonly text: string;
  readonly takes: (value: number) => boolean;
  readonly rhythm: boolean;
}

const star: Part = { text: "*", takes: () => true, rhythm: true };

function partOf(min: number, max: number): fc.Arbitrary<Part> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 1, max: max - min });
  const list = fc
    .uniqueArray(value, { minLength: 1, maxLength: 4 })
    .map((values): Part => ({ text: values.join(), takes: (each) => values.includes(each), rhythm: false }));
  const steps = step.map((by): Part => ({
    text: `*/${by}`,
    takes: (each) => (each - min) % by === 0,
    rhythm: true,
  }));
  const range = fc.tuple(value, value, step).map(([a, b, by]): Part => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const takes = (each: number) => each >= low && each <= high && (each - low) % by === 0;
    return { text: `${low}-${high}/${by}`, takes, rhythm: low === min && high === max && by === 1 };
  });
  return fc.oneof({ weight: 2, arbitrary: fc.constant(star) }, list, steps, range);
}

interface Tried {
  readonly text: string;
  readonly takes: (shown: Shown) => boolean;
}

const mostly = (part: fc.Arbitrary<Part>) => fc.oneof({ weight: 3, arbitrary: fc.constant(star) }, part);

/** The same expression for crontab, and for EventBridge where it has one. */
const expressions: fc.Arbitrary<Tried> = fc
  .record({
    minute: partOf(0, 59),
    hour: partOf(0, 23),
    day: mostly(partOf(1, 31)),
    month: mostly(partOf(1, 12)),
    weekday: mostly(partOf(0, 6)),
    aws: fc.boolean(),
  })
  .map(({ minute, hour, day, month, weekday, aws }): Tried => {
    const onlyOne = aws ? { day, weekday: star } : { day, weekday };
    const either = !onlyOne.day.text.startsWith("*") && !onlyOne.weekday.text.startsWith("*");
    const fixed = !minute.rhythm && !hour.rhythm;
    const takes = (shown: Shown): boolean => {
      const byDay = onlyOne.day.takes(shown.day);
      const byWeekday = onlyOne.weekday.takes(shown.weekday);
      return (
        minute.takes(shown.minute) &&
        hour.takes(shown.hour) &&
        month.takes(shown.month) &&
        (either ? byDay || byWeekday : byDay && byWeekday) &&
        !(fixed && shown.again)
      );
    };
    const time = `${minute.text} ${hour.text} ${day.text} ${month.text}`;
    return { text: aws ? `cron(${time} ? *)` : `${time} ${weekday.text}`, takes };
  });

const parsed = (text: string) => {
  try {
    return parseExpression(text);
  } catch (error) {
    if (isTuntasError(error, "TUNTAS_CRON_NEVER")) return undefined;
    throw error;
  }
};

test("next and previous find what a look at each minute finds, over changes of the clocks", () => {
  fc.assert(
    fc.property(expressions, fc.constantFrom(...places), ({ text, takes }, place) => {
      const expression = parsed(text);
      if (expression === undefined) return;
      const shown = clocks.get(place.join())!;
      // The first day only tells what was shown before.
      const from = shown[0]!.instant + dayMs;
      const until = shown.at(-1)!.instant;
      const expected = shown
        .filter((each) => each.instant > from && takes(each))
        .map(({ instant }) => instant);
      const { next, previous } = recurrence(expression, zoneOf(place[0]), 0);
      // Of a thousand minutes some, so that one run stays short; the first and the last always.
      const every = Math.max(1, Math.floor(expected.length / 20));
      for (let index = 0; index < expected.length; index += every) {
        expect(next(expected[index - 1] ?? from)).toBe(expected[index]);
        expect(previous(expected[index + 1] ?? until + 1)).toBe(expected[index]);
      }
      const after = next(expected.at(-1) ?? from);
      expect(after === undefined || after > until).toBe(true);
    }),
    { numRuns: 200 },
  );
}, 60_000);

const instants = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2200, 0, 1) });

test("next is later, previous is earlier, and each is the other's inverse; in every zone, in bounded time", () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
  fc.assert(
    fc.property(expressions, zones, instants, ({ text }, name, from) => {
      const expression = parsed(text);
      if (expression === undefined) return;
      const { next, previous } = recurrence(expression, zoneOf(name), 0);
      const later = next(from);
      if (later !== undefined) {
        expect(later).toBeGreaterThan(from);
        const before = previous(later);
        expect(before === undefined || before <= from).toBe(true);
        if (before !== undefined) expect(next(before)).toBe(later);
      }
      const earlier = previous(from);
      if (earlier !== undefined) expect(earlier).toBeLessThan(from);
    }),
    { numRuns: 200 },
  );
}, 60_000);

const hostile = fc.oneof(
  fc.string({ maxLength: 400, unit: "binary" }),
  fc
    .array(fc.constantFrom(..."0123456789*/-,?LW#() ", "cron(", "rate(", "at(", "MON", "JAN", " "))
    .map((parts) => parts.join("")),
  fc
    .array(
      fc.constantFrom(
        "*",
        "?",
        "L",
        "LW",
        "31W",
        "0-59",
        "*/59",
        "2#5",
        "6L",
        "1,".repeat(60) + "1",
        "2199",
        "29",
        "FEB",
      ),
      {
        minLength: 5,
        maxLength: 6,
      },
    )
    .map((fields) => (fields.length === 6 ? `cron(${fields.join(" ")})` : fields.join(" "))),
  fc.constantFrom(
    " ".repeat(1e6),
    `cron(${"*".repeat(1e6)})`,
    `${"0-59,".repeat(1e5)} * * * *`,
    "at(".repeat(1e5),
  ),
);

test("hostile expressions and zones are refused with a code or answered, in bounded time", () => {
  fc.assert(
    fc.property(
      hostile,
      fc.oneof(fc.constant("Europe/Paris"), fc.string({ unit: "binary" })),
      instants,
      (text, name, from) => {
        const cpu = process.cpuUsage();
        try {
          const of = recurrence(parseExpression(text), zoneOf(name), from);
          of.previous(of.next(from) ?? from);
        } catch (error) {
          if (!isTuntasError(error)) throw error;
          expect(error.message.length).toBeLessThan(2000);
        }
        const { user } = process.cpuUsage(cpu);
        expect(user / 1000).toBeLessThan(2000);
      },
    ),
    { numRuns: 1000 },
  );
}, 60_000);
