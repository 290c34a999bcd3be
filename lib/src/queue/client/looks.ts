// When a claim looks from the left end of the index, and from where it looks else. Pure but for the clock of this process,
// which only spaces the looks.
import type { HeldMessage } from "../contract.ts";
import type { LowWater } from "../store/claim/index.ts";

/** While all that is asked for is there, what lies left of the mark is looked for so often. */
const everyMs = 250;
/** A look that costs more than one from the mark may take this part of the time. */
const share = 1 / 10;
/** But it is made so often in any case: it may have been slow because its process was frozen, or its network cut. */
const pauseMsMax = 5000;
/** Ids that were given before the mark's and may commit after it: looked at each time. */
const slack = 200n;

/** Of so many looks one begins at the mark in any case, to know what that takes. */
const comparedEvery = 20;

export interface Looks {
  /** Whether a claim begins at the left end: where little is there, or where it has not looked there for long. */
  beginsAtTheStart(): boolean;
  /** Whether the last claim got all that it asked for. */
  gotAll(all: boolean): void;
  /** Whether a claim that came back short may look there too. */
  isAllowed(): boolean;
  took(fromTheStart: boolean, ms: number): void;
}

export function makeLooks(now: () => number = () => performance.now()): Looks {
  let [dueAt, allowedAt] = [0, 0];
  /** What a look from the mark takes at least, of late. */
  let usualMs = Number.POSITIVE_INFINITY;
  let [all, claims] = [false, 0];
  return {
    beginsAtTheStart() {
      const compares = ++claims % comparedEvery === 0;
      return now() >= allowedAt && !compares && (!all || now() >= dueAt);
    },
    gotAll: (value) => void (all = value),
    isAllowed: () => now() >= allowedAt,
    took(fromTheStart, ms) {
      if (!fromTheStart) usualMs = Math.min(ms, usualMs * 1.05);
      else {
        dueAt = now() + everyMs;
        allowedAt = now() + Math.min(pauseMsMax, Math.max(0, ms - usualMs) / share);
      }
    },
  };
}

/** The mark after a claim: behind what was claimed furthest to the right, less the slack. */
export function furthest(from: LowWater, messages: readonly HeldMessage[]): LowWater {
  const last = messages.at(-1);
  if (!last) return from;
  const id = BigInt(last.id) - slack;
  const mark = { turn: last.turn, id: String(id > 0n ? id : 0n) };
  return isBehind(mark, from) ? from : mark;
}

const isBehind = (a: LowWater, b: LowWater): boolean =>
  BigInt(a.turn) < BigInt(b.turn) || (a.turn === b.turn && BigInt(a.id) < BigInt(b.id));
