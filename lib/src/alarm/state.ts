// Whether an alarm is in alarm: M of N periods beyond the bound, and what a period without data counts as. Pure.
// After CloudWatch's "Configuring how CloudWatch alarms treat missing data": somewhat more than N periods are looked at,
// so that as many real ones as can be decide.
import type { Series } from "../series/contract.ts";
import type { AlarmState, Condition, MissingData, Statistic } from "./contract.ts";

/** One period: beyond the bound, within it, or without data. */
export type Period = "breaching" | "good" | "missing";

/** How many periods more than N are looked at. */
export const periodsBefore = 2;

export interface Judging {
  /** Oldest first. */
  readonly periods: readonly Period[];
  readonly of: readonly [datapoints: number, periods: number];
  readonly missing: MissingData;
  readonly current: AlarmState;
}

const countOf = (periods: readonly Period[], wanted: Period): number =>
  periods.filter((period) => period === wanted).length;

export function judge({ periods, of: [needed, size], missing, current }: Judging): AlarmState {
  const real = periods.filter((period) => period !== "missing").slice(-size);
  const breaching = countOf(real, "breaching");
  if (breaching >= needed) return "ALARM";
  const absent = size - real.length;
  if (absent === 0) return "OK";
  if (missing === "breaching") return breaching + absent >= needed ? "ALARM" : "OK";
  if (missing === "notBreaching") return "OK";
  // All that is known is beyond the bound, or nothing is known.
  const undecided = breaching === real.length;
  if (missing === "ignore") return undecided ? current : "OK";
  if (real.length === 0) return "INSUFFICIENT_DATA";
  return undecided ? "ALARM" : "OK";
}

export function isBeyond(condition: Condition, value: number): boolean {
  if ("above" in condition) return value > condition.above;
  if ("atLeast" in condition) return value >= condition.atLeast;
  if ("below" in condition) return value < condition.below;
  return value <= condition.atMost;
}

export interface Window {
  /** The start of the oldest period. */
  readonly fromMs: number;
  readonly periodMs: number;
  readonly count: number;
}

/** The value of each period of the window; undefined without data. A counter that did not go up where somebody looked is 0. */
export function valuesOf(
  { kind, points }: Pick<Series, "kind" | "points">,
  statistic: Statistic,
  { fromMs, periodMs, count }: Window,
): (number | undefined)[] {
  const byStart = new Map(points.map((point) => [point.atMs, point]));
  return Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + index * periodMs;
    const point = byStart.get(atMs);
    if (!point) return kind === "counter" ? 0 : undefined;
    const { samples, sum, min, max, last } = point;
    if (statistic === "average") return samples === 0 ? last : sum / samples;
    if (statistic !== "growth") return { sum, min, max, last }[statistic];
    const before = byStart.get(atMs - periodMs)?.last;
    return before === undefined ? (kind === "counter" ? sum : undefined) : last - before;
  });
}

/** Beyond the bound where all conditions are; without data where the first has none. */
export function periodsOf(
  values: readonly (number | undefined)[],
  when: Condition,
  and?: { readonly values: readonly (number | undefined)[]; readonly when: Condition },
): Period[] {
  return values.map((value, index) => {
    if (value === undefined) return "missing";
    const also = !and || isBeyond(and.when, and.values[index] ?? 0);
    return also && isBeyond(when, value) ? "breaching" : "good";
  });
}
