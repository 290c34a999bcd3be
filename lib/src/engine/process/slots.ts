// What this process holds, in memory that the heartbeat thread shares: one slot a message. Whoever moves a slot out of
// `buffered` or `running` first, by compare-and-exchange, has it: the event loop, which starts and ends attempts, or
// the thread, which gives messages back while the event loop is blocked.

export const slotState = { free: 0, buffered: 1, running: 2, released: 3 } as const;

const slotsMax = 8192;
/** What stands in `states` before the state of the first slot. */
export const headerInts = 4;
const [pulseInt, offeringInt] = [0, 1];
// pulse counter and whether anything is offered, then per slot: state; deadlines as float64; queue id, message id, fence as
// bigint64; and the fence up to which what was handed over is void.
const stateBytes = (headerInts + slotsMax) * 4;
const namesBytes = stateBytes + slotsMax * 8;
const voidBytes = namesBytes + slotsMax * 24;
const bytes = voidBytes + 8;

export interface SlotView {
  readonly states: Int32Array;
  readonly deadlines: Float64Array;
  readonly names: BigInt64Array;
  readonly voids: BigInt64Array;
}

export const viewSlots = (shared: SharedArrayBuffer): SlotView => ({
  states: new Int32Array(shared, 0, headerInts + slotsMax),
  deadlines: new Float64Array(shared, stateBytes, slotsMax),
  names: new BigInt64Array(shared, namesBytes, slotsMax * 3),
  voids: new BigInt64Array(shared, voidBytes, 1),
});

/** The claim by which a message is held. */
export interface HeldClaim {
  readonly queueId: string;
  readonly id: string;
  readonly fence: string;
}

/** One that is to get a slot. */
interface Arriving extends Omit<HeldClaim, "queueId"> {
  readonly queueId: number;
  readonly handedOver?: boolean;
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
  /**
   * A slot for a message that waits in the buffer; undefined where all are taken, and where it was handed over and the
   * thread has it, or will have it, given back.
   */
  take(claim: Arriving): number | undefined;
  /** Marks the attempt as begun; false where the thread has given the message back. */
  begin(slot: number, timeoutMs: number): boolean;
  /** Frees the slot; false where the thread has given the message back. */
  free(slot: number): boolean;
  readonly used: () => number;
  /** Every message that this process knows that it holds. */
  held(): HeldClaim[];
  /** Says whether anything may be handed over to this process. */
  offer(offering: boolean): void;
}

export function makeSlots(): SlotTable {
  const shared = new SharedArrayBuffer(bytes);
  const view = viewSlots(shared);
  const { states, deadlines, names, voids } = view;
  const free = Array.from({ length: slotsMax }, (_, index) => slotsMax - 1 - index);

  return {
    shared,
    pulse: () => void Atomics.add(states, pulseInt, 1),
    offer: (offering) => void Atomics.store(states, offeringInt, Number(offering)),
    used: () => slotsMax - free.length,
    held: () => heldIn(view),
    take({ queueId, id, fence, handedOver }) {
      const slot = free.pop();
      if (slot === undefined) return undefined;
      names[slot * 3] = BigInt(queueId);
      names[slot * 3 + 1] = BigInt(id);
      names[slot * 3 + 2] = BigInt(fence);
      Atomics.store(states, headerInts + slot, slotState.buffered);
      // After the slot is there for the thread to see: it first says what is void, then reads the slots.
      if (handedOver !== true || Atomics.load(voids, 0) < names[slot * 3 + 2]!) return slot;
      Atomics.store(states, headerInts + slot, slotState.free);
      free.push(slot);
      return undefined;
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
export const readPulse = ({ states }: SlotView): number => Atomics.load(states, pulseInt);

/** Whether anything may be handed over to the process, as the thread reads it. */
export const isOffering = ({ states }: SlotView): boolean => Atomics.load(states, offeringInt) === 1;

/**
 * From now on the event loop takes nothing that was handed over with such a fence, or an earlier one. Answers the fences of
 * all that it has: what is not among them is the thread's.
 */
export function voidUpTo(view: SlotView, fence: string): string[] {
  Atomics.store(view.voids, 0, BigInt(fence));
  return heldIn(view).map((claim) => claim.fence);
}

function heldIn({ states, names }: SlotView): HeldClaim[] {
  const claims: HeldClaim[] = [];
  for (let slot = 0; slot < slotsMax; slot++)
    if (Atomics.load(states, headerInts + slot) !== slotState.free) claims.push(claimIn(names, slot));
  return claims;
}

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
