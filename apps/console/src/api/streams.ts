import type {
  ConsumerName,
  ConsumerReport,
  Hot,
  Parked,
  PartitionReport,
  StoredRecord,
  StreamReport,
} from "tuntas/stream";
import type { None, Paged, Reasoned } from "./basics.ts";

export type { Hot, Parked };

/** The worst that is to be said of a consumer. */
export type ConsumerStanding = "stopped" | "nobody reads" | "behind" | "parked" | "on time";

/** The same of a partition that it reads. */
export type PartitionStanding =
  "stopped" | "nobody reads" | "tried again" | "behind" | "reading" | "all read";

export interface ConsumerPartition extends PartitionReport {
  readonly standing: PartitionStanding;
}

export interface ConsumerView extends Omit<ConsumerReport, "partitions"> {
  readonly standing: ConsumerStanding;
  /** Records that it handled, in the last five minutes. */
  readonly perSecond: number;
  readonly partitions: readonly ConsumerPartition[];
}

export interface StreamSummary extends Pick<
  StreamReport,
  "name" | "partitions" | "records" | "owner" | "runbook"
> {
  /** The worst of its consumers; `not read` where it has none. */
  readonly standing: ConsumerStanding | "not read";
  readonly consumers: number;
  /** Records that were appended, in the last five minutes. */
  readonly perSecond: number;
  /** Of the consumer that is furthest behind. */
  readonly lag: number;
  readonly lagMs: number | null;
  readonly parked: number;
  readonly stopped: number;
}

export interface StreamView extends StreamSummary, Pick<StreamReport, "key" | "retentionMs" | "offsets"> {
  /** The database's clock. */
  readonly nowMs: number;
  /** The worst first. */
  readonly readers: readonly ConsumerView[];
  readonly hot: readonly Hot[];
}

interface StreamName {
  readonly stream: string;
}

export interface StreamReads {
  streams: { query: None; answer: readonly StreamSummary[] };
  stream: { query: StreamName; answer: StreamView };
  "stream.parked": {
    query: StreamName & { readonly consumer?: string; readonly after?: string };
    answer: Paged<Parked>;
  };
  /** What lies at an offset; null where it is not kept, or not there yet. */
  "stream.record": {
    query: StreamName & { readonly partition: string; readonly offset: string };
    answer: { readonly record: StoredRecord | null };
  };
}

/** Those of the ids, or all that the consumer has parked. */
type Choice = ConsumerName & Reasoned & { readonly ids?: readonly string[] };

export interface StreamActs {
  "stream.rewind": {
    body: ConsumerName &
      Reasoned & {
        readonly to: "start" | "end" | "instant" | "offset";
        readonly instantMs?: number;
        readonly partition?: number;
        readonly offset?: number;
      };
    answer: ConsumerName;
  };
  /** Answers the partitions. */
  "stream.resume": { body: ConsumerName & Reasoned; answer: { readonly partitions: readonly number[] } };
  "stream.replay": { body: Choice; answer: { readonly ids: readonly string[] } };
  "stream.discard": { body: Choice; answer: { readonly ids: readonly string[] } };
  "stream.forget": { body: ConsumerName & Reasoned; answer: ConsumerName };
}
