import { expect, test } from "vitest";
import { answersOf, type WorkerFigures } from "./questions.ts";

const calm: WorkerFigures = {
  isDeadLetterQueue: false,
  processes: 2,
  places: 8,
  inFlight: 5,
  ready: { now: 3, before: 4 },
  oldestSeconds: 2,
  oldestMaxSeconds: 300,
  attempts: { done: 500, failed: 5 },
  failedShare: { now: 0.01, before: 0.01 },
  dead: { now: 1, before: 1 },
  middleMs: { now: 40, before: 38 },
  stops: 0,
  deployment: { text: "v2", minutesAgo: 30, donePerMinute: { now: 100, before: 101 } },
};

const badOf = (figures: WorkerFigures) =>
  answersOf(figures)
    .filter(({ fine }) => fine === false)
    .map(({ question }) => question);

test("V-08 ten questions are answered; of a calm worker each is fine", () => {
  expect(answersOf(calm)).toHaveLength(10);
  expect(answersOf(calm).map(({ fine }) => fine)).toEqual(Array(10).fill(true));
});

test.each<[string, Partial<WorkerFigures>]>([
  ["Alive?", { processes: 0 }],
  ["Processing?", { attempts: { done: 0, failed: 3 } }],
  ["Backlog growing?", { ready: { now: 400, before: 100 } }],
  ["Oldest too old?", { oldestSeconds: 301 }],
  ["Failures rising?", { failedShare: { now: 0.4, before: 0.02 } }],
  ["Dead letters rising?", { dead: { now: 2, before: 1 } }],
  ["Downstream slow?", { middleMs: { now: 400, before: 40 } }],
  ["Concurrency used?", { ready: { now: 400, before: 400 }, inFlight: 1 }],
  ["Stopping often?", { stops: 3 }],
  [
    "Slower since release?",
    { deployment: { text: "v2", minutesAgo: 5, donePerMinute: { now: 20, before: 100 } } },
  ],
])("V-08 %s is answered red where it is so, and nothing else is", (question, wrong) => {
  expect(badOf({ ...calm, ...wrong })).toEqual([question]);
});

test("V-08 what does not arise is neither good nor bad: a queue without work, dead letters, no deployment", () => {
  const idle: WorkerFigures = {
    ...calm,
    inFlight: 0,
    ready: { now: 0, before: 0 },
    attempts: { done: 0, failed: 0 },
    middleMs: { now: 0, before: 0 },
    deployment: null,
  };
  const open = answersOf(idle).filter(({ fine }) => fine === null);
  expect(open.map(({ question }) => question)).toEqual([
    "Processing?",
    "Downstream slow?",
    "Slower since release?",
  ]);
  expect(badOf({ ...idle, isDeadLetterQueue: true, processes: 0, oldestSeconds: 9000 })).toEqual([]);
});
