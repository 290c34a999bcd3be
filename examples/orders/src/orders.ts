// The application's work: its queue and its worker. API and worker import the same two values.
import { alarm, app, queue, worker } from "tuntas";
import { z } from "zod";
import { queueConfig } from "./config.ts";
import { endOrder } from "./store.ts";

/** Text that a database can hold. */
export const text = z
  .string()
  .refine(
    (value) => value.isWellFormed() && !value.includes("\0"),
    "expected text without NUL or lone surrogates",
  );

export const orderWork = queue(queueConfig.name, {
  message: z.object({ orderId: text.min(1), customerId: text.min(1), correlationId: text }),
  visibilityTimeout: queueConfig.visibilityTimeout,
  retention: "4d",
  deadLetter: {
    after: queueConfig.receivesMax,
    owner: "orders-team",
    runbook: "runbooks/order-work-dlq.md",
    retention: "14d",
  },
});

export const orderWorker = worker(orderWork, {
  idempotencyKey: (order) => order.orderId,
  timeout: "20s",
  concurrency: queueConfig.messagesMax,
  backoff: { base: "200ms", max: "30s" },
  handle(order, context) {
    context.log.info({ event: "order.processing", orderId: order.orderId }, "processing the order");
    endOrder(context, order); // commits together with the acknowledgement
  },
});

/** Whoever ordered waits for it, so a minute is long. */
export const orderWorkOld = alarm("order-work-old", {
  metric: { name: "tuntas_queue_oldest_age_seconds", labels: { queue: queueConfig.name } },
  when: { above: 60 },
  of: [2, 3],
  missing: "ignore",
  owner: "orders-team",
  runbook: "runbooks/order-work-backlog.md",
  notify: [],
});

export default app(
  { orderWork, orderWorker, orderWorkOld },
  { migrations: { schema: "orders", folder: new URL("../migrations/", import.meta.url) } },
);
