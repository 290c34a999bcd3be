// What happens to orders, in its order, kept for all who want to know; and one who reads: what customers see.
import { app, consumer, stream } from "tuntas";
import { z } from "zod";

export const orderHistory = stream("order-history", {
  record: z.object({ orderId: z.string(), event: z.enum(["placed", "paid", "shipped"]) }),
  partitions: 4,
  key: "order id: what happens to an order is seen in its order",
  retention: "7d",
  owner: "order-history-team",
  runbook: "runbooks/order-history.md",
});

export const orderHistoryStatus = consumer(orderHistory, {
  name: "status",
  from: "start", // a new consumer begins with the oldest record that is kept; end: with what comes
  batch: 100, // records that share a commit, at most
  retry: { attempts: 5 },
  onBadRecord: "stop", // the next event means nothing without the one before; or park, and go on
  timeout: "20s",
  lagWithin: "1m", // else its owner is told
  // The checkpoint moves in the commit of what is written here: after a kill each record is handled again, or not at all.
  async handle({ value: { orderId, event } }, { tx, log }) {
    log.info({ event: "record.begun", orderId, what: event }, "a record is read");
    await tx.query(
      `insert into order_history.status (order_id, status) values ($1, $2)
       on conflict (order_id) do update set status = excluded.status, events = status.events + 1`,
      [orderId, event],
    );
  },
});

export default app(
  { orderHistory, orderHistoryStatus },
  {
    migrations: { schema: "order_history", folder: new URL("../migrations/order-history/", import.meta.url) },
  },
);
