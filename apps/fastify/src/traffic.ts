// How many requests are in this process, whether it may take one more, and when the last one is answered.
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { FastifyInstance } from "fastify";
import type { Log } from "tuntas";
import { httpErrors } from "./contract.ts";

export interface Traffic {
  inFlight(): number;
  /** How late the event loop was in the last second, in ms. */
  eventLoopDelayMs(): number;
  isDraining(): boolean;
}

export interface TrafficOptions {
  readonly inFlightMax: number;
  readonly eventLoopDelayMaxMs: number;
  readonly lingerMs: number;
  readonly log: Log;
  /** Called for each request that was refused. */
  readonly onShed: (reason: Reason) => void;
}

type Reason = "in_flight" | "event_loop" | "draining";

const sampleMs = 500;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function watchEventLoop(server: FastifyInstance): () => number {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  let delayMs = 0;
  const timer = setInterval(() => {
    delayMs = Math.max(0, histogram.mean / 1e6 - 10) || 0;
    histogram.reset();
  }, sampleMs).unref();
  server.addHook("onClose", (_, done) => {
    clearInterval(timer);
    histogram.disable();
    done();
  });
  return () => delayMs;
}

/** Counts requests, refuses what is too much before it costs anything, and adds `server.drain`. */
export function directTraffic(server: FastifyInstance, options: TrafficOptions): Traffic {
  const { inFlightMax, eventLoopDelayMaxMs, lingerMs, log, onShed } = options;
  const eventLoopDelayMs = watchEventLoop(server);
  let inFlight = 0;
  let draining: Promise<void> | undefined;
  let refusing = false;
  let onIdle: (() => void) | undefined;

  function reasonToRefuse(): Reason | undefined {
    if (refusing) return "draining";
    if (inFlight >= inFlightMax) return "in_flight";
    return eventLoopDelayMs() > eventLoopDelayMaxMs ? "event_loop" : undefined;
  }

  function refusal(reason: Reason): Error {
    onShed(reason);
    const text = `${reason}: ${inFlight} requests are in flight, the event loop is ${Math.round(eventLoopDelayMs())} ms late`;
    return httpErrors.error("TUNTAS_HTTP_OVERLOADED", text);
  }

  function leave(): void {
    inFlight--;
    if (inFlight === 0) onIdle?.();
  }

  server.addHook("onRequest", (request, reply, next) => {
    if (draining) reply.header("connection", "close");
    if (request.routeOptions.config.shed === false) return next();
    const reason = reasonToRefuse();
    if (reason) return next(refusal(reason));
    inFlight++;
    reply.raw.once("close", leave);
    next();
  });

  async function drainOnce(): Promise<void> {
    await sleep(lingerMs);
    refusing = true;
    log.info({ event: "service.stopped_taking", inFlight }, "no new requests; draining");
    if (inFlight > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    log.info({ event: "service.drained" }, "every request is answered");
  }

  server.decorate("drain", () => (draining ??= drainOnce()));
  return { inFlight: () => inFlight, eventLoopDelayMs, isDraining: () => draining !== undefined };
}
