// An operation in the hands of this process: held while it is carried out, however long that takes. Whoever stops it or takes it over
// aborts the work. One that is one piece of work, such as a one-off command, is ended in the transaction that holds what it did.
import { writeAudit } from "../engine/audit.ts";
import { makeBell, type Waker } from "../engine/wake.ts";
import type { Database } from "../pg/database.ts";
import type { Runner } from "../pg/join.ts";
import { operationKey } from "./client.ts";
import type { Hold, HeldEnd, Operation } from "./contract.ts";
import * as store from "./store.ts";

export const leaseSeconds = 30;
const renewMs = 1000;
/** Work that could not be renewed for so long is given up before its lease has run out. */
const doubtMs = (leaseSeconds - 10) * 1000;

export interface Held {
  readonly database: Database;
  readonly waker: Waker;
  readonly claim: store.Claim;
  readonly operation: Operation;
  readonly closing: AbortSignal;
}

/** Renews the lease each second, and at once when somebody says a word; calls `lost` where it is held no more. */
async function keep({ database, waker, claim }: Held, done: AbortSignal, lost: () => void): Promise<void> {
  const bell = makeBell(waker, operationKey);
  let renewedAt = performance.now();
  while (!done.aborted) {
    const held = await store.renewClaim(database, claim, leaseSeconds).catch(() => undefined);
    if (held) renewedAt = performance.now();
    if (held === false || performance.now() - renewedAt > doubtMs) break;
    await bell.wait(renewMs, done);
  }
  bell.close();
  if (!done.aborted) lost();
}

async function endHeld(tx: Runner, { claim, operation }: Held, end: HeldEnd): Promise<boolean> {
  if (!(await store.lockClaim(tx, claim))) return false;
  const { id, kind, actor, reason } = operation;
  const { state, failure, result } = end;
  await store.recordSlice(tx, id, { results: [result], cursor: result.item, leaseSeconds });
  await store.endOperation(tx, claim, [state, failure]);
  const details = { kind, outcome: result.outcome, failure };
  await writeAudit(tx, { actor, action: `operation.${state}`, subject: `operation ${id}`, reason, details });
  return true;
}

/** Keeps it for as long as the work takes: its signal aborts where it is held no more, or this process ends. */
export async function whileHeld<T>(held: Held, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [done, lost] = [new AbortController(), new AbortController()];
  const keeping = keep(held, done.signal, () => lost.abort());
  try {
    return await work(AbortSignal.any([lost.signal, held.closing]));
  } finally {
    done.abort();
    await keeping;
  }
}

/** Lets `perform` do the work, and tell of its end. What is not ended then is anybody's, unless a person has stopped it. */
export async function performHeld(held: Held, perform: (hold: Hold) => Promise<void>): Promise<void> {
  const { database, claim, operation, closing } = held;
  let isEnded = false;
  await whileHeld(held, async (signal) => {
    const end: Hold["end"] = async (tx, how) => (isEnded = await endHeld(tx, held, how));
    await perform({ id: operation.id, signal, closing, end }).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
    });
  });
  if (!isEnded) await store.releaseOperation(database, claim);
}
