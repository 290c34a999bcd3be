// What the batches are like at this moment, for charts and alarms.
import type { Reading } from "../engine/signals.ts";
import type { Runner } from "../pg/join.ts";
import type { JobState, PartitionState } from "./contract.ts";
import { readBatches } from "./store/batches.ts";
import { readJobs } from "./store/jobs.ts";

const openStates: readonly JobState[] = ["planning", "waiting", "running", "promoting", "failed", "paused"];
const partitionStates: readonly PartitionState[] = ["pending", "running", "done", "failed"];

export async function readBatchGauges(sql: Runner): Promise<Reading[]> {
  const all = await readBatches(sql, null);
  if (all.length === 0) return [];
  const open = await readJobs(sql, { states: openStates, limit: 1000 });
  return all.flatMap(({ name, jobs }) => {
    const own = open.filter(({ batch }) => batch === name);
    const reading = (metric: string, value: number, labels = {}): Reading => ({
      name: `tuntas_batch_${metric}`,
      labels: { batch: name, ...labels },
      value,
    });
    const running = own.find(({ state }) => state === "running" || state === "promoting");
    const leftMs = running?.leftMs ?? null;
    const sum = (state: PartitionState) =>
      own.reduce((total, { partitions }) => total + partitions[state], 0);
    return [
      ...openStates.map((state) => reading("jobs", jobs[state] ?? 0, { state })),
      ...partitionStates.map((state) => reading("partitions", sum(state), { state })),
      ...(running ? [reading("progress_ratio", running.partitions.done / running.partitions.total)] : []),
      ...(leftMs === null ? [] : [reading("left_seconds", leftMs / 1000)]),
    ];
  });
}
