// An order is accepted at once and worked on later. What is accepted survives everything; what is worked on is done once.
import { app, queue, worker } from "tuntas";
import { z } from "zod";

export const newOrder = z.object({ customerId: z.string().min(1) });

export const orderIntake = queue("order-intake", {
  message: z.object({ orderId: z.string() }),
  visibilityTimeout: "60s",
  deadLetter: {
    after: 5,
    retention: "14d",
    owner: "order-intake-team",
    runbook: "runbooks/order-intake.md",
  },
});

export const orderIntakeWorker = worker(orderIntake, {
  idempotencyKey: ({ orderId }) => orderId,
  timeout: "20s",
  async handle({ orderId }, { tx, log }) {
    log.info({ event: "order.begun", orderId }, "an order is worked on");
    await tx.query("update order_intake.accepted set status = 'COMPLETED' where order_id = $1", [orderId]);
  },
});

export default app(
  { orderIntake, orderIntakeWorker },
  { migrations: { schema: "order_intake", folder: new URL("../migrations/order-intake/", import.meta.url) } },
);
