// The door of the gateway: AWS's wire protocols over HTTP, thin over the rooms' clients.
import type { Platform } from "tuntas";
import { defaultScope } from "tuntas/queue";
import { makeDispatch } from "./dispatch.ts";
import type { Listening, Pages } from "./server.ts";
import { listen } from "./server.ts";
import { makeSfn } from "./sfn/operations.ts";
import { makeSqs } from "./sqs/operations.ts";

export interface GatewayOptions {
  readonly platform: Pick<Platform, "queues" | "workflows" | "log">;
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
export function startGateway({
  platform,
  port = 4566,
  host = "127.0.0.1",
  pages,
}: GatewayOptions): Promise<Gateway> {
  const services = [makeSqs(platform), makeSfn(platform)];
  const probe = () => platform.queues.catalog.list(defaultScope, { prefix: "", after: "", limit: 1 });
  return listen({
    port,
    host,
    pages,
    dispatch: makeDispatch(services, platform),
    isReady: () =>
      probe().then(
        () => true,
        () => false,
      ),
  });
}

export { gatewayErrors } from "./contract.ts";
