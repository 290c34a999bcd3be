import { metrics, signals } from "../engine/signals.ts";

const of = { stream: "the stream", consumer: "the consumer" };
const inPartition = { ...of, partition: "the partition" };
const record = { ...inPartition, offset: "its offset", key: "its key" };
const why = { code: "the code of the failure", reason: "why", attempt: "how often it has failed" };

export const streamSignals = signals({
  "stream.appended": {
    meaning: "Records were appended; those of callers' transactions are counted before these commit.",
    fields: { stream: "the stream", count: "how many" },
  },
  "stream.claimed": { meaning: "A process took a partition of a consumer.", fields: inPartition },
  "stream.handled": {
    meaning: "Records were handled: what was written for them and the checkpoint are committed.",
    fields: {
      ...inPartition,
      count: "how many",
      replayed: "how many of them the consumer had been past before",
      durationMs: "from the first handler's start to the commit",
    },
  },
  "stream.failed": {
    meaning:
      "A record could not be handled, or its process died of it; it is tried again, is parked, or stops its partition.",
    fields: { ...record, ...why },
  },
  "stream.parked": {
    meaning: "A record could not be handled and was parked; its consumer has gone past it.",
    fields: { ...record, ...why },
  },
  "stream.stopped": {
    meaning: "A record could not be handled, and its consumer does not go past it.",
    fields: { ...record, ...why },
  },
  "stream.replayed": { meaning: "A parked record was handled after all.", fields: record },
  "stream.lost": {
    meaning:
      "A process found at its commit that the partition is another's, or was rewound; it wrote nothing.",
    fields: inPartition,
  },
  "stream.stuck": {
    meaning:
      "A process held partitions and did nothing with them, as one whose event loop is blocked; others take them.",
    fields: { processId: "the process" },
  },
  "stream.dropped": {
    meaning: "Records whose retention was over were dropped, a segment at a time.",
    fields: { stream: "the stream", segments: "how many segments" },
  },
  "stream.held": {
    meaning: "Records are kept beyond their retention, since a consumer has not read them.",
    fields: { stream: "the stream", segments: "how many segments", consumers: "whose turn it is" },
  },
});

export type StreamSignal = keyof typeof streamSignals.entries;

const consumerLabels = ["stream", "consumer"];
const partitionLabels = [...consumerLabels, "partition"];

export const streamMetrics = metrics({
  tuntas_stream_appended_total: {
    kind: "counter",
    meaning: "Records that were appended.",
    labels: ["stream"],
    from: [{ signal: "stream.appended", amount: "count" }],
    kept: true,
  },
  tuntas_stream_records_total: {
    kind: "counter",
    meaning: "Records that were handled.",
    labels: consumerLabels,
    from: [{ signal: "stream.handled", amount: "count" }],
    kept: true,
  },
  tuntas_stream_replayed_total: {
    kind: "counter",
    meaning: "Records that were handled again, after a rewind or from what was parked.",
    labels: consumerLabels,
    from: [{ signal: "stream.handled", amount: "replayed" }, { signal: "stream.replayed" }],
    kept: true,
  },
  tuntas_stream_failures_total: {
    kind: "counter",
    meaning: "Failures to handle a record or a batch, by code.",
    labels: [...consumerLabels, "code"],
    from: [{ signal: "stream.failed" }],
    kept: true,
  },
  tuntas_stream_parked_total: {
    kind: "counter",
    meaning: "Records that were parked.",
    labels: consumerLabels,
    from: [{ signal: "stream.parked" }],
    kept: true,
  },
  tuntas_stream_lost_total: {
    kind: "counter",
    meaning: "Commits that were refused since the partition was another's by then.",
    labels: consumerLabels,
    from: [{ signal: "stream.lost" }],
  },
  tuntas_stream_batch_duration_seconds: {
    kind: "histogram",
    meaning: "How long batches took, from the first handler's start to the commit.",
    labels: consumerLabels,
    from: [{ signal: "stream.handled" }],
  },
  tuntas_stream_lag_records: {
    kind: "gauge",
    meaning: "Records that a consumer has not read, by partition.",
    labels: partitionLabels,
    kept: true,
  },
  tuntas_stream_lag_seconds: {
    kind: "gauge",
    meaning:
      "How old the oldest record is that a consumer has not read (Kinesis' iterator age); 0 where it has read all.",
    labels: partitionLabels,
    kept: true,
  },
  tuntas_stream_checkpoint_age_seconds: {
    kind: "gauge",
    meaning: "How long ago a checkpoint moved that is to move; 0 where there is nothing to read.",
    labels: partitionLabels,
    kept: true,
  },
  tuntas_stream_behind: {
    kind: "gauge",
    meaning: "1 where the oldest unread record is older than the consumer's lagWithin.",
    labels: consumerLabels,
    kept: true,
  },
  tuntas_stream_parked: {
    kind: "gauge",
    meaning: "Records that are parked.",
    labels: consumerLabels,
    kept: true,
  },
  tuntas_stream_stopped: {
    kind: "gauge",
    meaning: "Partitions that a consumer has stopped at a bad record.",
    labels: consumerLabels,
    kept: true,
  },
  tuntas_stream_members: {
    kind: "gauge",
    meaning: "Processes that share the partitions of a consumer.",
    labels: consumerLabels,
  },
  tuntas_stream_hot_partition: {
    kind: "gauge",
    meaning:
      "A partition that gets more than twice its share of the records of the last minute, and the key that most of them have; how many times its share.",
    labels: ["stream", "partition", "key"],
    kept: true,
  },
  tuntas_stream_held_segments: {
    kind: "gauge",
    meaning: "Segments that are kept beyond their retention, since a consumer has not read them.",
    labels: ["stream"],
    kept: true,
  },
});
