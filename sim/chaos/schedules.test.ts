import { expect, test } from "vitest";
import { periodSeconds, type ModelRules } from "../model/schedule.ts";
import { amissOf, type FoundOccurrence, type FoundSchedule } from "./schedules.ts";

const rules: ModelRules = { overlap: "queue", catchUp: "latest", withinSeconds: 180 };

const occurrence = (index: number, more: Partial<FoundOccurrence> = {}): FoundOccurrence => {
  const due = index * periodSeconds;
  const ran = { state: "succeeded", decided: due + 1, started: due + 1, ended: due + 2, effects: 1 };
  return { due, run: 0, start: due - periodSeconds, end: due, ...ran, ...more };
};
const missed = { state: "missed", started: null, effects: 0 };

/** One that was late twice, and on time then. */
const right = [
  occurrence(0, { ...missed, decided: 100 }),
  occurrence(1, { decided: 100, started: 100, ended: 121 }),
  occurrence(2, { started: 121, ended: 122 }),
];

const scheduleOf = (occurrences: readonly FoundOccurrence[]): FoundSchedule => ({
  name: "s",
  anchor: 0,
  next: 3 * periodSeconds,
  occurrences,
  effects: occurrences.reduce((sum, { effects }) => sum + effects, 0),
});

const amiss = (index: number, more: Partial<FoundOccurrence>) =>
  amissOf(rules, scheduleOf(right.map((each, at) => (at === index ? { ...each, ...more } : each))));

test("finds nothing amiss where all is by the rules, and each thing that is not", () => {
  expect(amissOf(rules, scheduleOf(right))).toEqual([]);
  expect(amissOf(rules, scheduleOf(right.slice(1)))).toContain("s: 2 occurrences where 3 were due");
  expect(amissOf(rules, { ...scheduleOf(right), effects: 3 })).toEqual([
    "s: 1 effects that belong to no occurrence",
  ]);
  expect(amiss(1, { start: -1 })).toEqual(["s: number 1: due at 60, window -1 to 60"]);
  expect(amiss(1, { effects: 2 })).toEqual(["s: 60: succeeded, with 2 effects"]);
  expect(amiss(1, { state: "failed" })).toEqual(["s: 60: failed, with 1 effects"]);
  expect(amiss(2, missed)).toEqual(["s: 120: missed, found 1 s late"]);
  expect(amiss(1, missed)).toEqual(["s: 60: missed, found 40 s late"]);
  expect(amiss(0, { state: "succeeded", effects: 1 })).toEqual(["s: 0: succeeded, found 100 s late"]);
  expect(amiss(2, { started: 120 })).toEqual(["s: 120: began while 60 ran"]);
});
