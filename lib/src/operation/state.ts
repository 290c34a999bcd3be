// What may be done to an operation in which state. Pure.
import type { OperationState } from "./contract.ts";

export type Verb = "approve" | "decline" | "pause" | "resume" | "abort";

const transitions: Readonly<
  Record<Verb, { readonly from: readonly OperationState[]; readonly to: OperationState }>
> = {
  approve: { from: ["awaiting_approval"], to: "running" },
  decline: { from: ["awaiting_approval"], to: "declined" },
  pause: { from: ["running"], to: "paused" },
  resume: { from: ["paused", "failed"], to: "running" },
  abort: { from: ["awaiting_approval", "running", "paused", "failed"], to: "aborted" },
};

/** The state that the verb leads to; undefined where it cannot be said in this one. */
export function after(verb: Verb, state: OperationState): OperationState | undefined {
  const { from, to } = transitions[verb];
  return from.includes(state) ? to : undefined;
}

const ended: readonly OperationState[] = ["completed", "aborted", "declined"];

export const hasEnded = (state: OperationState): boolean => ended.includes(state);

const tolerance = 0.1;

/** Whether the count has moved too far from what a person saw. */
export const hasChanged = (expected: number, count: number): boolean =>
  Math.abs(count - expected) > tolerance * expected;

const sliceMax = 200;
const slicesPerSecond = 5;

/** So many at once that a rate is kept evenly. */
export const sliceSize = (perSecond: number | null): number =>
  perSecond === null ? sliceMax : Math.min(sliceMax, Math.ceil(perSecond / slicesPerSecond));
