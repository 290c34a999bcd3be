import { easeFields } from "../engine/handler/ease.ts";
import { metrics, signals } from "../engine/signals.ts";

const queue = "the queue's id";
const count = "how many messages";

const failedAttempt = {
  queue: "the queue's name",
  code: "the error's code",
  outcome: "its outcome",
  messageId: "the message",
  attempt: "1 at the first receive",
  correlationId: "where it came from",
  tenant: "whose message it was, where the queue declares that",
};

/** What the queue room announces, each after its commit; many messages of one commit are one signal. */
export const queueSignals = signals({
  "queue.sent": { meaning: "Messages were made durable.", fields: { queueId: queue, count } },
  "queue.received": {
    meaning: "Messages were claimed by a worker or over the wire.",
    fields: { queueId: queue, count },
  },
  "queue.handed_over": {
    meaning: "Messages were received by a worker that rested, in the commit of their send.",
    fields: { queueId: queue, count },
  },
  "queue.dead": {
    meaning: "Messages went to a dead-letter queue.",
    fields: { queueId: queue, deadLetterId: "the dead-letter queue's id", count },
  },
  "queue.deleted": { meaning: "Messages were deleted over the wire.", fields: { queueId: queue, count } },
  "queue.purged": { meaning: "A queue was emptied.", fields: { queueId: queue, count } },
  "queue.promoted": { meaning: "Delays or visibility timeouts ended.", fields: { queueId: queue, count } },
  "queue.released": {
    meaning: "What a dead process held, or a live one without knowing of it, is ready again.",
    fields: { queueId: queue, count },
  },
  "queue.moved": {
    meaning: "A move task moved messages out of a dead-letter queue.",
    fields: { queueId: queue, count },
  },
  "queue.expired": {
    meaning: "Messages were removed because their queue's retention was over.",
    fields: { queueId: queue, count },
  },
  "queue.replayed": {
    meaning: "Dead letters or quarantined messages were put back to work.",
    fields: { queueId: queue, count },
  },
  "queue.rejected": {
    meaning: "Dead letters or quarantined messages were ended by a person.",
    fields: { queueId: queue, count },
  },
  "worker.attempt": {
    meaning: "An attempt ended.",
    fields: {
      queue: "the queue's name",
      outcome: "its outcome",
      durationMs: "how long the handler took",
      messageId: "the message",
      attempt: "1 at the first receive",
      correlationId: "where it came from",
      tenant: "whose message it was, where the queue declares that",
    },
  },
  "worker.retryable_failure": {
    meaning: "An attempt failed and will be tried again.",
    fields: failedAttempt,
  },
  "worker.key_reused": {
    meaning:
      "A message came under a key that was processed before, with another body; it was acknowledged as a duplicate.",
    fields: { queue: "the queue's name", key: "the idempotency key" },
  },
  "tenant.stopped": {
    meaning: "A tenant stands still for a while: its messages failed one after another.",
    fields: { queue: "the queue's name", tenant: "the tenant", failures: "how many in a row" },
  },
  "tenant.resumed": {
    meaning: "A message of a tenant that had stood still has succeeded: it goes on at full speed.",
    fields: { queue: "the queue's name", tenant: "the tenant" },
  },
  "worker.eased": {
    meaning: "A worker begins to take less than its concurrency: the database is slower than it declares.",
    fields: { queue: "the queue's name", ...easeFields },
  },
  "worker.recovered": {
    meaning: "A worker that had eased takes all of its concurrency again.",
    fields: { queue: "the queue's name", ...easeFields },
  },
  "worker.poison_message": {
    meaning: "A message can never succeed as it is.",
    fields: failedAttempt,
  },
});

const perEvent = (event: string, signal = `queue.${event}`) => ({
  signal,
  fields: { queue: "queueId" },
  fixed: { event },
  amount: "count",
});

