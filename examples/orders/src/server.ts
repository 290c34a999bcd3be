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
const block = z.object({ reason: text.min(1) });

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body ?? {});
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  throw httpErrors.error(
    "TUNTAS_HTTP_INVALID",
    issues.map((issue) => `${issue.path}: ${issue.message}`).join("; "),
    { details: { issues } },
  );
}

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

  server.post("/orders", { config: { idempotency: "optional" } }, async (request, reply) => {
    const { customerId } = parse(newOrder, request.body);
    const order = { orderId: `ord_${randomUUID()}`, customerId, correlationId: request.correlationId };
    // With a key the order belongs to the transaction that records the answer; without one it shares its commit.
    if (request.headers["idempotency-key"] === undefined) await acceptTogether(order);
    else await accept(request.tx, [order]);
    return reply.code(202).send({ orderId: order.orderId, status: "ACCEPTED" });
  });

  server.get<{ Params: { orderId: string } }>("/orders/:orderId", async (request) => {
    const { orderId } = request.params;
    const order = orderId.includes("\0") ? undefined : await findOrder(platform.database, orderId);
    if (!order) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no order ${orderId}`);
    return { orderId, customerId: order.customerId, status: await statusOf(platform, order) };
  });

  server.put<{ Params: { customerId: string } }>(
    "/blocked-customers/:customerId",
    { config: { audit: "customer.block" } },
    async (request, reply) => {
      await blockCustomer(request.tx, request.params.customerId, parse(block, request.body).reason);
      return reply.code(204).send();
    },
  );

  return server;
}
