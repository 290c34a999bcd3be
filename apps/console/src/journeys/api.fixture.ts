// The shop's API: what people call from the console to try it.
import Fastify from "fastify";
import type { RunningApp } from "tuntas";
import { listenAt, tuntasHttp } from "tuntas/fastify";
import { z } from "zod";

export interface ShopApi {
  readonly url: string;
  close(): Promise<void>;
}

const newOrder = z.object({ orderId: z.string().min(1), express: z.boolean().optional() });

/** Orders are accepted once for a key, and told of. */
export async function openApi(
  { platform }: RunningApp,
  send: (order: { orderId: string }) => unknown,
): Promise<ShopApi> {
  const server = Fastify();
  await server.register(tuntasHttp, { platform, linger: "1ms" });
  const takes = { body: newOrder, summary: "Accept an order" };
  server.post<{ Body: z.infer<typeof newOrder> }>("/orders", { config: takes }, async ({ body }, reply) => {
    await send({ orderId: body.orderId });
    return reply.code(202).send({ orderId: body.orderId, status: "ACCEPTED" });
  });
  server.get<{ Params: { orderId: string } }>(
    "/orders/:orderId",
    { config: { summary: "What became of an order" } },
    ({ params }) => ({ orderId: params.orderId, status: "ACCEPTED" }),
  );
  const { port } = await listenAt(server, { port: 0, host: "127.0.0.1", variable: "PORT" });
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
