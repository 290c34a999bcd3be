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

/** How long the n-th call of a batch waits, where so many could be made when the batch was taken. */
export const waitOfMs = (nth: number, before: number, perSecond: number): number =>
  Math.max(0, ((nth - before) * 1000) / perSecond);
