// Time zones as Node's Intl knows them: how far local time is ahead of UTC at an instant, and when that changes.
import { cronErrors } from "./error.ts";
import { dayMs, daysSince1970 } from "../timestamp.ts";

export interface Zone {
  readonly name: string;
  /** Local time minus UTC at the instant, in ms. */
  readonly offsetAt: (instant: number) => number;
}

type Clock = [month: number, day: number, year: number, hour: number, minute: number, second: number];

const nameMax = 64;

const unknown = (name: unknown, cause?: unknown) =>
  cronErrors.error(
    "TUNTAS_TIME_ZONE_INVALID",
    `time zone: expected an IANA name such as "Asia/Jakarta", got ${JSON.stringify(name)?.slice(0, nameMax)}`,
    { cause },
  );

function fixedOffset(name: string): number | undefined {
  const match = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/.exec(name);
  if (!match) return undefined;
  return (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}

const shape: Intl.DateTimeFormatOptions = {
  hourCycle: "h23",
  calendar: "gregory",
  numberingSystem: "latn",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
};

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", { ...shape, timeZone });
  } catch (cause) {
    throw unknown(timeZone, cause);
  }
}

/** Errors: TUNTAS_TIME_ZONE_INVALID. */
export function zoneOf(name: string): Zone {
  if (typeof name !== "string" || name === "" || name.length > nameMax) throw unknown(name);
  const fixed = fixedOffset(name);
  if (fixed !== undefined) return { name, offsetAt: () => fixed };
  const format = formatOf(name);
  const offsetAt = (instant: number): number => {
    const second = Math.floor(instant / 1000) * 1000;
    const [month, day, year, hour, minute, rest] = format.format(second).match(/\d+/g)!.map(Number) as Clock;
    const clock = ((hour * 60 + minute) * 60 + rest) * 1000;
    return daysSince1970(year, month, day) * dayMs + clock - second;
  };
  return { name, offsetAt };
}

/**
 * The first instant after `from`, up to `until`, at which the offset is another than just before. The two are at most a
 * day apart: no zone has changed its clocks twice within a day since 1970.
 */
export function changeWithin({ offsetAt }: Zone, from: number, until: number): number | undefined {
  const before = offsetAt(from);
  if (offsetAt(until) === before) return undefined;
  let low = from;
  let high = until;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** The instants at which the clocks of the zone show the local time: none in a gap, two in a repeated hour. */
export function instantsOf({ offsetAt }: Zone, local: number): number[] {
  const offsets = [...new Set([offsetAt(local - dayMs), offsetAt(local + dayMs)])];
  return offsets
    .map((offset) => ({ offset, instant: local - offset }))
    .filter(({ offset, instant }) => offsetAt(instant) === offset)
    .map(({ instant }) => instant)
    .toSorted((a, b) => a - b);
}
