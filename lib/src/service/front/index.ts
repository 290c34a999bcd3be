// A front: one address before all instances of a service, the same through every deployment.
import type { AddressInfo } from "node:net";
import type { Waker } from "../../engine/wake.ts";
import type { Services } from "../client.ts";
import { serviceErrors } from "../contract.ts";
import { makeChoice } from "./choice.ts";
import { makeHttpFront } from "./http.ts";
import { makeTcpFront } from "./tcp.ts";

export interface FrontOptions {
  readonly services: Pick<Services, "endpoints" | "describe">;
  readonly waker: Waker;
  readonly service: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly host?: string;
  /** `http` passes on requests, and upgrades to WebSocket; `tcp` connections. By default `tcp` for gRPC alone. */
  readonly protocol?: "http" | "tcp" | undefined;
}

export interface Front {
  readonly port: number;
  /** Takes nothing new, and waits for what is under way. */
  close(): Promise<void>;
}

/** Errors: TUNTAS_SERVICE_MISSING, TUNTAS_SERVICE_PORT_TAKEN. */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { services, waker, service, port, host = "127.0.0.1" } = options;
  const { kind } = await services.describe(service);
  const { protocol = kind === "grpc" ? "tcp" : "http" } = options;
  const choice = makeChoice(services, waker, service);
  const server = protocol === "http" ? makeHttpFront(choice) : makeTcpFront(choice);
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  } catch (cause) {
    await choice.close();
    if ((cause as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cause;
    throw serviceErrors.error("TUNTAS_SERVICE_PORT_TAKEN", `${host}:${port} is taken`, { cause });
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await choice.close();
    },
  };
}
