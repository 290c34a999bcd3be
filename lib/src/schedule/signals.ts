import { metrics, signals } from "../engine/signals.ts";

const of = { schedule: "the schedule" };
const occurrence = {
  ...of,
  scheduledAt: "the instant it was due at",
  run: "0, or the number of a person's run",
};

export const scheduleSignals = signals({
  "schedule.started": {
    meaning: "The work of an occurrence was begun.",
    fields: { ...occurrence, reference: "what the work is known by", lateMs: "how long after it was due" },
  },
  "schedule.waiting": {
    meaning:
      "An occurrence waits until the work of an earlier one has ended, or for a moment of its flexible window.",
    fields: occurrence,
  },
  "schedule.refused": {
    meaning: "The work of an occurrence could not be begun, as its queue is gone, say, and is tried again.",
    fields: {
      ...occurrence,
      reason: "why",
      tries: "how often it was tried by now",
      inMs: "how long until the next try",
    },
  },
  "schedule.skipped": {
    meaning: "An occurrence came while the work of an earlier one still ran, and is left out for good.",
    fields: { ...occurrence, reason: "why" },
  },
  "schedule.missed": {
    meaning: "Nobody was there when an occurrence was due, and its catch-up rule lets it go.",
    fields: { ...occurrence, reason: "why" },
  },
  "schedule.late": {
    meaning: "Nobody was there when occurrences were due. They are treated by the catch-up rule.",
    fields: { ...of, count: "how many; a thousand stands for more" },
  },
  "schedule.succeeded": {
    meaning: "The work of an occurrence has ended well.",
    fields: { ...occurrence, durationMs: "from its start to its end, as it was seen" },
  },
  "schedule.failed": {
    meaning:
      "The work of an occurrence has failed: rejected, quarantined, a dead letter, a failed execution, or never begun by its retry policy.",
    fields: { ...occurrence, reason: "why", durationMs: "from its start to its end, as it was seen" },
  },
});

export type ScheduleSignal = keyof typeof scheduleSignals.entries;

export const scheduleMetrics = metrics({
  tuntas_schedule_occurrences_total: {
    kind: "counter",
    meaning: "Occurrences by what became of them.",
    labels: ["schedule", "state"],
    from: (["started", "waiting", "skipped", "missed", "succeeded", "failed"] as const).map((state) => ({
      signal: `schedule.${state}`,
      fixed: { state },
    })),
    kept: true,
  },
  tuntas_schedule_late_total: {
    kind: "counter",
    meaning: "Occurrences that nobody was there for when they were due.",
    labels: ["schedule"],
    from: [{ signal: "schedule.late", amount: "count" }],
    kept: true,
  },
  tuntas_schedule_duration_seconds: {
    kind: "histogram",
    meaning: "How long the work of occurrences took, as it was seen.",
    labels: ["schedule"],
    from: [{ signal: "schedule.succeeded" }, { signal: "schedule.failed" }],
  },
  tuntas_schedule_open: {
    kind: "gauge",
    meaning: "Occurrences that run or wait for their turn.",
    labels: ["schedule", "state"],
    kept: true,
  },
  tuntas_schedule_overdue: {
    kind: "gauge",
    meaning:
      "1 where a success was expected by now and has not been seen, also of a schedule that is paused.",
    labels: ["schedule"],
    kept: true,
  },
  tuntas_schedule_success_age_seconds: {
    kind: "gauge",
    meaning: "How long ago the last success was seen; nothing before the first.",
    labels: ["schedule"],
    kept: true,
  },
});
