// The HTTP side: accept a command quickly and durably, and tell what became of it.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import { shareCommits, type Platform, type Queryable, type RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { defaultScope, type Whereabouts } from "tuntas/queue";
import { z } from "zod";
import { apiConfig } from "./config.ts";
import { orderWork, text } from "./orders.ts";
import { acceptOrders, blockCustomer, findOrder, type Order, type OrderRow } from "./store.ts";

type Status = OrderRow["status"] | "PROCESSING" | "FAILED";

const newOrder = z.object({ customerId: text.min(1) });
type NewOrder = z.infer<typeof newOrder>;
const block = z.object({ reason: text.min(1) });

function statusAt({ place, receives }: Whereabouts): Status {
  if (place === "dead" || place === "quarantined") return "FAILED";
  return place === "in_flight" || receives > 0 ? "PROCESSING" : "ACCEPTED";
}

/** Final once the row says so; until then it is where the order's message is. */
async function statusOf({ queues, database }: Platform, order: OrderRow): Promise<Status> {
  if (order.status !== "ACCEPTED") return order.status;
  const queue = await queues.catalog.get(defaultScope, orderWork.name);
  const where = await queues.observer.locate(queue, order.orderId);
  if (where) return statusAt(where);
  // Either it ended just now, or its message was removed without it (purged, too old) and nobody will end it.
  const again = await findOrder(database, order.orderId);
  return !again || again.status === "ACCEPTED" ? "FAILED" : again.status;
}

/**
 * One transaction: there is no order without its message, and no message without its order. The group is the order's
 * address in the queue.
 */
async function accept(tx: Queryable, orders: readonly Order[]) {
  const send = (order: Order) =>
    orderWork.send(order, { tx, correlationId: order.correlationId, groupId: order.orderId });
  const [, ...sent] = await Promise.all([acceptOrders(tx, orders), ...orders.map(send)]);
  return sent;
}

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const { platform } = running;
  const { inFlightMax, budget } = apiConfig();
  const server = Fastify({
    onProtoPoisoning: "remove",
    onConstructorPoisoning: "remove",
    return503OnClosing: false,
  });
  await server.register(tuntasHttp, { platform, running, inFlightMax, budget });

  const acceptTogether = shareCommits(platform.database, {
    run: (tx, orders: readonly Order[]) => accept(tx.client, orders),
  });

  const takesOrder = { idempotency: "optional", body: newOrder, summary: "Accept an order" } as const;
  server.post<{ Body: NewOrder }>("/orders", { config: takesOrder }, async (request, reply) => {
    const { customerId } = request.body;
    const order = { orderId: `ord_${randomUUID()}`, customerId, correlationId: request.correlationId };
    // With a key the order belongs to the transaction that records the answer; without one it shares its commit.
    if (request.headers["idempotency-key"] === undefined) await acceptTogether(order);
    else await accept(request.tx, [order]);
    return reply.code(202).send({ orderId: order.orderId, status: "ACCEPTED" });
  });

  const tells = { summary: "What became of an order" };
  server.get<{ Params: { orderId: string } }>("/orders/:orderId", { config: tells }, async (request) => {
    const { orderId } = request.params;
    const order = orderId.includes("\0") ? undefined : await findOrder(platform.database, orderId);
    if (!order) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no order ${orderId}`);
    return { orderId, customerId: order.customerId, status: await statusOf(platform, order) };
  });

  const blocks = { audit: "customer.block", body: block, summary: "Take no more orders of a customer" };
  server.put<{ Params: { customerId: string }; Body: z.infer<typeof block> }>(
    "/blocked-customers/:customerId",
    { config: blocks },
    async (request, reply) => {
      await blockCustomer(request.tx, request.params.customerId, request.body.reason);
      return reply.code(204).send();
    },
  );

  return server;
}
