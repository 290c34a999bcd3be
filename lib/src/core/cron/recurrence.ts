// When an expression is due in a zone. A cron expression is a time on the clock there, a rate is elapsed time.
//
// Clock changes are those of EventBridge Scheduler: a local time that a jump leaves out is skipped; a fixed time in an hour
// that comes twice is due in the first only. A rhythm (every minute, every two hours) goes on through both hours.
import { dayMs, daysSince1970, formatTimestamp } from "../timestamp.ts";
import { firstFrom, lastUntil, minuteMs, yearMax, yearMin } from "./calendar.ts";
import { cronErrors } from "./error.ts";
import type { Expression } from "./expression.ts";
import { changeWithin, instantsOf, type Zone } from "./zone.ts";

/** Instants are in ms since 1970. */
export interface Recurrence {
  /** The first instant after `after`; undefined where none is left. */
  readonly next: (after: number) => number | undefined;
  /** The last instant before `before`; undefined where there was none. */
  readonly previous: (before: number) => number | undefined;
}

type Cron = Extract<Expression, { kind: "cron" }>;

const earliest = (daysSince1970(yearMin, 1, 1) - 2) * dayMs;
const latest = (daysSince1970(yearMax + 1, 1, 1) + 2) * dayMs;

/** Local time is never further from UTC than this, so two days from a fitting local time nothing else can fit. */
const nearMs = 2 * dayMs;

const isFirstOf = (zone: Zone, instant: number): boolean =>
  instantsOf(zone, instant + zone.offsetAt(instant))[0] === instant;

/*
 * Both ways the same walk: while the offset stays, the next instant follows from the calendar alone. The offset is looked
 * at in steps of a day at most, near where we are and near where we go; in between local times only rise to the next
 * that fits.
 */
function cronNext({ calendar, fixed }: Cron, zone: Zone, after: number): number | undefined {
  let at = Math.max(earliest, Math.floor(after) + 1);
  let steps = 0;
  while (at < latest) {
    const offset = zone.offsetAt(at);
    const local = firstFrom(calendar, Math.ceil((at + offset) / minuteMs) * minuteMs);
    const found = local === undefined ? Infinity : local - offset;
    const until = Math.min(found, at + dayMs);
    const change = changeWithin(zone, at, until);
    if (change !== undefined) [at, steps] = [change, 0];
    else if (found === until) {
      if (!fixed || isFirstOf(zone, found)) return found;
      [at, steps] = [found + 1, 0];
    } else if (++steps < 3) at = until;
    else if (found === Infinity) return undefined;
    else [at, steps] = [Math.max(until, found - nearMs), 0];
  }
  return undefined;
}

function cronPrevious({ calendar, fixed }: Cron, zone: Zone, before: number): number | undefined {
  let at = Math.min(latest, Math.ceil(before) - 1);
  let steps = 0;
  while (at > earliest) {
    const offset = zone.offsetAt(at);
    const local = lastUntil(calendar, Math.floor((at + offset) / minuteMs) * minuteMs);
    const found = local === undefined ? -Infinity : local - offset;
    const from = Math.max(found, at - dayMs);
    const change = changeWithin(zone, from, at);
    if (change !== undefined) [at, steps] = [change - 1, 0];
    else if (found === from) {
      if (!fixed || isFirstOf(zone, found)) return found;
      [at, steps] = [found - 1, 0];
    } else if (++steps < 3) at = from;
    else if (found === -Infinity) return undefined;
    else [at, steps] = [Math.min(from, found + nearMs), 0];
  }
  return undefined;
}

function once(local: number, text: string, zone: Zone): Recurrence {
  const [instant] = instantsOf(zone, local);
  if (instant === undefined)
    throw cronErrors.error(
      "TUNTAS_LOCAL_TIME_MISSING",
      `expression: expected a local time that exists in ${zone.name}, got ${JSON.stringify(text)}`,
    );
  return {
    next: (after) => (instant > after ? instant : undefined),
    previous: (before) => (instant < before ? instant : undefined),
  };
}

function steady(periodMs: number, anchor: number): Recurrence {
  const count = (instant: number): number => (instant - anchor) / periodMs;
  return {
    next: (after) => anchor + Math.max(0, Math.floor(count(after)) + 1) * periodMs,
    previous: (before) => (before > anchor ? anchor + (Math.ceil(count(before)) - 1) * periodMs : undefined),
  };
}

/**
 * When the expression is due in the zone. A rate counts from `anchor`, its first instant. Errors:
 * TUNTAS_LOCAL_TIME_MISSING.
 */
export function recurrence(expression: Expression, zone: Zone, anchor: number): Recurrence {
  switch (expression.kind) {
    case "cron":
      return {
        next: (after) => cronNext(expression, zone, after),
        previous: (before) => cronPrevious(expression, zone, before),
      };
    case "rate":
      return steady(expression.periodMs, anchor);
    case "at":
      return once(expression.local, expression.text, zone);
  }
}

/** The local times (`2025-03-09T02:30`) between two neighbouring instants that a jump of the clocks left out. */
export function leftOut(expression: Expression, zone: Zone, between: readonly [number, number]): string[] {
  if (expression.kind !== "cron" || !expression.fixed) return [];
  const [from, until] = between.map((instant) => instant + zone.offsetAt(instant)) as [number, number];
  const found: string[] = [];
  for (let local = from; ;) {
    const next = firstFrom(expression.calendar, local + minuteMs);
    if (next === undefined || next >= until) return found;
    if (instantsOf(zone, next).length === 0) found.push(formatTimestamp(next).slice(0, 16));
    local = next;
  }
}
