// The shipped runbooks: numbered checks that are shown with live values, and what the figures speak for. The prose stands
// in docs/operate/runbooks.md; a declared alarm brings its own checks.
import type { Check } from "./contract.ts";

const gauge = (name: string, labels = {}) => ({ metric: { name, labels, statistic: "last" as const } });
const counter = (name: string, labels = {}) => ({ metric: { name, labels, statistic: "sum" as const } });

/** The nine checks of a backlog that rises, in the order in which they are asked. */
export const backlogChecks = [
  { text: "How old is the oldest message?", ...gauge("tuntas_queue_oldest_age_seconds"), unit: "s" },
  {
    text: "How many are done?",
    ...counter("tuntas_worker_attempts_total", { outcome: "done" }),
    unit: "in 5 min",
  },
  {
    text: "How many attempts fail?",
    ...counter("tuntas_worker_attempts_total", { outcome: "retry" }),
    unit: "in 5 min",
  },
  { text: "How many wait as dead letters?", ...gauge("tuntas_queue_dead_letters"), unit: "messages" },
  { text: "How many processes work on it?", ...gauge("tuntas_worker_processes"), unit: "processes" },
  { text: "How many handlers may run at once?", ...gauge("tuntas_worker_places"), unit: "handlers" },
  { text: "Is it paused?", ...gauge("tuntas_queue_paused"), unit: "(1 is yes)" },
  {
    text: "Do workers take messages?",
    ...counter("tuntas_queue_messages_total", { event: "received" }),
    unit: "in 5 min",
  },
  {
    text: "How many are in flight?",
    ...gauge("tuntas_queue_depth", { state: "in_flight" }),
    unit: "messages",
  },
  {
    text: "What came back because its time was over?",
    ...counter("tuntas_queue_messages_total", { event: "promoted" }),
    unit: "in 5 min",
  },
] as const satisfies readonly Check[];

