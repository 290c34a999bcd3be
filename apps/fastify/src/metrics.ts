// /metrics: what the library measures, and what only an HTTP service knows.
import type { FastifyInstance } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Platform, RunningApp } from "tuntas";
import { makePrometheus, secondsBuckets } from "tuntas/measure";
import type { Traffic } from "./traffic.ts";

export interface ServeOptions {
  readonly traffic: Traffic;
  readonly running: Pick<RunningApp, "active"> | undefined;
}

export interface Meter {
  request(of: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
    /** Whether the caller sent a trace along. */
    readonly traced: boolean;
  }): void;
  shed(reason: string): void;
  /** A tenant made more requests than it may. */
  refused(): void;
  serve(server: FastifyInstance, options: ServeOptions): void;
}

function gaugeWorkers(registry: Registry, running: Pick<RunningApp, "active">): void {
  const room = new Gauge({
    name: "tuntas_worker_room",
    help: "Handlers that may run at once in this process now: fewer than the worker's concurrency while the database is slower than it declares.",
    labelNames: ["queue"],
    registers: [registry],
  });
  const held = new Gauge({
    name: "tuntas_worker_held",
    help: "Messages that a worker of this process holds: running in a handler, or buffered for one.",
    labelNames: ["queue", "state"],
    registers: [registry],
    collect() {
      for (const { queue, running: active, buffered, places } of running.active()) {
        held.set({ queue, state: "running" }, active);
        held.set({ queue, state: "buffered" }, buffered);
        room.set({ queue }, places);
      }
    },
  });
}

function gaugeProcess(registry: Registry, traffic: Traffic): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: (): void => made.set(read()),
    });
  };
  gauge("tuntas_http_in_flight", "Requests in this process now.", traffic.inFlight);
  gauge(
    "tuntas_event_loop_delay_seconds",
    "How late the event loop is.",
    () => traffic.eventLoopDelayMs() / 1000,
  );
}

export function makeMeter(platform: Pick<Platform, "database" | "tally">): Meter {
  const prometheus = makePrometheus(platform);
  const { registry } = prometheus;
  const registers = [registry];
  const seconds = new Histogram({
    name: "tuntas_http_request_seconds",
    help: "Requests by route and status, and how long they took.",
    labelNames: ["method", "route", "status"],
    buckets: secondsBuckets,
    registers,
  });
  const shed = new Counter({
    name: "tuntas_http_shed_total",
    help: "Requests refused for overload.",
    labelNames: ["reason"],
    registers,
  });
  // Not by tenant: their number has no bound. The log and the usage say whose.
  const refused = new Counter({
    name: "tuntas_http_tenant_refused_total",
    help: "Requests refused, because their tenant makes more than it may.",
    registers,
  });
  const traces = new Counter({
    name: "tuntas_http_traces_total",
    help: "Requests by whether they came with a trace (traceparent).",
    labelNames: ["traced"],
    registers,
  });
  return {
    request({ method, route, status, durationMs, traced }) {
      seconds.observe({ method, route, status }, durationMs / 1000);
      traces.inc({ traced: traced ? "yes" : "no" });
    },
    refused: () => refused.inc(),
    shed: (reason) => shed.inc({ reason }),
    serve(server, { traffic, running }) {
      if (running) gaugeWorkers(registry, running);
      gaugeProcess(registry, traffic);
      server.addHook("onClose", (_, done) => {
        prometheus.close();
        done();
      });
      server.get("/metrics", { config: { shed: false }, logLevel: "silent" }, async (_, reply) =>
        reply.type(prometheus.contentType).send(await prometheus.render()),
      );
    },
  };
}
