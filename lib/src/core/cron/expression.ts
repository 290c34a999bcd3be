// What a schedule's expression says, read from its text: EventBridge's cron(…), rate(…) and at(…), and the five fields of
// crontab. Source: "Schedule types in EventBridge Scheduler" (AWS), and POSIX crontab with the names, steps and Sunday
// as 7 of crontab(5).
import { dayMs, daysSince1970, parseTimestamp } from "../timestamp.ts";
import { firstFrom, yearMax, yearMin, type Calendar, type DayRule } from "./calendar.ts";
import { cronErrors } from "./error.ts";
import { parseField, unfit, valueOf, type Field, type FieldRules, type FieldShape } from "./field.ts";

export type Expression =
  | {
      readonly kind: "cron";
      readonly text: string;
      readonly calendar: Calendar;
      /** A time on the clock, which comes once a day even where an hour comes twice; else a rhythm, which goes on. */
      readonly fixed: boolean;
    }
  | { readonly kind: "rate"; readonly text: string; readonly periodMs: number }
  /** The local time as it would be in UTC. */
  | { readonly kind: "at"; readonly text: string; readonly local: number };

const monthNames = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const dayNames = "SUN MON TUE WED THU FRI SAT".split(" ");

const minutes: FieldShape = { name: "minutes", min: 0, max: 59 };
const hours: FieldShape = { name: "hours", min: 0, max: 23 };
const monthDay: FieldShape = { name: "day-of-month", min: 1, max: 31 };
const month: FieldShape = { name: "month", min: 1, max: 12, names: monthNames };
const years: FieldShape = { name: "year", min: yearMin, max: yearMax };
const awsMonthDay: FieldShape = { ...monthDay, also: 'L, L-3, LW, 15W or "?"' };
const awsWeekday: FieldShape = {
  name: "day-of-week",
  min: 1,
  max: 7,
  names: dayNames,
  also: 'L, 6L, 3#2 or "?" and no step',
};
const unixWeekday: FieldShape = { name: "day-of-week", min: 0, max: 7, names: dayNames };

const aws: FieldRules = { wraps: true };
const unix: FieldRules = { wraps: false };

const textMax = 256;

const malformed = (expected: string, text: unknown) =>
  cronErrors.error(
    "TUNTAS_CRON_INVALID",
    `expression: expected ${expected}, got ${JSON.stringify(text)?.slice(0, textMax)}`,
    { details: { field: "expression" } },
  );

function awsMonthDays(text: string): DayRule[] {
  const upper = text.toUpperCase();
  if (upper === "LW" || upper === "WL") return [{ kind: "last-workday" }];
  const last = /^L(?:-(\d{1,2}))?$/.exec(upper);
  if (last) {
    const before = Number(last[1] ?? 0);
    if (before > 30) throw unfit(awsMonthDay, text);
    return [{ kind: "last", before }];
  }
  const near = /^(\d{1,2})W$/.exec(upper);
  if (near) return [{ kind: "nearest-workday", day: valueOf(awsMonthDay, near[1]!) }];
  return [{ kind: "days", days: parseField(awsMonthDay, aws, text).values }];
}

/** Sunday is 1 for EventBridge, and 0 here. */
function awsWeekdays(text: string): DayRule[] {
  const upper = text.toUpperCase();
  if (upper === "L") return [{ kind: "weekdays", weekdays: [6] }];
  const last = /^([A-Z]{3}|\d)L$/.exec(upper);
  if (last) return [{ kind: "last-weekday", weekday: valueOf(awsWeekday, last[1]!) - 1 }];
  const nth = /^([A-Z]{3}|\d)#([1-5])$/.exec(upper);
  if (nth) return [{ kind: "nth-weekday", weekday: valueOf(awsWeekday, nth[1]!) - 1, nth: Number(nth[2]) }];
  if (text.includes("/")) throw unfit(awsWeekday, text);
  return [{ kind: "weekdays", weekdays: parseField(awsWeekday, aws, text).values.map((day) => day - 1) }];
}

function awsDays(ofMonth: string, ofWeek: string): DayRule[] {
  if ((ofMonth === "?") === (ofWeek === "?"))
    throw cronErrors.error(
      "TUNTAS_CRON_INVALID",
      `day-of-month and day-of-week: expected "?" in exactly one of them, got ${JSON.stringify(ofMonth)} and ${JSON.stringify(ofWeek)}`,
      { details: { field: "day-of-week" } },
    );
  return ofWeek === "?" ? awsMonthDays(ofMonth) : awsWeekdays(ofWeek);
}

