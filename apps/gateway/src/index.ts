// The door of the gateway: AWS's wire protocols over HTTP, thin over the rooms' clients.
import type { Platform } from "tuntas";
import { makePrometheus } from "tuntas/measure";
import { defaultScope } from "tuntas/queue";
import { makeDispatch } from "./dispatch.ts";
import type { Listening, Pages } from "./server.ts";
import { listen } from "./server.ts";
import { makeSfn } from "./sfn/operations.ts";
import { makeSqs } from "./sqs/operations.ts";

export interface GatewayOptions {
  readonly platform: Pick<Platform, "queues" | "workflows" | "log" | "database" | "tally">;
  /** 4566 by default; 0 takes a free one. */
  readonly port?: number;
  /** 127.0.0.1 by default: the gateway does not check signatures. */
  readonly host?: string;
  /** Pages on the same port, asked first. */
  readonly pages?: Pages;
}

export type Gateway = Listening;
export type { Pages };

/** Errors: TUNTAS_PORT_TAKEN, TUNTAS_PORT_REFUSED. */
export async function startGateway({
  platform,
  port = 4566,
  host = "127.0.0.1",
  pages,
}: GatewayOptions): Promise<Gateway> {
  const services = [makeSqs(platform), makeSfn(platform)];
  const probe = () => platform.queues.catalog.list(defaultScope, { prefix: "", after: "", limit: 1 });
  const prometheus = makePrometheus(platform);
  const listening = await listen({
    port,
    host,
    pages,
    dispatch: makeDispatch(services, platform),
    isReady: () =>
      probe().then(
        () => true,
        () => false,
      ),
    metrics: async () => ({ type: prometheus.contentType, body: await prometheus.render() }),
  }).catch((cause: unknown) => {
    prometheus.close();
    throw cause;
  });
  return {
    port: listening.port,
    async close() {
      await listening.close();
      prometheus.close();
    },
  };
}

export { gatewayErrors } from "./contract.ts";
