import { metrics, signals } from "../../engine/signals.ts";
import type { Move } from "./store/runs.ts";

const run = { backfill: "the backfill", runId: "the run" };

export const backfillSignals = signals({
  "backfill.slice": {
    meaning: "A run got on by a slice of records.",
    fields: {
      ...run,
      partition: "the partition's key",
      handled: "how many records were handled",
      final: "how many were final, and left alone",
      failed: "how many could not be handled",
      suppressed: "how many announcements were kept back",
      durationMs: "without the wait for its part of the rate",
    },
  },
  "backfill.slowed": {
    meaning: "A run takes less than its rate, since the database or a downstream is slow.",
    fields: {
      ...run,
      pace: "which part of its rate it takes",
      databaseMs: "of a statement, smoothed",
      downstreamMs: "of a call, smoothed; null where none was made",
    },
  },
  "backfill.moved": {
    meaning: "A run is in another state.",
    fields: {
      ...run,
      state: "which",
      pause: "person, window or trouble, where it is paused",
      reason: "what has failed, where something has",
    },
  },
});

export const tellMove = (backfill: string, runId: string, { to, pause, failure }: Move): void =>
  backfillSignals.publish("backfill.moved", { backfill, runId, state: to, pause, reason: failure });

export const backfillMetrics = metrics({
  tuntas_backfill_records_total: {
    kind: "counter",
    meaning: "Records of backfills by what became of them.",
    labels: ["backfill", "outcome"],
    from: ["handled", "final", "failed"].map((outcome) => ({
      signal: "backfill.slice",
      fixed: { outcome },
      amount: outcome,
    })),
    kept: true,
  },
  tuntas_backfill_suppressed_total: {
    kind: "counter",
    meaning: "Announcements of backfills that were kept back.",
    labels: ["backfill"],
    from: [{ signal: "backfill.slice", amount: "suppressed" }],
  },
  tuntas_backfill_slice_duration_seconds: {
    kind: "histogram",
    meaning: "How long slices took, without the wait for their part of the rate.",
    labels: ["backfill"],
    from: [{ signal: "backfill.slice" }],
  },
  tuntas_backfill_runs: {
    kind: "gauge",
    meaning:
      "Runs that are not over, by state; `stopped` are those that trouble has paused or ended and a person has to look at.",
    labels: ["backfill", "state"],
    kept: true,
  },
  tuntas_backfill_progress_ratio: {
    kind: "gauge",
    meaning: "Which part of the records of the run that was begun is read: 0 to 1.",
    labels: ["backfill"],
    kept: true,
  },
  tuntas_backfill_left_seconds: {
    kind: "gauge",
    meaning: "How long the run that runs takes yet, at its pace.",
    labels: ["backfill"],
    kept: true,
  },
  tuntas_backfill_pace_ratio: {
    kind: "gauge",
    meaning: "Which part of its rate the run that runs takes: below 1 while something is slow.",
    labels: ["backfill"],
    kept: true,
  },
});
