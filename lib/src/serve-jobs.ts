// Batches and backfills of an application: their queues live here always, and their workers are of this process where they run
// in its service.
import type { BackfillDefinition } from "./batch/backfill/contract.ts";
import type { BatchDefinition } from "./batch/contract.ts";
import { bindBatch, runsIn } from "./batch/declaration.ts";
import { serviceName } from "./measure/own.ts";
import type { Platform } from "./platform.ts";
import type { WorkerDefinition } from "./queue/declaration.ts";
import { ensureQueue } from "./queue/ensure.ts";
import type { Pair } from "./queue/worker/index.ts";

interface Jobs {
  readonly batches: readonly BatchDefinition[];
  readonly backfills: readonly BackfillDefinition[];
}

type Job = BatchDefinition | BackfillDefinition;

async function pairsOf<J extends Job>(
  jobs: readonly J[],
  { queues: { catalog } }: Platform,
  workerOf: (job: J) => WorkerDefinition,
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const job of jobs) {
    const queue = await ensureQueue(catalog, job.queue);
    if (runsIn(job, serviceName())) pairs.push({ worker: workerOf(job), queue });
  }
  return pairs;
}

/** They are on record, and what is to be started of them can be; answers what works on them here. */
export async function beginJobs({ batches, backfills }: Jobs, platform: Platform): Promise<Pair[]> {
  const pairs = [
    ...(await pairsOf(batches, platform, platform.batches.workerOf)),
    ...(await pairsOf(backfills, platform, platform.backfills.workerOf)),
  ];
  await platform.batches.declare(batches);
  await platform.backfills.declare(backfills);
  for (const batch of batches)
    bindBatch(batch, ({ name }, input, options) => platform.batches.start(name, input, options));
  return pairs;
}

/** Who starts a job from now on is told that nothing is started. */
export function unbindJobs({ batches }: Jobs): void {
  for (const batch of batches) bindBatch(batch, undefined);
}
