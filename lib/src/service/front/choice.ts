// Which instance gets the next connection: the healthy one that has the fewest, and the next where one refuses.
import { connect, type Socket } from "node:net";
import { startPeriodic } from "../../engine/periodic.ts";
import type { Waker } from "../../engine/wake.ts";
import { serviceKey, type Services } from "../client.ts";
import type { Endpoint } from "../contract.ts";

export interface Choice {
  /** A connection to an instance, which has taken it; undefined where none does within ten seconds. */
  connection(): Promise<Socket | undefined>;
  close(): Promise<void>;
}

const lookMs = 250;
const leastMs = 20;
const patienceMs = 10_000;
const againMs = 50;

const reach = ({ port }: Endpoint): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.once("connect", () => resolve(socket)).once("error", () => resolve(undefined));
  });

/** Knows by a notification, else within a quarter of a second, which instances are healthy and stay. */
export function makeChoice(services: Pick<Services, "endpoints">, waker: Waker, service: string): Choice {
  const connections = new Map<string, number>();
  let endpoints: readonly Endpoint[] = [];
  let closed = false;

  const periodic = startPeriodic({
    waker,
    key: serviceKey,
    async round() {
      endpoints = await services.endpoints(service);
      return lookMs;
    },
    onError: () => undefined, // The last answer is the best there is.
    leastMs,
  });

  const load = ({ instanceId }: Endpoint): number => connections.get(instanceId) ?? 0;

  function counted({ instanceId }: Endpoint, socket: Socket): Socket {
    const count = (by: number) => connections.set(instanceId, (connections.get(instanceId) ?? 0) + by);
    count(1);
    return socket.once("close", () => count(-1));
  }

  return {
    async connection() {
      const untilMs = performance.now() + patienceMs;
      while (performance.now() < untilMs && !closed) {
        for (const endpoint of endpoints.toSorted((a, b) => load(a) - load(b))) {
          const socket = await reach(endpoint);
          if (socket) return counted(endpoint, socket);
        }
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
      return undefined;
    },
    close() {
      closed = true;
      return periodic.close();
    },
  };
}