/** Where both day fields are restricted one of them is enough; a field that begins with "*" restricts nothing. */
function unixDays(ofMonth: string, ofWeek: string): DayRule[][] {
  const days: DayRule = { kind: "days", days: parseField(monthDay, unix, ofMonth).values };
  const weekdays: DayRule = {
    kind: "weekdays",
    weekdays: [...new Set(parseField(unixWeekday, unix, ofWeek).values.map((day) => day % 7))],
  };
  return ofMonth.startsWith("*") || ofWeek.startsWith("*") ? [[days], [weekdays]] : [[days, weekdays]];
}

interface CronParts {
  readonly minute: Field;
  readonly hour: Field;
  readonly months: Field;
  readonly years: Field;
  readonly days: readonly (readonly DayRule[])[];
}

function cronOf(text: string, parts: CronParts): Expression {
  const { minute, hour, days } = parts;
  const times = hour.values.flatMap((of) => minute.values.map((each) => of * 60 + each));
  const months = new Set(parts.months.values);
  const calendar: Calendar = { times, months, years: new Set(parts.years.values), days };
  if (firstFrom(calendar, daysSince1970(yearMin, 1, 1) * dayMs) === undefined)
    throw cronErrors.error(
      "TUNTAS_CRON_NEVER",
      `day and month: expected a date that exists, got ${JSON.stringify(text)}`,
    );
  return { kind: "cron", text, calendar, fixed: !minute.rhythm && !hour.rhythm };
}

function parseAws(text: string, inner: string): Expression {
  const fields = inner.trim().split(/\s+/);
  if (fields.length !== 6)
    throw malformed("six fields: cron(minutes hours day-of-month month day-of-week year)", text);
  const [minute, hour, ofMonth, inMonth, ofWeek, inYear] = fields as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return cronOf(text, {
    minute: parseField(minutes, aws, minute),
    hour: parseField(hours, aws, hour),
    days: [awsDays(ofMonth, ofWeek)],
    months: parseField(month, aws, inMonth),
    years: parseField(years, unix, inYear.replace(/^(\d{4})\/(\d+)$/, `$1-${yearMax}/$2`)),
  });
}

function parseUnix(text: string, fields: readonly string[]): Expression {
  const [minute, hour, ofMonth, inMonth, ofWeek] = fields as [string, string, string, string, string];
  return cronOf(text, {
    minute: parseField(minutes, unix, minute),
    hour: parseField(hours, unix, hour),
    days: unixDays(ofMonth, ofWeek),
    months: parseField(month, unix, inMonth),
    years: parseField(years, unix, "*"),
  });
}

const unitMs: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const rateMaxMs = 36_500 * 86_400_000;

function parseRate(text: string, inner: string): Expression {
  const match = /^\s*([1-9]\d{0,8})\s+(minute|hour|day)s?\s*$/.exec(inner);
  const periodMs = match ? Number(match[1]) * unitMs[match[2]!]! : Infinity;
  if (periodMs > rateMaxMs)
    throw malformed("rate(value unit) with minutes, hours or days, at most 36500 days", text);
  return { kind: "rate", text, periodMs };
}

function parseAt(text: string, inner: string): Expression {
  const match = /^\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\s*$/.exec(inner);
  const local = match ? parseTimestamp(`${match[1]}Z`) : undefined;
  if (local === undefined) throw malformed("at(yyyy-mm-ddThh:mm:ss) with a date that exists", text);
  return { kind: "at", text, local };
}

const parsers = { cron: parseAws, rate: parseRate, at: parseAt };

/** Reads the expression. Errors: TUNTAS_CRON_INVALID, which names the field; TUNTAS_CRON_NEVER. */
export function parseExpression(text: string): Expression {
  const expected = "cron(…), rate(…), at(…) or the five fields of crontab";
  if (typeof text !== "string" || text.length > textMax) throw malformed(expected, text);
  const call = /^\s*(cron|rate|at)\(([^()]*)\)\s*$/.exec(text);
  if (call) return parsers[call[1] as keyof typeof parsers](text, call[2]!);
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5) throw malformed(expected, text);
  return parseUnix(text, fields);
}
