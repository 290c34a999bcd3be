// What this process holds, in memory that the heartbeat thread shares: one slot a message. Whoever moves a slot out of
// `buffered` or `running` first, by compare-and-exchange, has it: the event loop, which starts and ends attempts, or
// the thread, which gives messages back while the event loop is blocked.

export const slotState = { free: 0, buffered: 1, running: 2, released: 3 } as const;

const slotsMax = 8192;
/** What stands in `states` before the state of the first slot. */
export const headerInts = 4;
// pulse counter, then per slot: state; deadlines as float64; queue id, message id, fence as bigint64.
const stateBytes = (headerInts + slotsMax) * 4;
const bytes = stateBytes + slotsMax * 8 + slotsMax * 24;

export interface SlotView {
  readonly states: Int32Array;
  readonly deadlines: Float64Array;
  readonly names: BigInt64Array;
}

export const viewSlots = (shared: SharedArrayBuffer): SlotView => ({
  states: new Int32Array(shared, 0, headerInts + slotsMax),
  deadlines: new Float64Array(shared, stateBytes, slotsMax),
  names: new BigInt64Array(shared, stateBytes + slotsMax * 8, slotsMax * 3),
});

/** The claim by which a message is held. */
export interface HeldClaim {
  readonly queueId: string;
  readonly id: string;
  readonly fence: string;
}

export const claimIn = (names: BigInt64Array, slot: number): HeldClaim => ({
  queueId: String(names[slot * 3]),
  id: String(names[slot * 3 + 1]),
  fence: String(names[slot * 3 + 2]),
});

/** The same instant in every thread of this process, in ms. */
export const threadNow = (): number => performance.timeOrigin + performance.now();

export interface SlotTable {
  readonly shared: SharedArrayBuffer;
  /** The event loop lives. */
  pulse(): void;
  /** A slot for a message that waits in the buffer; undefined where all are taken. */
  take(queueId: number, id: string, fence: string): number | undefined;
  /** Marks the attempt as begun; false where the thread has given the message back. */
  begin(slot: number, timeoutMs: number): boolean;
  /** Frees the slot; false where the thread has given the message back. */
  free(slot: number): boolean;
  readonly used: () => number;
  /** Every message that this process knows that it holds. */
  held(): HeldClaim[];
}

export function makeSlots(): SlotTable {
  const shared = new SharedArrayBuffer(bytes);
  const { states, deadlines, names } = viewSlots(shared);
  const free = Array.from({ length: slotsMax }, (_, index) => slotsMax - 1 - index);

  return {
    shared,
    pulse: () => void Atomics.add(states, 0, 1),
    used: () => slotsMax - free.length,
    held() {
      const claims: HeldClaim[] = [];
      for (let slot = 0; slot < slotsMax; slot++)
        if (Atomics.load(states, headerInts + slot) !== slotState.free) claims.push(claimIn(names, slot));
      return claims;
    },
    take(queueId, id, fence) {
      const slot = free.pop();
      if (slot === undefined) return undefined;
      names[slot * 3] = BigInt(queueId);
      names[slot * 3 + 1] = BigInt(id);
      names[slot * 3 + 2] = BigInt(fence);
      Atomics.store(states, headerInts + slot, slotState.buffered);
      return slot;
    },
    begin(slot, timeoutMs) {
      deadlines[slot] = threadNow() + timeoutMs;
      const was = Atomics.compareExchange(states, headerInts + slot, slotState.buffered, slotState.running);
      return was === slotState.buffered;
    },
    free(slot) {
      const was = Atomics.exchange(states, headerInts + slot, slotState.free);
      free.push(slot);
      return was !== slotState.released;
    },
  };
}

/** The pulse counter, as the thread reads it. */
export const readPulse = ({ states }: SlotView): number => Atomics.load(states, 0);

export interface Stuck extends HeldClaim {
  /** Whether its attempt had begun (and is past its timeout). */
  readonly begun: boolean;
}

/** Takes back, for the thread, what waits in the buffer and what is past its timeout; called only while the loop is blocked. */
export function reclaimStuck({ states, deadlines, names }: SlotView): Stuck[] {
  const stuck: Stuck[] = [];
  const now = threadNow();
  for (let slot = 0; slot < slotsMax; slot++) {
    const state = Atomics.load(states, headerInts + slot);
    const overdue = state === slotState.running && deadlines[slot]! < now;
    if (state !== slotState.buffered && !overdue) continue;
    if (Atomics.compareExchange(states, headerInts + slot, state, slotState.released) !== state) continue;
    stuck.push({ ...claimIn(names, slot), begun: overdue });
  }
  return stuck;
}
