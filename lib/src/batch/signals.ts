import { metrics, signals } from "../engine/signals.ts";

const job = { batch: "the batch", jobId: "the job" };
const partition = { ...job, partition: "the partition's key", attempt: "which attempt" };
const failed = { ...partition, code: "the failure's code", reason: "the failure's message" };

export const batchSignals = signals({
  "batch.planned": {
    meaning: "The partitions of a job are on record.",
    fields: { ...job, partitions: "how many" },
  },
  "batch.begun": {
    meaning: "It is a job's turn, for the first time or again.",
    fields: { ...job, partitions: "how many are to be worked on" },
  },
  "batch.partition_done": {
    meaning: "A partition has staged what it makes.",
    fields: { ...partition, rows: "how many rows", durationMs: "of the attempt" },
  },
  "batch.partition_retried": {
    meaning: "An attempt at a partition failed; it is tried again.",
    fields: failed,
  },
  "batch.partition_failed": {
    meaning: "A partition failed for good; the others go on.",
    fields: failed,
  },
  "batch.completed": {
    meaning: "A job was promoted.",
    fields: { ...job, rows: "how many rows" },
  },
  "batch.failed": {
    meaning:
      "A job cannot go on: partitions have failed, or what they staged is invalid. Nothing was promoted.",
    fields: { ...job, reason: "why" },
  },
  "batch.cancelled": { meaning: "A job was cancelled. Nothing was promoted.", fields: { ...job, by: "who" } },
});

export type BatchSignal = keyof typeof batchSignals.entries;

export const batchMetrics = metrics({
  tuntas_batch_partitions_total: {
    kind: "counter",
    meaning: "Attempts at partitions by what they came to.",
    labels: ["batch", "outcome"],
    from: (["done", "retried", "failed"] as const).map((outcome) => ({
      signal: `batch.partition_${outcome}`,
      fixed: { outcome },
    })),
    kept: true,
  },
  tuntas_batch_rows_total: {
    kind: "counter",
    meaning: "Rows that partitions have staged.",
    labels: ["batch"],
    from: [{ signal: "batch.partition_done", amount: "rows" }],
    kept: true,
  },
  tuntas_batch_jobs_total: {
    kind: "counter",
    meaning: "Jobs by what became of them.",
    labels: ["batch", "state"],
    from: (["planned", "completed", "failed", "cancelled"] as const).map((state) => ({
      signal: `batch.${state}`,
      fixed: { state },
    })),
    kept: true,
  },
  tuntas_batch_partition_duration_seconds: {
    kind: "histogram",
    meaning: "How long attempts took that staged a partition.",
    labels: ["batch"],
    from: [{ signal: "batch.partition_done" }],
  },
  tuntas_batch_jobs: {
    kind: "gauge",
    meaning: "Jobs that are not over, by state. What has failed waits for a person.",
    labels: ["batch", "state"],
    kept: true,
  },
  tuntas_batch_partitions: {
    kind: "gauge",
    meaning: "Partitions of the jobs that are not over, by state.",
    labels: ["batch", "state"],
    kept: true,
  },
  tuntas_batch_progress_ratio: {
    kind: "gauge",
    meaning: "Which part of the partitions of the job that runs is done: 0 to 1.",
    labels: ["batch"],
    kept: true,
  },
  tuntas_batch_left_seconds: {
    kind: "gauge",
    meaning: "How long the job that runs takes yet, at its pace.",
    labels: ["batch"],
    kept: true,
  },
});
