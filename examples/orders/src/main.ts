// API and worker in one process, beside other applications on a platform that is open already.
import { start, type Platform } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { listenOptions } from "./config.ts";
import orders from "./orders.ts";
import { makeServer } from "./server.ts";

export interface RunningOrders {
  readonly port: number;
  /** What it runs, for a person: queue and worker names. */
  readonly workloads: readonly string[];
  stop(): Promise<void>;
}

/** Starts both on a platform that the caller opened and closes. Errors: TUNTAS_HTTP_PORT_TAKEN. */
export async function startOrders(platform: Platform): Promise<RunningOrders> {
  const running = await start(orders, { platform });
  const api = await listenAt(await makeServer(running), listenOptions());
  return {
    port: api.port,
    workloads: Object.entries(orders.parts).map(
      ([name, part]) => `${part.kind} ${part.kind === "queue" ? part.name : name}`,
    ),
    async stop() {
      await api.drain?.();
      await running.stop();
      await api.close();
    },
  };
}
