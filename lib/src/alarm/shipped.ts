// The alarms that every installation has. Each watches every queue, target or workflow there is; the owner is whoever
// declared the queue. An application that declares an alarm of the same name puts its own in the place of a shipped one.
import type { AlarmDefinition, AlarmOptions, Check, Condition, MetricChoice } from "./contract.ts";
import { alarm } from "./declaration.ts";
import {
  approvalChecks,
  backlogChecks,
  backfillChecks,
  batchChecks,
  commandChecks,
  deadLetterChecks,
  effectChecks,
  leaseChecks,
  operationChecks,
  outboxChecks,
  scheduleChecks,
  streamChecks,
  workflowChecks,
} from "./runbook.ts";

type Of = AlarmOptions["of"];

interface Shipped {
  readonly name: string;
  readonly metric: MetricChoice;
  readonly when: Condition;
  readonly and?: NonNullable<AlarmOptions["and"]>;
  readonly of: Of;
  readonly severity: "page" | "ticket";
  readonly checks: readonly Check[];
  readonly page: string;
}

/** Where nobody declared the thing that an alarm watches. */
export const nobody = "none";

const once: Of = [1, 1];

const list: readonly Shipped[] = [
  {
    name: "backlog-rising",
    metric: { name: "tuntas_queue_depth", labels: { state: "ready" }, statistic: "growth" },
    when: { above: 0 },
    and: {
      metric: { name: "tuntas_queue_depth", labels: { state: "ready" }, statistic: "last" },
      when: { above: 100 },
    },
    of: [8, 10],
    severity: "page",
    checks: backlogChecks,
    page: "backlog",
  },
  {
    name: "oldest-message",
    metric: { name: "tuntas_queue_oldest_age_seconds" },
    when: { above: 300 },
    of: [3, 5],
    severity: "page",
    checks: backlogChecks,
    page: "backlog",
  },
  {
    name: "worker-silent",
    metric: { name: "tuntas_queue_oldest_age_seconds" },
    when: { above: 120 },
    and: {
      metric: { name: "tuntas_worker_attempts_total", labels: { outcome: "done" } },
      when: { below: 1 },
    },
    of: [5, 5],
    severity: "page",
    checks: backlogChecks,
    page: "backlog",
  },
  {
    name: "worker-missing",
    metric: { name: "tuntas_queue_oldest_age_seconds" },
    when: { above: 60 },
    and: { metric: { name: "tuntas_worker_processes" }, when: { below: 1 } },
    of: [5, 5],
    severity: "ticket",
    checks: backlogChecks,
    page: "backlog",
  },
  {
    name: "worker-failures",
    metric: { name: "tuntas_worker_attempts_total", labels: { outcome: "retry" } },
    when: { above: 30 },
    of: [3, 5],
    severity: "page",
    checks: backlogChecks,
    page: "backlog",
  },
  {
    name: "dead-letters",
    metric: { name: "tuntas_queue_dead_letters", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: deadLetterChecks,
    page: "dead-letters",
  },
  {
    name: "outbox-old",
    metric: { name: "tuntas_outbox_oldest_age_seconds" },
    when: { above: 60 },
    of: [2, 3],
    severity: "page",
    checks: outboxChecks,
    page: "outbox",
  },
  {
    name: "outbox-parked",
    metric: { name: "tuntas_outbox_rows", labels: { state: "parked" }, statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: outboxChecks,
    page: "outbox",
  },
  {
    name: "side-effects-unknown",
    metric: { name: "tuntas_side_effects", labels: { state: "unknown" }, statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: effectChecks,
    page: "unknown-side-effects",
  },
  {
    name: "approval-overdue",
    metric: { name: "tuntas_approvals_overdue", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: approvalChecks,
    page: "approvals",
  },
  {
    name: "callback-overdue",
    metric: { name: "tuntas_workflow_callback_wait_age_seconds", statistic: "last" },
    when: { above: 86_400 },
    of: once,
    severity: "ticket",
    checks: workflowChecks,
    page: "workflows",
  },
  {
    name: "workflow-stuck",
    metric: { name: "tuntas_workflow_oldest_age_seconds", statistic: "last" },
    when: { above: 7 * 86_400 },
    of: once,
    severity: "ticket",
    checks: workflowChecks,
    page: "workflows",
  },
  ...["FAILED", "TIMED_OUT"].map((status): Shipped => ({
    name: `workflow-${status.toLowerCase().replace("_", "-")}`,
    metric: { name: "tuntas_workflow_executions_total", labels: { status } },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: workflowChecks,
    page: "workflows",
  })),
  {
    name: "schedule-overdue",
    metric: { name: "tuntas_schedule_overdue", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: scheduleChecks,
    page: "schedules",
  },
  {
    name: "schedule-failed",
    metric: { name: "tuntas_schedule_occurrences_total", labels: { state: "failed" } },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: scheduleChecks,
    page: "schedules",
  },
  {
    name: "schedule-late",
    metric: { name: "tuntas_schedule_late_total" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: scheduleChecks,
    page: "schedules",
  },
  {
    name: "stream-behind",
    metric: { name: "tuntas_stream_behind", statistic: "last" },
    when: { above: 0 },
    of: [3, 5],
    severity: "page",
    checks: streamChecks,
    page: "streams",
  },
  {
    name: "stream-stopped",
    metric: { name: "tuntas_stream_stopped", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: streamChecks,
    page: "streams",
  },
  {
    name: "stream-parked",
    metric: { name: "tuntas_stream_parked_total" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: streamChecks,
    page: "streams",
  },
  {
    name: "stream-hot",
    metric: { name: "tuntas_stream_hot_partition", statistic: "last" },
    when: { above: 0 },
    of: [5, 5],
    severity: "ticket",
    checks: streamChecks,
    page: "streams",
  },
  {
    name: "stream-held",
    metric: { name: "tuntas_stream_held_segments", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: streamChecks,
    page: "streams",
  },
  {
    name: "batch-failed",
    metric: { name: "tuntas_batch_jobs", labels: { state: "failed" }, statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: batchChecks,
    page: "batches",
  },
  {
    name: "backfill-stopped",
    metric: { name: "tuntas_backfill_runs", labels: { state: "stopped" }, statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: backfillChecks,
    page: "backfills",
  },
  {
    name: "operation-failed",
    metric: { name: "tuntas_operations_total", labels: { state: "failed" } },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: operationChecks,
    page: "operations",
  },
  ...["FAILED", "TIMED_OUT", "KILLED"].map((status): Shipped => ({
    name: `command-${status.toLowerCase().replace("_", "-")}`,
    metric: { name: "tuntas_command_runs_total", labels: { status } },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: commandChecks,
    page: "commands",
  })),
  {
    name: "command-overdue",
    metric: { name: "tuntas_command_runs", labels: { state: "overdue" }, statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: commandChecks,
    page: "commands",
  },
  {
    name: "lease-lost",
    metric: { name: "tuntas_leases_lost_total" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: leaseChecks,
    page: "leases",
  },
  {
    name: "compensation-parked",
    metric: { name: "tuntas_compensations_total", labels: { outcome: "parked" } },
    when: { above: 0 },
    of: once,
    severity: "page",
    checks: [],
    page: "compensations",
  },
  {
    name: "memory-growing",
    metric: { name: "tuntas_process_memory_growing_total" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: [],
    page: "memory",
  },
  {
    name: "memory-exceeded",
    metric: { name: "tuntas_service_stops_total", labels: { reason: "memory" } },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: [],
    page: "memory",
  },
  {
    name: "discrepancies",
    metric: { name: "tuntas_discrepancies", statistic: "last" },
    when: { above: 0 },
    of: once,
    severity: "ticket",
    checks: [],
    page: "discrepancies",
  },
];

export const shippedAlarms: readonly AlarmDefinition[] = list.map(({ name, page, ...rest }) =>
  alarm(name, {
    ...rest,
    missing: "ignore",
    owner: nobody,
    runbook: `docs/operate/runbooks.md#${page}`,
    notify: [],
  }),
);

const names = new Set(list.map(({ name }) => name));

/** Whether it is ours, and no declared one has taken its place. */
export const isShipped = ({ name, options }: AlarmDefinition): boolean =>
  names.has(name) && options.owner === nobody;
