// A front: one port before all instances of a service. It gives each connection to the healthy instance that has the
// fewest, knows within a moment which are about to stop, and tries the next where one refuses.
import { connect, createServer, type Socket } from "node:net";
import { startPeriodic } from "../engine/periodic.ts";
import type { Waker } from "../engine/wake.ts";
import { serviceKey, type Services } from "./client.ts";
import type { Endpoint } from "./contract.ts";
import { serviceErrors } from "./contract.ts";

export interface FrontOptions {
  readonly services: Pick<Services, "endpoints">;
  readonly waker: Waker;
  readonly service: string;
  readonly port: number;
  readonly host?: string;
}

export interface Front {
  readonly port: number;
  /** Takes no more connections, and waits for those that there are. */
  close(): Promise<void>;
}

const lookMs = 250;
const patienceMs = 10_000;
const againMs = 50;

export async function openFront(options: FrontOptions): Promise<Front> {
  const { services, waker, service, host = "127.0.0.1" } = options;
  const connections = new Map<string, number>();
  let endpoints: readonly Endpoint[] = await services.endpoints(service);

  const periodic = startPeriodic({
    waker,
    key: serviceKey,
    async round() {
      endpoints = await services.endpoints(service);
      return lookMs;
    },
    onError: () => undefined, // The last answer is the best there is.
    leastMs: 20,
  });

  const load = ({ instanceId }: Endpoint): number => connections.get(instanceId) ?? 0;
  const count = (id: string, by: number) => connections.set(id, (connections.get(id) ?? 0) + by);

  /** Connected, or undefined where it refuses. */
  const reach = ({ port }: Endpoint): Promise<Socket | undefined> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      socket.once("connect", () => resolve(socket)).once("error", () => resolve(undefined));
    });

  /** The first that takes it, those with the fewest connections first; waits for one where there is none. */
  async function choose(): Promise<readonly [Endpoint, Socket] | undefined> {
    const untilMs = performance.now() + patienceMs;
    while (performance.now() < untilMs) {
      for (const endpoint of endpoints.toSorted((a, b) => load(a) - load(b))) {
        const socket = await reach(endpoint);
        if (socket) return [endpoint, socket];
      }
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
    return undefined;
  }

  async function pass(client: Socket): Promise<void> {
    client.on("error", () => client.destroy());
    const chosen = await choose();
    if (!chosen) return void client.destroy();
    const [{ instanceId }, server] = chosen;
    count(instanceId, 1);
    server.once("close", () => {
      count(instanceId, -1);
      client.destroy();
    });
    server.on("error", () => client.destroy());
    client.once("close", () => server.destroy());
    client.pipe(server);
    server.pipe(client);
  }

  const listener = createServer({ allowHalfOpen: true }, (client) => void pass(client));
  await new Promise<void>((resolve, reject) => {
    listener.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === "EADDRINUSE"
          ? serviceErrors.error("TUNTAS_SERVICE_PORT_TAKEN", `${host}:${options.port} is taken`, { cause })
          : cause,
      ),
    );
    listener.listen(options.port, host, resolve);
  });

  return {
    port: (listener.address() as { port: number }).port,
    async close() {
      await new Promise((resolve) => listener.close(resolve));
      await periodic.close();
    },
  };
}
