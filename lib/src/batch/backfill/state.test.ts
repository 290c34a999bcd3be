import fc from "fast-check";
import { expect, test } from "vitest";
import { runStates, type RunState, type RunVerb } from "./contract.ts";
import {
  canSay,
  courses,
  healthAfter,
  leftMsOf,
  mayMove,
  shareOf,
  verbs,
  verbsOf,
  verdictOf,
} from "./state.ts";

const allVerbs = Object.keys(verbs) as RunVerb[];
const ended: readonly RunState[] = ["completed", "aborted", "rolled_back"];

/** Every state that can be got to from this one, by one move. */
const nextOf = (state: RunState): RunState[] => runStates.filter((to) => mayMove(state, to));

/** Whether `to` can be got to from `from` without ever being in one of those. */
function reaches(from: RunState, to: RunState, without: readonly RunState[]): boolean {
  const seen = new Set<RunState>([from]);
  for (const state of seen) for (const next of nextOf(state)) if (!without.includes(next)) seen.add(next);
  return seen.has(to);
}

test("B-26: nothing runs that was not planned, tried out and approved, nothing is completed that was not verified", () => {
  for (const needed of ["planned", "sampling", "sampled", "approved"] as const)
    expect(reaches("planning", "running", [needed]), needed).toBe(false);
  expect(reaches("planning", "completed", ["verifying"])).toBe(false);
  expect(reaches("planning", "completed", [])).toBe(true);
  for (const state of runStates)
    expect(
      ended.some((end) => state === end || reaches(state, end, [])),
      state,
    ).toBe(true);
});

test("B-26: any course that people and the run itself may take, in any order, is made of these moves alone", () => {
  const word = fc.oneof(fc.constantFrom(...allVerbs), fc.constantFrom(...courses));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (words) => {
      let state: RunState = "planning";
      let approvals = 0;
      for (const each of words) {
        const before: RunState = state;
        if (typeof each !== "string") state = each[0] === state ? each[1] : state;
        else if (canSay(each, state)) state = verbs[each].to ?? state;
        if (state !== before) expect(mayMove(before, state)).toBe(true);
        if (state === "approved") approvals++;
        if (["running", "paused", "verifying", "completed"].includes(state) && !ended.includes(before))
          expect(approvals).toBeGreaterThan(0);
        // What is over stays so, but for a rollback.
        if (ended.includes(before) && state !== before) expect(state).toBe("rolling_back");
      }
    }),
  );
});

const limits = { slowDatabaseMs: 50, slowDownstreamMs: 500, abortDownstreamMs: 5000, errorShare: 0.01 };
const seen = fc.record({
  databaseMs: fc.double({ min: 0, max: 1000, noNaN: true }),
  downstreamMs: fc.option(fc.double({ min: 0, max: 10_000, noNaN: true })),
});

test("B-24: the pace stays between a twentieth and all of the rate, falls while something is slow and is whole again soon after", () => {
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 50 }), (slices) => {
      let health = { pace: 1, databaseMs: null as number | null, downstreamMs: null as number | null };
      for (const each of slices) {
        const next = healthAfter(health, each, limits);
        const isSlow = next.databaseMs! > 50 || (next.downstreamMs ?? 0) > 500;
        expect(next.pace).toBeGreaterThanOrEqual(0.05);
        expect(next.pace).toBeLessThanOrEqual(1);
        if (isSlow) expect(next.pace <= health.pace).toBe(true);
        else expect(next.pace >= health.pace).toBe(true);
        health = next;
      }
      for (let slice = 0; slice < 30; slice++)
        health = healthAfter(health, { databaseMs: 1, downstreamMs: 1 }, limits);
      expect(health.pace).toBe(1);
    }),
  );
});

test("B-21: a share of failures says something from a hundred records on, or at the end", () => {
  const well = { downstreamMs: 10 };
  const at = (handled: number, failed: number, isLast = false) =>
    verdictOf({ handled, failed, final: 1000 }, well, { ...limits, isLast })?.code;
  expect(at(50, 49)).toBeUndefined();
  expect(at(50, 49, true)).toBe("TUNTAS_BACKFILL_ERRORS");
  expect(at(99, 1)).toBeUndefined();
  expect(at(98, 2)).toBe("TUNTAS_BACKFILL_ERRORS");
  const slow = verdictOf(
    { handled: 1, failed: 0, final: 0 },
    { downstreamMs: 5001 },
    { ...limits, isLast: false },
  );
  expect(slow?.code).toBe("TUNTAS_BACKFILL_DOWNSTREAM");
  expect(shareOf({ handled: 0, failed: 0 })).toBe(0);
});

test("B-19: what is left is told by the rate, and by the pace since it last went on once there is one", () => {
  const progress = { records: 1000, read: 0, perSecond: 100, readSince: 0, sinceMs: null };
  expect(leftMsOf(progress)).toBe(10_000);
  expect(leftMsOf({ ...progress, read: 600, readSince: 100, sinceMs: 4000 })).toBe(16_000);
  expect(leftMsOf({ ...progress, read: 1200, readSince: 1200, sinceMs: 1 })).toBe(0);
});

test("what can be said follows from the state; it is verified again once nothing is left to do", () => {
  const open = { partitions: { total: 3, ended: 2 } };
  expect(verbsOf({ ...open, state: "sampled" })).toEqual(["dry-run", "approve", "abort", "rate"]);
  expect(verbsOf({ ...open, state: "paused" })).toEqual(["resume", "abort", "rate"]);
  expect(verbsOf({ partitions: { total: 3, ended: 3 }, state: "paused" })).toContain("verify");
  expect(verbsOf({ ...open, state: "completed" })).toEqual(["rollback"]);
  expect(verbsOf({ ...open, state: "rolled_back" })).toEqual([]);
});
