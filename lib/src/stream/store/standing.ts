// How streams and their consumers stand, for people and for gauges. Nothing here changes anything.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { StreamSettings } from "../contract.ts";
import type { Heat } from "../state.ts";
import { firstOffset } from "./streams.ts";

export interface StreamStanding extends StreamSettings {
  readonly first: number[];
  readonly next: number[];
  /** Appended, and without an offset yet. */
  readonly arrivals: number;
}

const streams = statement(
  `select s.name, s.key_meaning as key, s.partitions, ${ms("s.retention")} as "retentionMs", s.owner, s.runbook,
     array(select ${firstOffset("p.stream_id", "p.partition")}::float8 from tuntas.stream_partition p where p.stream_id = s.id order by p.partition) as first,
     array(select p.next_offset::float8 from tuntas.stream_partition p where p.stream_id = s.id order by p.partition) as next,
     (select count(*)::float8 from tuntas.stream_arrival a where a.stream_id = s.id) as arrivals
   from tuntas.stream s where $1::text is null or s.name = $1 order by s.name`,
);

export const readStreams = (sql: Runner, name: string | null): Promise<StreamStanding[]> =>
  sql.run<StreamStanding & {}>(streams, [name]);

export interface PartitionStanding {
  readonly stream: string;
  readonly consumer: string;
  readonly onBadRecord: "park" | "stop";
  readonly lagWithinMs: number;
  readonly members: number;
  readonly parked: number;
  readonly partition: number;
  readonly nextOffset: number;
  readonly lag: number;
  readonly lagMs: number | null;
  /** How long ago its checkpoint moved. */
  readonly movedMsAgo: number;
  readonly owner: string | null;
  readonly attempts: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly stoppedAtMs: number | null;
}

const consumers = statement(
  `select s.name as stream, k.name as consumer, k.on_bad_record as "onBadRecord", ${ms("k.lag_within")} as "lagWithinMs",
     (select count(*)::int from tuntas.stream_member m where m.consumer_id = k.id) as members,
     (select count(*)::int from tuntas.stream_parked b where b.consumer_id = k.id) as parked,
     c.partition, c.next_offset::float8 as "nextOffset", (p.next_offset - c.next_offset + a.count)::float8 as lag,
     ${ms("tuntas.now() - coalesce((select r.appended_at from tuntas.stream_peek(c.stream_id, c.partition, c.next_offset, 1) r), a.first)")} as "lagMs",
     ${ms("tuntas.now() - c.moved_at")} as "movedMsAgo", o.host || ' ' || o.pid as owner, c.attempts, c.code, c.reason, ${ms("c.stopped_at")} as "stoppedAtMs"
   from tuntas.stream s join tuntas.stream_consumer k on k.stream_id = s.id join tuntas.stream_checkpoint c on c.consumer_id = k.id
     join tuntas.stream_partition p on p.stream_id = c.stream_id and p.partition = c.partition left join tuntas.process o on o.id = c.owner_id,
     lateral (select count(*) as count, min(b.appended_at) as first from tuntas.stream_arrival b where b.stream_id = c.stream_id and b.partition = c.partition) a
   where $1::text is null or s.name = $1 order by s.name, k.name, c.partition`,
);

export const readPartitions = (sql: Runner, stream: string | null): Promise<PartitionStanding[]> =>
  sql.run<PartitionStanding & {}>(consumers, [stream]);

const heat = statement(
  `select s.name as stream, s.partitions, p.partition, sum(h.count)::float8 as records, ${ms("tuntas.now() - min(h.first)")} as "withinMs",
     (array_agg(h.key order by h.count desc, h.key))[1] as key
   from tuntas.stream s join tuntas.stream_partition p on p.stream_id = s.id,
     lateral (select r.key, count(*) as count, min(r.appended_at) as first
       from tuntas.stream_peek(s.id, p.partition, p.next_offset - 200, 200) r
       where r.appended_at > tuntas.now() - interval '1 minute' group by r.key) h
   where s.partitions > 1 and ($1::text is null or s.name = $1) group by s.name, s.partitions, p.partition`,
);

/** Of the latest 200 records of each partition those of the last minute. */
export const readHeat = (sql: Runner, stream: string | null): Promise<Heat[]> =>
  sql.run<Heat & {}>(heat, [stream]);

const held = statement(
  `select s.name as stream, count(*)::float8 as segments from tuntas.stream s join tuntas.stream_segment n on n.stream_id = s.id
   where n.began_at < tuntas.now() - s.retention - interval '2 minutes'
     and exists (select from tuntas.stream_segment g where g.stream_id = s.id and g.segment < n.segment) group by s.name`,
);

/** How many segments are kept beyond their time, since a consumer has not read them. */
export const readHeldSegments = (sql: Runner): Promise<{ stream: string; segments: number }[]> =>
  sql.run<{ stream: string; segments: number }>(held);
