// What may be done with a side effect as it stands, and what a call came to. Pure.
import type { EffectRow, EffectState } from "./contract.ts";

export type Course =
  /** The stored answer is given again. */
  | "answer"
  /** The call certainly had no effect: make it. */
  | "call"
  /** The provider refused for good: say so again. */
  | "refuse"
  /** Somebody is at it. */
  | "wait"
  /** Nobody knows: ask the provider, never call. */
  | "ask";

/** What a repeat of the side effect does. */
export function courseOf({ state, final, overdue }: Pick<EffectRow, "state" | "final" | "overdue">): Course {
  if (state === "succeeded") return "answer";
  if (state === "failed") return final ? "refuse" : "call";
  // Between the intent and the answer somebody died or fell silent; the call may have been made.
  return state === "unknown" || overdue ? "ask" : "wait";
}

export type CallEnd = "answered" | "refused" | "unreached" | "unclear";

/** The state after a call. Only what certainly had no effect is `failed`. */
export const stateAfter = (end: CallEnd): EffectState =>
  end === "answered" ? "succeeded" : end === "unclear" ? "unknown" : "failed";

/**
 * How long an intent holds before it counts as unknown: until the call's timeout, or the caller's own end if that is
 * sooner. A remaining time of zero or less is known to be over; only one that is not known gets the whole timeout.
 */
export function holdMs(timeoutMs: number, remainingMs: number | undefined): number {
  return remainingMs === undefined ? timeoutMs : Math.max(0, Math.min(timeoutMs, remainingMs));
}

/** A bucket of calls that refills evenly and holds one second's worth. */
export interface Bucket {
  readonly calls: number;
  readonly atMs: number;
}

/** Takes one call; answers the bucket and how long to wait before the call. */
export function takeCall(
  bucket: Bucket,
  nowMs: number,
  callsPerSecond: number,
): { bucket: Bucket; waitMs: number } {
  const refilled = Math.min(callsPerSecond, bucket.calls + ((nowMs - bucket.atMs) * callsPerSecond) / 1000);
  const calls = refilled - 1;
  return { bucket: { calls, atMs: nowMs }, waitMs: calls >= 0 ? 0 : (-calls * 1000) / callsPerSecond };
}
