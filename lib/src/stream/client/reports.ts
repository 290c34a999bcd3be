// How streams and consumers stand, put together for people.
import type { Runner } from "../../pg/join.ts";
import type { ConsumerReport, PartitionReport, StreamReport } from "../contract.ts";
import {
  readPartitions,
  readStreams,
  type PartitionStanding,
  type StreamStanding,
} from "../store/standing.ts";

function partitionReport(of: PartitionStanding): PartitionReport {
  const { partition, nextOffset, lag, lagMs, owner, attempts, code, reason, stoppedAtMs } = of;
  return { partition, nextOffset, lag, lagMs, owner, attempts, code, reason, stoppedAtMs };
}

function consumerReport(all: readonly PartitionStanding[]): ConsumerReport {
  const { consumer: name, stream, onBadRecord, lagWithinMs, members, parked } = all[0]!;
  const ages = all.flatMap(({ lagMs }) => lagMs ?? []);
  const lagMs = ages.length === 0 ? null : Math.max(...ages);
  return {
    name,
    stream,
    onBadRecord,
    lagWithinMs,
    members,
    lag: all.reduce((sum, each) => sum + each.lag, 0),
    lagMs,
    behind: lagMs !== null && lagMs > lagWithinMs,
    parked,
    partitions: all.map(partitionReport),
  };
}

function streamReport(of: StreamStanding, standings: readonly PartitionStanding[]): StreamReport {
  const { first, next, arrivals, ...settings } = of;
  const own = standings.filter(({ stream }) => stream === of.name);
  const names = [...new Set(own.map(({ consumer }) => consumer))];
  return {
    ...settings,
    records: next.reduce((sum, offset, partition) => sum + offset - first[partition]!, arrivals),
    offsets: next.map((offset, partition) => ({ first: first[partition]!, next: offset })),
    consumers: names.map((name) => consumerReport(own.filter(({ consumer }) => consumer === name))),
  };
}

export async function readReports(sql: Runner, name: string | null): Promise<StreamReport[]> {
  const [streams, standings] = [await readStreams(sql, name), await readPartitions(sql, name)];
  return streams.map((each) => streamReport(each, standings));
}
