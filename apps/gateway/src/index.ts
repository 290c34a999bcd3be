// The door of the gateway: AWS's wire protocols over HTTP, thin over the rooms' clients.
import { refuseUnknown, type NamesOf, type Platform } from "tuntas";
import { isLoopback } from "tuntas/access";
import { makePrometheus } from "tuntas/measure";
import { defaultScope } from "tuntas/queue";
import { makeAuthentication } from "./authentication.ts";
import { makeDispatch } from "./dispatch.ts";
import type { Listening, Pages } from "./server.ts";
import { listen } from "./server.ts";
import { makeScheduler } from "./scheduler/operations.ts";
import { makeSfn } from "./sfn/operations.ts";
import { makeSqs } from "./sqs/operations.ts";

export interface GatewayOptions {
  readonly platform: Pick<
    Platform,
    "queues" | "workflows" | "schedules" | "log" | "database" | "tally" | "access"
  >;
  /** 4566 by default; 0 takes a free one. */
  readonly port?: number;
  /**
   * 127.0.0.1 by default. Elsewhere each request must be signed with a key, and the gateway does not start before there
   * is a key or a user.
   */
  readonly host?: string;
  /** Pages on the same port, asked first. */
  readonly pages?: Pages;
}

const optionNames: NamesOf<GatewayOptions> = { platform: true, port: true, host: true, pages: true };

export type Gateway = Listening;
export type { Pages };

/** Errors: TUNTAS_PORT_TAKEN, TUNTAS_PORT_REFUSED, TUNTAS_ACCESS_OPEN. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  refuseUnknown("startGateway", options, optionNames);
  const { platform, port = 4566, host = "127.0.0.1", pages } = options;
  const { access, log } = platform;
  await access.checkHost(host, "TUNTAS_HOST");
  const authentication = makeAuthentication(access, host);
  const services = [makeSqs(platform), makeSfn(platform), makeScheduler(platform)];
  const probe = () => platform.queues.catalog.list(defaultScope, { prefix: "", after: "", limit: 1 });
  const prometheus = makePrometheus(platform);
  const listening = await listen({
    port,
    host,
    pages,
    dispatch: makeDispatch(services, { log, authentication, onlyHere: isLoopback(host) }),
    isReady: () =>
      probe().then(
        () => true,
        () => false,
      ),
    mayReadMetrics: async (bearer) => isLoopback(host) || (await access.keys.ofBearer(bearer)) !== undefined,
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