export const deadLetterChecks = [
  { text: "How many wait for a person?", ...gauge("tuntas_queue_dead_letters"), unit: "messages" },
  {
    text: "How many died?",
    ...counter("tuntas_queue_messages_total", { event: "dead" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many attempts fail?",
    ...counter("tuntas_worker_attempts_total", { outcome: "retry" }),
    unit: "in 5 min",
  },
  {
    text: "How many are poison?",
    ...counter("tuntas_worker_attempts_total", { outcome: "poison" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "Does the queue itself flow?",
    ...counter("tuntas_worker_attempts_total", { outcome: "done" }),
    unit: "done in 5 min",
  },
] as const satisfies readonly Check[];

export const outboxChecks = [
  { text: "How old is the oldest announcement?", ...gauge("tuntas_outbox_oldest_age_seconds"), unit: "s" },
  { text: "How many wait?", ...gauge("tuntas_outbox_rows", { state: "waiting" }), unit: "rows" },
  { text: "How many are parked?", ...gauge("tuntas_outbox_rows", { state: "parked" }), unit: "rows" },
  { text: "How many go out?", ...counter("tuntas_outbox_published_total"), unit: "in 5 min" },
  {
    text: "Can the target be reached?",
    ...counter("tuntas_outbox_failures_total", { type: "unavailable" }),
    unit: "failures in 5 min",
  },
] as const satisfies readonly Check[];

export const effectChecks = [
  {
    text: "How many calls have an unknown outcome?",
    ...gauge("tuntas_side_effects", { state: "unknown" }),
    unit: "calls",
  },
  {
    text: "How many calls succeed?",
    ...counter("tuntas_side_effect_calls_total", { state: "succeeded" }),
    unit: "in 5 min",
  },
  {
    text: "How many calls fail?",
    ...counter("tuntas_side_effect_calls_total", { state: "failed" }),
    unit: "in 5 min",
  },
] as const satisfies readonly Check[];

export const workflowChecks = [
  { text: "How many executions run?", ...gauge("tuntas_workflow_running"), unit: "executions" },
  { text: "How many wait for somebody outside?", ...gauge("tuntas_workflow_waiting"), unit: "executions" },
  { text: "How old is the oldest?", ...gauge("tuntas_workflow_oldest_age_seconds"), unit: "s" },
  {
    text: "How many failed?",
    ...counter("tuntas_workflow_executions_total", { status: "FAILED" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many succeeded?",
    ...counter("tuntas_workflow_executions_total", { status: "SUCCEEDED" }),
    over: "1h",
    unit: "in an hour",
  },
] as const satisfies readonly Check[];

export const approvalChecks = [
  { text: "How many are overdue?", ...gauge("tuntas_approvals_overdue"), unit: "approvals" },
  { text: "How many wait?", ...gauge("tuntas_approvals_pending"), unit: "approvals" },
  { text: "How old is the oldest?", ...gauge("tuntas_approval_wait_age_seconds"), unit: "s" },
] as const satisfies readonly Check[];

export const scheduleChecks = [
  { text: "Is a success overdue?", ...gauge("tuntas_schedule_overdue"), unit: "(1 is yes)" },
  {
    text: "Did it fire?",
    ...counter("tuntas_schedule_occurrences_total", { state: "started" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many failed?",
    ...counter("tuntas_schedule_occurrences_total", { state: "failed" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many were skipped, since an earlier one still ran?",
    ...counter("tuntas_schedule_occurrences_total", { state: "skipped" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "For how many was nobody there?",
    ...counter("tuntas_schedule_late_total"),
    over: "1h",
    unit: "in an hour",
  },
  { text: "How many run?", ...gauge("tuntas_schedule_open", { state: "started" }), unit: "occurrences" },
  { text: "How many wait?", ...gauge("tuntas_schedule_open", { state: "waiting" }), unit: "occurrences" },
  { text: "How old is the last success?", ...gauge("tuntas_schedule_success_age_seconds"), unit: "s" },
] as const satisfies readonly Check[];

export const streamChecks = [
  { text: "How old is the oldest unread record?", ...gauge("tuntas_stream_lag_seconds"), unit: "s" },
  { text: "How many are unread?", ...gauge("tuntas_stream_lag_records"), unit: "records" },
  { text: "How many are appended?", ...counter("tuntas_stream_appended_total"), unit: "in 5 min" },
  { text: "How many are handled?", ...counter("tuntas_stream_records_total"), unit: "in 5 min" },
  { text: "How many attempts fail?", ...counter("tuntas_stream_failures_total"), unit: "in 5 min" },
  { text: "In how many partitions does it stand?", ...gauge("tuntas_stream_stopped"), unit: "partitions" },
  { text: "How many records are parked?", ...gauge("tuntas_stream_parked"), unit: "records" },
  { text: "Is a partition hot?", ...gauge("tuntas_stream_hot_partition"), unit: "times its share" },
  {
    text: "Is more kept than the retention says?",
    ...gauge("tuntas_stream_held_segments"),
    unit: "segments",
  },
] as const satisfies readonly Check[];

export const batchChecks = [
  {
    text: "How many jobs wait for a person?",
    ...gauge("tuntas_batch_jobs", { state: "failed" }),
    unit: "jobs",
  },
  {
    text: "How many partitions failed?",
    ...gauge("tuntas_batch_partitions", { state: "failed" }),
    unit: "partitions",
  },
  {
    text: "How many jobs wait for their turn?",
    ...gauge("tuntas_batch_jobs", { state: "waiting" }),
    unit: "jobs",
  },
  { text: "How many are paused?", ...gauge("tuntas_batch_jobs", { state: "paused" }), unit: "jobs" },
  { text: "Does one run?", ...gauge("tuntas_batch_jobs", { state: "running" }), unit: "jobs" },
  { text: "How far is it?", ...gauge("tuntas_batch_progress_ratio"), unit: "(1 is done)" },
  {
    text: "How many partitions were done?",
    ...counter("tuntas_batch_partitions_total", { outcome: "done" }),
    unit: "in 5 min",
  },
  {
    text: "How many attempts failed?",
    ...counter("tuntas_batch_partitions_total", { outcome: "retried" }),
    unit: "in 5 min",
  },
] as const satisfies readonly Check[];

export const backfillChecks = [
  {
    text: "How many runs wait for a person?",
    ...gauge("tuntas_backfill_runs", { state: "stopped" }),
    unit: "runs",
  },
  { text: "Does one run?", ...gauge("tuntas_backfill_runs", { state: "running" }), unit: "runs" },
  { text: "How far is it?", ...gauge("tuntas_backfill_progress_ratio"), unit: "(1 is done)" },
  { text: "Which part of its rate does it take?", ...gauge("tuntas_backfill_pace_ratio"), unit: "" },
  {
    text: "How many records were handled?",
    ...counter("tuntas_backfill_records_total", { outcome: "handled" }),
    unit: "in 5 min",
  },
  {
    text: "How many records failed?",
    ...counter("tuntas_backfill_records_total", { outcome: "failed" }),
    unit: "in 5 min",
  },
] as const satisfies readonly Check[];

export const operationChecks = [
  {
    text: "How many could not go on?",
    ...counter("tuntas_operations_total", { state: "failed" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many completed?",
    ...counter("tuntas_operations_total", { state: "completed" }),
    over: "1h",
    unit: "in an hour",
  },
] as const satisfies readonly Check[];

export const commandChecks = [
  {
    text: "How many failed?",
    ...counter("tuntas_command_runs_total", { status: "FAILED" }),
    over: "1h",
    unit: "in an hour",
  },
  {
    text: "How many wait for approval?",
    ...gauge("tuntas_command_runs", { state: "waiting" }),
    unit: "runs",
  },
  {
    text: "How many wait for their evidence?",
    ...gauge("tuntas_command_runs", { state: "unclosed" }),
    unit: "runs",
  },
] as const satisfies readonly Check[];

export const leaseChecks = [
  {
    text: "How often was it lost?",
    ...counter("tuntas_leases_lost_total"),
    over: "1h",
    unit: "in an hour",
  },
] as const satisfies readonly Check[];

export interface BacklogFigures {
  readonly done: number;
  readonly failed: number;
  readonly deadLetters: number;
  readonly processes: number;
  readonly paused: boolean;
  readonly received: number;
  /** Deployments and changes of configuration of the last hour. */
  readonly changes: readonly string[];
}

/** What a backlog's figures speak for. A backlog is a symptom: more workers are the last thing to try. */
export function suggestForBacklog(figures: BacklogFigures): string {
  const { done, failed, deadLetters, processes, paused, received, changes } = figures;
  if (paused) return "The queue is paused: resume it, or find out who paused it and why.";
  if (processes === 0) return "Nobody works on the queue: start a worker.";
  if (received === 0) return "Workers are there and take nothing: look at their logs, or restart them.";
  if (failed > done && changes.length > 0)
    return `Most attempts fail since a change: roll it back (${changes.at(-1)}).`;
  if (deadLetters > done && failed > 0)
    return "Poison dominates: pause the queue, look at its dead letters, redrive after the fix.";
  if (failed > done)
    return "Most attempts fail: look at the downstream, and throttle instead of scaling out.";
  return "Work succeeds, and more comes in than goes out: scale out, if the downstream can take it.";
}
