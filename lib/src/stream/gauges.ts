// What the streams are like at this moment, for charts and alarms.
import type { Reading } from "../engine/signals.ts";
import type { Runner } from "../pg/join.ts";
import { hotPartitions } from "./state.ts";
import {
  readHeat,
  readHeldSegments,
  readPartitions,
  readStreams,
  type PartitionStanding,
} from "./store/standing.ts";

const reading = (metric: string, labels: Record<string, string>, value: number): Reading => ({
  name: `tuntas_stream_${metric}`,
  labels,
  value,
});

function ofPartition({ stream, consumer, partition, lag, lagMs, movedMsAgo }: PartitionStanding): Reading[] {
  const labels = { stream, consumer, partition: String(partition) };
  return [
    reading("lag_records", labels, lag),
    reading("lag_seconds", labels, Math.max(0, lagMs ?? 0) / 1000),
    reading("checkpoint_age_seconds", labels, lag > 0 ? Math.max(0, movedMsAgo) / 1000 : 0),
  ];
}

function ofConsumer(all: readonly PartitionStanding[]): Reading[] {
  const { stream, consumer, parked, members, lagWithinMs } = all[0]!;
  const labels = { stream, consumer };
  const isBehind = all.some(({ lagMs }) => lagMs !== null && lagMs > lagWithinMs);
  return [
    reading("behind", labels, Number(isBehind)),
    reading("parked", labels, parked),
    reading("stopped", labels, all.filter(({ stoppedAtMs }) => stoppedAtMs !== null).length),
    reading("members", labels, members),
  ];
}

function byConsumer(all: readonly PartitionStanding[]): PartitionStanding[][] {
  const groups = new Map<string, PartitionStanding[]>();
  for (const each of all) {
    const name = `${each.stream} ${each.consumer}`;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  return [...groups.values()];
}

export async function readStreamGauges(sql: Runner): Promise<Reading[]> {
  if ((await readStreams(sql, null)).length === 0) return [];
  const all = await readPartitions(sql, null);
  const hot = hotPartitions(await readHeat(sql, null));
  const held = await readHeldSegments(sql);
  return [
    ...all.flatMap(ofPartition),
    ...byConsumer(all).flatMap(ofConsumer),
    ...hot.map(({ stream, partition, key, times }) =>
      reading("hot_partition", { stream, partition: String(partition), key }, times),
    ),
    ...held.map(({ stream, segments }) => reading("held_segments", { stream }, segments)),
  ];
}
