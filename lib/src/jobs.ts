// Batches, backfills and schedules, put together for the platform: what they begin goes to the rooms below them, and schedules begin
// batches too.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { openBackfills } from "./batch/backfill/client.ts";
import { openBatches } from "./batch/client.ts";
import { channelName } from "./engine/signals.ts";
import type { Waker } from "./engine/wake.ts";
import { outboxDestination } from "./outbox/destination.ts";
import type { Database } from "./pg/database.ts";
import type { QueueContext, Queues } from "./queue/client/index.ts";
import { queueDestination } from "./queue/client/destination.ts";
import { queueTarget, withdrawFrom } from "./queue/client/target.ts";
import { openSchedules } from "./schedule/client.ts";
import { workflowDestination } from "./workflow/client/destination.ts";
import type { Workflows } from "./workflow/client/index.ts";

interface JobParts {
  readonly database: Database;
  readonly waker: Waker;
  readonly context: QueueContext;
  readonly queues: Queues;
  readonly workflows: Workflows;
  readonly onError: (cause: unknown) => void;
}

export function openJobs({ database, waker, context, queues, workflows, onError }: JobParts) {
  const ofQueues = queueTarget(context, queues.catalog);
  const parts = {
    database,
    waker,
    queues: ofQueues,
    withdraw: withdrawFrom(queues.catalog),
    onError,
  };
  const batchRoom = openBatches(parts);
  const backfillRoom = openBackfills(parts);
  const scheduleRoom = openSchedules({
    database,
    destinations: new Map([
      ["queue", queueDestination(queues)],
      ["workflow", workflowDestination(workflows)],
      ["batch", batchRoom.destination],
    ]),
    otherwise: outboxDestination,
    onError,
  });
  const all = [scheduleRoom, batchRoom, backfillRoom];
  // A dead letter is the end of an occurrence's work; that of another process is found by `tidy`.
  const died = channelName("queue.dead");
  subscribe(died, scheduleRoom.lookSoon);
  return {
    schedules: scheduleRoom.schedules,
    batches: batchRoom.batches,
    backfills: backfillRoom.backfills,
    targets: { queue: ofQueues, batch: batchRoom.target },
    agenda: all.flatMap(({ agenda }) => agenda),
    tidy: () => Promise.all(all.map(({ tidy }) => tidy())),
    close() {
      unsubscribe(died, scheduleRoom.lookSoon);
      return Promise.all(all.map(({ close }) => close()));
    },
  };
}
