// Move tasks, as a caller sees them, and the sweep that works on them.
import { randomUUID } from "node:crypto";
import type { MoveTask, QueueRecord } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import { writeAudit } from "../store/audit.ts";
import { cancelMove, insertMove, listMoves, nextMoveMs, stepMove } from "../store/move.ts";
import { overTheWire } from "./catalog.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";

export interface MoveOptions {
  /** Where to; undefined sends each message back to the queue it died in. */
  readonly destination?: QueueRecord | undefined;
  readonly perSecond?: number | undefined;
  /** Who, for the record; a client of the gateway where nobody says it. */
  readonly actor?: string | undefined;
}

export interface Moves {
  /** Begins to move the messages of `source`; `busy` where a task of it runs already. */
  start(
    source: QueueRecord,
    options: MoveOptions,
  ): Promise<{ status: "started"; task: MoveTask } | { status: "busy" }>;
  /** The last tasks of this source, newest first. */
  list(source: QueueRecord, limit: number): Promise<MoveTask[]>;
  /** Asks a running task of this source to stop; undefined where there is none of that id. */
  cancel(source: QueueRecord, taskId: string): Promise<MoveTask | undefined>;
  /** Works on what runs; answers in how many ms to come again (null: nothing runs). */
  step(): Promise<number | null>;
}

// Another process has the task in hand; come again to see whether it is still there.
const busyMs = 100;

export function makeMoves(context: QueueContext): Moves {
  const { database, due } = context;
  return {
    async start(source, { destination, perSecond, actor = overTheWire }) {
      const wanted = {
        id: randomUUID(),
        sourceQueueId: source.id,
        destinationQueueId: destination?.id ?? null,
        perSecond: perSecond ?? null,
      };
      const task = await database.transaction(async (tx) => {
        const begun = await insertMove(tx, wanted);
        const details = { ...wanted, destination: destination?.name ?? null };
        const act = { actor, action: "dlq.move", subject: `queue ${source.name}`, reason: null, details };
        if (begun) await writeAudit(tx, act);
        return begun;
      });
      if (!task) return { status: "busy" };
      due.note(0);
      return { status: "started", task };
    },
    list: (source, limit) => listMoves(database, source.id, limit),
    async cancel(source, taskId) {
      const task = await cancelMove(database, source.id, taskId);
      if (task) due.note(0);
      return task;
    },
    async step() {
      const waitMs = await nextMoveMs(database);
      if (waitMs === null || waitMs > 0) return waitMs;
      const slice = await stepMove(database);
      if (!slice) return busyMs;
      wakeQueues(context, slice.queues);
      if (slice.moved > 0)
        queueSignals.publish("queue.moved", { queueId: slice.task.sourceQueueId, count: slice.moved });
      return 0;
    },
  };
}
