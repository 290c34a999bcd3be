import { expect, test } from "vitest";
import { fatesOf, interruptions, longestTakeOvers } from "./record.ts";

test("tells a message whose commit had gone out from one that another process had to begin again, and from a lost one", () => {
  const begun = [
    { id: "committed", pid: 1, atMs: 10 },
    { id: "taken", pid: 1, atMs: 20 },
    { id: "lost", pid: 1, atMs: 30 },
    { id: "other", pid: 2, atMs: 30 },
    { id: "taken", pid: 2, atMs: 900 },
  ];
  const effects = new Map([
    ["committed", 1],
    ["taken", 2],
    ["other", 2],
  ]);
  expect(interruptions(fatesOf(begun, [{ pid: 1, kind: "kill", atMs: 100 }], effects))).toEqual([
    { kind: "kill", messages: 2, committed: 1, takeOversMs: [800], neverBegunAgain: 1 },
  ]);
});

test("says of the longest take-overs what else struck meanwhile, and not what had struck long before", () => {
  const begun = [
    { id: "quick", pid: 1, atMs: 20_000 },
    { id: "slow", pid: 2, atMs: 40_000 },
    { id: "quick", pid: 2, atMs: 20_500 },
    { id: "slow", pid: 3, atMs: 46_000 },
  ];
  const ends = [
    { pid: 1, kind: "kill", atMs: 20_100 },
    { pid: 2, kind: "kill", atMs: 40_500 },
  ];
  const strikes = [
    { name: "kill", atMs: 20_100 },
    { name: "PostgreSQL crashes", atMs: 39_000 },
    { name: "kill", atMs: 40_500 },
  ];
  const effects = new Map([
    ["quick", 2],
    ["slow", 3],
  ]);
  expect(longestTakeOvers(fatesOf(begun, ends, effects), strikes, { count: 1, beforeMs: 6000 })).toEqual([
    { kind: "kill", waitedMs: 5500, beside: ["PostgreSQL crashes -1.5 s", "kill 0.0 s"] },
  ]);
});
