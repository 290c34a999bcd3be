// What a process holds, as a thread beside its event loop sees it: for whoever keeps claims elsewhere alive.
import { claimIn, headerInts, slotState, threadNow, viewSlots } from "./slots.ts";

export interface Holdings {
  /** Waits in the buffer, or is worked on and within its time. */
  readonly kept: ReadonlySet<string>;
  /** Was taken back from an event loop that is blocked. */
  readonly released: ReadonlySet<string>;
}

/** The fences of what is held now. */
export function readHoldings(shared: SharedArrayBuffer): Holdings {
  const { states, deadlines, names } = viewSlots(shared);
  const kept = new Set<string>();
  const released = new Set<string>();
  const now = threadNow();
  for (let slot = 0; slot < deadlines.length; slot++) {
    const state = Atomics.load(states, headerInts + slot);
    const isKept = state === slotState.buffered || (state === slotState.running && deadlines[slot]! > now);
    if (isKept) kept.add(claimIn(names, slot).fence);
    else if (state === slotState.released) released.add(claimIn(names, slot).fence);
  }
  return { kept, released };
}
