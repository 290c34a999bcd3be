// Dates and ISO 8601 instants, without a Date: what a Wait or a Choice compares, what the context object shows, and the
// calendar of cron expressions.

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})$/;
export const dayMs = 86_400_000;

/** Milliseconds since 1970 (with a fraction where the text has one), or undefined where it is no such instant. */
export function parseTimestamp(text: string): number | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > daysIn(year, month) ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  )
    return undefined;
  const fraction = match[7] === undefined ? 0 : Number(`0.${match[7]}`) * 1000;
  const clock = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
  return daysSince1970(year, month, day) * dayMs + clock - offsetMs(match[8]!);
}

function offsetMs(zone: string): number {
  if (zone === "Z") return 0;
  const digits = zone.replace(":", "");
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3, 5));
  return (digits[0] === "-" ? -minutes : minutes) * 60_000;
}

/** How many days the month has; January is 1. */
export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Howard Hinnant's days_from_civil: years begin in March, so that the leap day comes last. */
export function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return (
    era * 146_097 +
    yearOfEra * 365 +
    Math.floor(yearOfEra / 4) -
    Math.floor(yearOfEra / 100) +
    dayOfYear -
    719_468
  );
}

const two = (n: number): string => String(n).padStart(2, "0");

/** `2026-11-29T14:30:00.123Z`. */
export function formatTimestamp(ms: number): string {
  const days = Math.floor(ms / dayMs);
  const rest = Math.floor(ms - days * dayMs);
  const [year, month, day] = civil(days);
  const clock = `${two(Math.floor(rest / 3_600_000))}:${two(Math.floor(rest / 60_000) % 60)}:${two(Math.floor(rest / 1000) % 60)}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${clock}.${String(rest % 1000).padStart(3, "0")}Z`;
}

/** Year, month and day, so many days after 1970-01-01. */
export function civil(days: number): [number, number, number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return [
    yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  ];
}
