// What happens to a queue's messages by the clock or by somebody's death, whichever process notices it first.
import { inBatches } from "../engine/chore.ts";
import type { Tx } from "../pg/contract.ts";
import type { QueueContext } from "./client/context.ts";
import { wakeQueues } from "./client/context.ts";
import type { Moves } from "./client/moves.ts";
import { queueSignals } from "./signals.ts";
import { nextDueMs, promoteDue } from "./store/claim/index.ts";
import { removeOffersOf } from "./handover/store.ts";
import { refreshGroups, releaseOwners, settleFifo, type Moved } from "./store/settle.ts";
import { purgeAbandoned } from "./store/queues/purge.ts";
import { findOrphans, forgetExpired, removeExpired, removeProcesses } from "./store/sweep.ts";

const batch = 500;

export type Shared = Omit<QueueContext, "due" | "mailbox" | "processId">;

/** Moves what is due to ready, batch by batch; answers in how many ms the next is due (null: nothing waits). */
export async function moveDue(context: Shared, moves: Pick<Moves, "step">): Promise<number | null> {
  const promoted = await promoteDue(context.database, batch);
  wakeQueues(
    context,
    promoted.map((row) => row.queueId),
  );
  for (const { queueId, moved } of promoted)
    queueSignals.publish("queue.promoted", { queueId, count: moved });
  const moveMs = await moves.step();
  if (promoted.reduce((sum, row) => sum + row.moved, 0) >= batch) return 0;
  const dueMs = await nextDueMs(context.database);
  return moveMs === null ? dueMs : Math.min(moveMs, dueMs ?? Infinity);
}

/** Has messages made ready, and tells of it; answers how many they were. */
export async function makeReady(
  context: Shared,
  settle: (tx: Tx) => Promise<readonly Moved[]>,
): Promise<number> {
  const moved = await settleFifo(context.database, settle);
  wakeQueues(
    context,
    moved.map((row) => row.queueId),
  );
  for (const queueId of new Set(moved.map((row) => row.queueId))) {
    queueSignals.publish("queue.released", {
      queueId,
      count: moved.filter((row) => row.queueId === queueId).length,
    });
  }
  return moved.length;
}

/** Makes ready what dead processes held, then forgets them. What is handed over to them commits before the first statement. */
export async function takeOver(context: Shared, processIds: readonly string[]): Promise<void> {
  await removeOffersOf(context.database, processIds);
  while ((await makeReady(context, (tx) => releaseOwners(tx, processIds, batch))) > 0);
  await removeProcesses(context.database, processIds);
}

/**
 * Takes over what is held for a process that has no row any more: a claim that a dead process's server session
 * committed after its take-over.
 */
export async function sweepOrphans(context: Shared): Promise<void> {
  const orphans = await findOrphans(context.database);
  if (orphans.length > 0) await takeOver(context, orphans);
}

/** Forgets what has expired and what has no queue any more, removes what is past its retention, and says how much of which queue. */
export async function applyRetention({ database }: Pick<Shared, "database">): Promise<void> {
  await forgetExpired(database);
  await purgeAbandoned(database);
  const counts = new Map<number, number>();
  await inBatches(1, async () => {
    const gone = await database.transaction(async (tx) => {
      const rows = await removeExpired(tx);
      await refreshGroups(tx, rows);
      return rows;
    });
    for (const { queueId } of gone) counts.set(queueId, (counts.get(queueId) ?? 0) + 1);
    return gone.length;
  });
  for (const [queueId, count] of counts) queueSignals.publish("queue.expired", { queueId, count });
}
