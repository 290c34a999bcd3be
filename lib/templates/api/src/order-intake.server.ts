// The HTTP side: accept a command quickly and durably, and tell what became of it.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import type { z } from "zod";
import { newOrder, orderIntake } from "./order-intake.ts";

export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const server = Fastify({ return503OnClosing: false });
  await server.register(tuntasHttp, { platform: running.platform, running }); // problems, keys, health, overload

  // One commit has the order, its message and the answer for this Idempotency-Key: the message is the outbox.
  server.post<{ Body: z.infer<typeof newOrder> }>(
    "/orders",
    { config: { body: newOrder, summary: "Accept an order" } },
    async ({ body, tx, correlationId }, reply) => {
      const orderId = randomUUID();
      await tx.query("insert into order_intake.accepted (order_id, customer_id) values ($1, $2)", [
        orderId,
        body.customerId,
      ]);
      await orderIntake.send({ orderId }, { tx, correlationId });
      return reply.code(202).send({ orderId, status: "ACCEPTED" });
    },
  );

  server.get<{ Params: { orderId: string } }>("/orders/:orderId", async ({ params, tx }) => {
    const { rows } = await tx.query("select status from order_intake.accepted where order_id = $1", [
      params.orderId,
    ]);
    if (!rows[0]) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no order ${params.orderId}`);
    return { orderId: params.orderId, status: rows[0].status };
  });
  return server;
}
