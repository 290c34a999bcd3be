// Dead letters that belong to FIFO groups, moved in the order of locks that a claim takes.
import type { Tx } from "../../pg/contract.ts";
import { fifoAmong, refreshGroups } from "../store/settle.ts";
import * as store from "../store/triage.ts";
import type { Candidate } from "../store/triage.ts";

/**
 * Moves messages with the FIFO groups that they leave and enter locked, and works out anew what may be claimed of these.
 * Locked in the order of a claim, which holds the queue's group when it needs the dead-letter queue's: so the queue
 * that receives comes first.
 */
export async function inGroups(
  tx: Tx,
  slice: readonly Candidate[],
  queuesOf: readonly ((item: Candidate) => number)[],
  move: () => Promise<string[]>,
): Promise<string[]> {
  const grouped = slice.filter((item) => item.groupId !== null);
  const touched = queuesOf.flatMap((queueOf) =>
    grouped.map((item) => ({ queueId: queueOf(item), groupId: item.groupId! })),
  );
  const fifo = await fifoAmong(
    tx,
    touched.map((row) => row.queueId),
  );
  const inFifo = touched.filter((row) => fifo.has(row.queueId));
  for (const queueId of new Set(inFifo.map((row) => row.queueId))) {
    const groups = new Set(inFifo.filter((row) => row.queueId === queueId).map((row) => row.groupId));
    await store.lockFifoGroups(tx, queueId, [...groups].toSorted());
  }
  const moved = await move();
  await refreshGroups(tx, inFifo);
  return moved;
}