/** The queue room's metrics; in parentheses the names that people know them by elsewhere. */
export const queueMetrics = metrics({
  tuntas_queue_messages_total: {
    kind: "counter",
    meaning: "Messages by what happened to them.",
    labels: ["queue", "event"],
    from: [
      "sent",
      "received",
      "handed_over",
      "dead",
      "deleted",
      "purged",
      "promoted",
      "released",
      "moved",
      "expired",
      "replayed",
      "rejected",
    ].map((event) => perEvent(event)),
    kept: true,
  },
  tuntas_queue_depth: {
    kind: "gauge",
    meaning:
      "Messages by state, counted to 100,000; SQS's ApproximateNumberOfMessagesVisible (`visible_messages`) is the state ready.",
    labels: ["queue", "state"],
    kept: true,
  },
  tuntas_queue_oldest_age_seconds: {
    kind: "gauge",
    meaning:
      "Age of the message at the front, 0 where none is ready (`approximate_age_of_oldest_message`, `queue_delay_risk`).",
    labels: ["queue"],
    kept: true,
  },
  tuntas_queue_dead_letters: {
    kind: "gauge",
    meaning: "Messages of this queue that wait for a person: in its dead-letter queue, or in quarantine.",
    labels: ["queue"],
    kept: true,
  },
  tuntas_queue_paused: {
    kind: "gauge",
    meaning: "1 while the queue gives out nothing because somebody paused it.",
    labels: ["queue"],
    kept: true,
  },
  tuntas_worker_attempts_total: {
    kind: "counter",
    meaning: "Attempts by outcome: done, retry, conflict, rejected, poison, unknown, duplicate.",
    labels: ["queue", "outcome"],
    from: [{ signal: "worker.attempt" }],
    kept: true,
  },
  tuntas_worker_attempt_seconds: {
    kind: "histogram",
    meaning: "How long handlers took.",
    labels: ["queue"],
    from: [{ signal: "worker.attempt" }],
  },
  tuntas_worker_attempt_milliseconds_total: {
    kind: "counter",
    meaning: "What handlers took together.",
    labels: ["queue"],
    from: [{ signal: "worker.attempt", amount: "durationMs" }],
    kept: true,
  },
  tuntas_worker_retryable_failures_total: {
    kind: "counter",
    meaning: "Attempts that failed and will be tried again, by code (`worker.retryable_failure`).",
    labels: ["queue", "code"],
    from: [{ signal: "worker.retryable_failure" }],
    kept: true,
  },
  tuntas_worker_poison_messages_total: {
    kind: "counter",
    meaning: "Messages that can never succeed as they are, by code (`worker.poison_message`).",
    labels: ["queue", "code"],
    from: [{ signal: "worker.poison_message" }],
    kept: true,
  },
  tuntas_tenant_ready: {
    kind: "gauge",
    meaning: "Ready messages of the ten tenants of a queue that have most, where its workers limit tenants.",
    labels: ["queue", "tenant"],
  },
  tuntas_tenant_in_flight: {
    kind: "gauge",
    meaning: "Messages in flight of these tenants.",
    labels: ["queue", "tenant"],
  },
  tuntas_tenant_oldest_age_seconds: {
    kind: "gauge",
    meaning: "Age of the oldest ready message of these tenants, 0 where none is.",
    labels: ["queue", "tenant"],
  },
  tuntas_tenant_breakers_total: {
    kind: "counter",
    meaning: "Circuit breakers of tenants that stopped or resumed; the signals say whose.",
    labels: ["queue", "event"],
    from: ["stopped", "resumed"].map((event) => ({ signal: `tenant.${event}`, fixed: { event } })),
    kept: true,
  },
  tuntas_worker_idempotency_conflicts_total: {
    kind: "counter",
    meaning: "Messages that came under a key that was processed before, with another body.",
    labels: ["queue"],
    from: [{ signal: "worker.key_reused" }],
    kept: true,
  },
  tuntas_worker_processes: {
    kind: "gauge",
    meaning:
      "Processes that work on the queue now (`running_workers`, `running_worker_tasks`, `RunningTaskCount`).",
    labels: ["queue"],
    kept: true,
  },
  tuntas_worker_places: {
    kind: "gauge",
    meaning: "Handlers that may run at once in all processes together.",
    labels: ["queue"],
    kept: true,
  },
  tuntas_worker_backlog_per_worker: {
    kind: "gauge",
    meaning:
      "Ready messages for each process that works on the queue (`backlog_per_worker`, `backlog_per_task`).",
    labels: ["queue"],
    kept: true,
  },
});
