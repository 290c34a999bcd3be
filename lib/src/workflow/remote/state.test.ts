import { expect, test } from "vitest";
import type { Answer } from "./contract.ts";
import { repeatOf, type Earlier } from "./state.ts";

const yes: Answer = { output: 1 };
const failed: Answer = { error: "Again" };
const no: Answer = { error: "NO_CREDIT", final: true };
const row = (rank: [number, number], answer: Answer | undefined, fate: Earlier["fate"]): Earlier => ({
  redrives: rank[0],
  retries: rank[1],
  answer,
  fate,
});
const now = (redrives: number, retries: number) => ({ redrives, retries });

test.each<[string, ReturnType<typeof now>, Earlier[], Answer | undefined]>([
  ["nothing before it", now(0, 1), [], undefined],
  ["a success that timed out before it was told", now(0, 1), [row([0, 0], yes, "closed")], yes],
  ["one that is still being told", now(0, 3), [row([0, 2], yes, "answered")], yes],
  // The machine went on from there: who asks now is another item, alike in everything.
  ["a success that was taken, in the same run", now(0, 1), [row([0, 0], yes, "accepted")], undefined],
  [
    "one that was taken, after a redrive",
    now(1, 0),
    [row([0, 0], failed, "accepted"), row([0, 1], yes, "accepted")],
    yes,
  ],
  [
    "twins of which one failed, after a redrive",
    now(1, 0),
    [row([0, 0], yes, "accepted"), row([0, 0], no, "accepted")],
    undefined,
  ],
  ["a failure", now(0, 1), [row([0, 0], failed, "accepted")], undefined],
  ["a business no, tried again", now(0, 1), [row([0, 0], no, "accepted")], no],
  ["a business no, redriven", now(1, 0), [row([0, 0], no, "accepted")], undefined],
  ["one that waits for somebody else", now(0, 1), [row([0, 0], undefined, "waiting")], undefined],
  ["a twin of the same rank", now(0, 0), [row([0, 0], yes, "answered")], undefined],
])("what is given again: %s", (_, message, earlier, expected) => {
  expect(repeatOf(message, earlier)).toEqual(expected);
});
