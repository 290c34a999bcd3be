// The signs of a poisoned queue, in words that fit their numbers.
import { expect, test } from "vitest";
import { signsOf, type Observation } from "./diagnosis.ts";

const quiet: Observation = {
  queue: "work",
  ready: 0,
  inFlight: 0,
  delayed: 0,
  oldestAgeMs: null,
  receivesMax: 5,
  redelivered: 0,
  mostReceived: null,
  nearMaximum: 0,
  deterministic: null,
  dead: 0,
  deadLately: 0,
  quarantined: 0,
  front: [],
  left: 0,
};
const seen = (count: number): Observation => ({
  ...quiet,
  redelivered: count,
  mostReceived: { messageId: "m1", receives: count },
  nearMaximum: count,
  deterministic: { fingerprint: "BAD: x", messages: count, attempts: 5 },
  dead: count,
  deadLately: count,
  oldestAgeMs: 9000,
  left: count,
});
const texts = (now: Observation) => signsOf(now, { ...quiet, oldestAgeMs: 1000 }).map(({ text }) => text);

test("one is one, and two are two", () => {
  expect(texts(seen(1))).toEqual([
    "1 message was received again; m1 1 time",
    "1 message is about to die: received 4 of 5 times or more",
    "1 message failed 5 times in one way that no repetition mends: BAD: x",
    "the oldest message is 9 s old and gets older, though 1 other was finished meanwhile",
    "1 message died lately; 1 lies in the dead-letter queue",
  ]);
  expect(texts(seen(2))).toEqual([
    "2 messages were received again; m1 2 times",
    "2 messages are about to die: received 4 of 5 times or more",
    "2 messages failed 5 times in one way that no repetition mends: BAD: x",
    "the oldest message is 9 s old and gets older, though 2 others were finished meanwhile",
    "2 messages died lately; 2 lie in the dead-letter queue",
  ]);
  expect(texts(quiet)).toEqual([]);
});
