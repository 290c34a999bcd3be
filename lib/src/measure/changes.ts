// Which gauges are to be written: those that changed, and now and then those that did not.
import type { Reading } from "../engine/signals.ts";
import type { Sample } from "../series/contract.ts";
import { labelsText } from "../series/state.ts";
import { metricEntries } from "./catalogue.ts";

export interface Written {
  readonly reading: Reading;
  readonly atMs: number;
}

/** A gauge that stays what it is is written again this often, so that the points that tell of it are not all forgotten. */
const affirmEveryMs = 3_600_000;

export const readingKey = ({ name, labels }: Pick<Reading, "name" | "labels">): string =>
  `${name} ${labelsText(labels)}`;

/** What there was before and is not any more, is 0 now: a target without rows, a machine without executions. */
const vanished = (seen: ReadonlyMap<string, Reading>, before: ReadonlyMap<string, Written>): Reading[] =>
  [...before]
    .filter(([key, { reading }]) => !seen.has(key) && reading.value !== 0)
    .map(
      ([
        ,
        {
          reading: { name, labels },
        },
      ]) => ({ name, labels, value: 0 }),
    );

export function changesOf(
  readings: readonly Reading[],
  before: ReadonlyMap<string, Written>,
  nowMs: number,
): Sample[] {
  const kept = readings.filter(({ name }) => metricEntries.get(name)?.kept);
  const seen = new Map(kept.map((reading) => [readingKey(reading), reading]));
  const isNews = ([key, { value }]: [string, Reading]): boolean => {
    const last = before.get(key);
    if (last === undefined || last.reading.value !== value) return true;
    return value !== 0 && nowMs - last.atMs >= affirmEveryMs;
  };
  const news = [...seen].filter(isNews).map(([, reading]) => reading);
  return [...news, ...vanished(seen, before)].map(({ name, labels, value }) => ({
    name,
    labels,
    kind: "gauge",
    value,
  }));
}

const moves = /_(age|lag|left)_seconds$/;

/** Whether something changes by itself while nobody does anything: an age that grows. A sum of seconds does not. */
export const isMoving = (readings: readonly Reading[]): boolean =>
  readings.some(({ name, value }) => value > 0 && moves.test(name));
