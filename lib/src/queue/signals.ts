import { signals } from "../engine/signals.ts";

const queue = "the queue's id";
const count = "how many messages";

/** What the queue room announces, each after its commit; many messages of one commit are one signal. */
export const queueSignals = signals({
  "queue.sent": { meaning: "Messages were made durable.", fields: { queueId: queue, count } },
  "queue.received": {
    meaning: "Messages were claimed by a worker or over the wire.",
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
    meaning: "What a dead process held is ready again.",
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
      correlationId: "where it came from",
    },
  },
  "worker.retryable_failure": {
    meaning: "An attempt failed and will be tried again.",
    fields: { queue: "the queue's name", code: "the error's code" },
  },
  "worker.key_reused": {
    meaning:
      "A message came under a key that was processed before, with another body; it was acknowledged as a duplicate.",
    fields: { queue: "the queue's name", key: "the idempotency key" },
  },
  "worker.poison_message": {
    meaning: "A message can never succeed as it is.",
    fields: { queue: "the queue's name", code: "the error's code" },
  },
});
