// The dates and times that fit a cron expression, on a calendar without zones: a local time is written as the
// milliseconds that it would be in UTC.
import { civil, dayMs, daysIn, daysSince1970 } from "../timestamp.ts";

export type DayRule =
  | { readonly kind: "days"; readonly days: readonly number[] }
  /** So many days before the last day of the month. */
  | { readonly kind: "last"; readonly before: number }
  | { readonly kind: "last-workday" }
  /** The workday (Monday to Friday) of the same month that is nearest to the day. */
  | { readonly kind: "nearest-workday"; readonly day: number }
  /** Sunday is 0. */
  | { readonly kind: "weekdays"; readonly weekdays: readonly number[] }
  | { readonly kind: "last-weekday"; readonly weekday: number }
  | { readonly kind: "nth-weekday"; readonly weekday: number; readonly nth: number };

export interface Calendar {
  /** Minutes of the day, in order. */
  readonly times: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** A day fits if it fits one rule of each list. */
  readonly days: readonly (readonly DayRule[])[];
}

export const yearMin = 1970;
export const yearMax = 2199;
export const minuteMs = 60_000;

interface Month {
  readonly year: number;
  /** January is 1. */
  readonly month: number;
  readonly length: number;
  /** Of its first day. */
  readonly weekday: number;
}

/** 1970 began on a Thursday. */
const monthOf = (year: number, month: number): Month => ({
  year,
  month,
  length: daysIn(year, month),
  weekday: (daysSince1970(year, month, 1) + 4) % 7,
});

const weekdayOf = (month: Month, day: number): number => (month.weekday + day - 1) % 7;

function nearestWorkday(month: Month, day: number): number {
  const weekday = weekdayOf(month, day);
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < month.length ? day + 1 : day - 2;
  return day;
}

const every = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);
const lastWorkday = (month: Month): number =>
  every(month.length).findLast((day) => weekdayOf(month, day) % 6 !== 0)!;

function daysOf(month: Month, rule: DayRule): readonly number[] {
  const { length } = month;
  const on = (weekday: number): number[] => every(length).filter((day) => weekdayOf(month, day) === weekday);
  switch (rule.kind) {
    case "days":
      return rule.days.filter((day) => day <= length);
    case "last":
      return rule.before < length ? [length - rule.before] : [];
    case "last-workday":
      return [lastWorkday(month)];
    case "nearest-workday":
      return rule.day <= length ? [nearestWorkday(month, rule.day)] : [];
    case "weekdays":
      return rule.weekdays.flatMap(on);
    case "last-weekday":
      return on(rule.weekday).slice(-1);
    case "nth-weekday":
      return on(rule.weekday).slice(rule.nth - 1, rule.nth);
  }
}

/** The days of the month that fit, in order. */
function fittingDays({ years, months, days }: Calendar, year: number, month: number): number[] {
  if (!years.has(year) || !months.has(month)) return [];
  const of = monthOf(year, month);
  const lists = days.map((rules) => new Set(rules.flatMap((rule) => daysOf(of, rule))));
  return every(of.length).filter((day) => lists.every((fit) => fit.has(day)));
}

/** The first local time that fits, at `local` or later. */
export function firstFrom(calendar: Calendar, local: number): number | undefined {
  const today = Math.floor(local / dayMs);
  let [year, month] = civil(Math.max(today, daysSince1970(yearMin, 1, 1)));
  for (; year <= yearMax; month === 12 ? ((month = 1), year++) : month++)
    for (const date of fittingDays(calendar, year, month)) {
      const day = daysSince1970(year, month, date);
      if (day < today) continue;
      const start = day * dayMs;
      const fits = (each: number): boolean => start + each * minuteMs >= local;
      const time = day > today ? calendar.times[0] : calendar.times.find(fits);
      if (time !== undefined) return start + time * minuteMs;
    }
  return undefined;
}

/** The last local time that fits, at `local` or earlier. */
export function lastUntil(calendar: Calendar, local: number): number | undefined {
  const today = Math.floor(local / dayMs);
  let [year, month] = civil(Math.min(today, daysSince1970(yearMax, 12, 31)));
  for (; year >= yearMin; month === 1 ? ((month = 12), year--) : month--)
    for (const date of fittingDays(calendar, year, month).toReversed()) {
      const day = daysSince1970(year, month, date);
      if (day > today) continue;
      const start = day * dayMs;
      const fits = (each: number): boolean => start + each * minuteMs <= local;
      const time = day < today ? calendar.times.at(-1) : calendar.times.findLast(fits);
      if (time !== undefined) return start + time * minuteMs;
    }
  return undefined;
}
