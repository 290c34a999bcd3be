// Days on which a schedule's work is not done, by the calendar of its zone: pure, like state.ts.
import type { Zone } from "../core/cron/index.ts";
import { dayMs, formatTimestamp } from "../core/timestamp.ts";
import { weekdays, type Holidays } from "./contract.ts";

/** What is due on a holiday. */
export interface Closed {
  readonly date: string;
  /** When it begins instead; undefined where it does not. */
  readonly movedToMs: number | undefined;
}

/** Undefined where the instant is on no holiday. */
export type ClosedAt = (dueMs: number) => Closed | undefined;

const daysMax = 366;
/** 1970 began on a Thursday. */
const firstWeekday = weekdays.indexOf("THU");

const dateOf = (local: number): string => formatTimestamp(local).slice(0, 10);

export function closedBy(holidays: Holidays | undefined, { offsetAt }: Pick<Zone, "offsetAt">): ClosedAt {
  if (!holidays) return () => undefined;
  const { dates, weekdays: weekend = [], rule } = holidays;
  const isClosed = (local: number): boolean =>
    dates.includes(dateOf(local)) ||
    weekend.includes(weekdays[(Math.floor(local / dayMs) + firstWeekday) % weekdays.length]!);

  /** The same local time of the first day that is open. */
  function movedFrom(local: number, offset: number): number | undefined {
    for (let day = 1; day <= daysMax; day++) {
      const moved = local + day * dayMs;
      if (!isClosed(moved)) return moved - offsetAt(moved - offset);
    }
    return undefined;
  }

  return (dueMs) => {
    const offset = offsetAt(dueMs);
    const local = dueMs + offset;
    if (!isClosed(local)) return undefined;
    return { date: dateOf(local), movedToMs: rule === "move" ? movedFrom(local, offset) : undefined };
  };
}
