import { expect, test } from "vitest";
import { interruptions } from "./record.ts";

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
  expect(interruptions(begun, [{ pid: 1, kind: "kill", atMs: 100 }], effects)).toEqual([
    { kind: "kill", messages: 2, committed: 1, takeOversMs: [800], neverBegunAgain: 1 },
  ]);
});
