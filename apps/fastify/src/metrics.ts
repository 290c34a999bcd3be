// /metrics in Prometheus' text format. Counters come from the signals that the rooms publish after their commits;
// depths come from the database, at most once in two seconds however often somebody asks.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Platform, RunningApp } from "tuntas";
import { readStatus } from "tuntas/outbox";
import type { Traffic } from "./traffic.ts";

export interface MetricsOptions {
  readonly platform: Platform;
  readonly traffic: Traffic;
  readonly running: Pick<RunningApp, "active"> | undefined;
}

export interface Meter {
  request(of: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }): void;
  shed(reason: string): void;
  serve(server: FastifyInstance, options: MetricsOptions): void;
}

const secondsBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const depthsMaxAgeMs = 2000;
const depthsTimeoutMs = 1000;

interface AttemptSignal {
  readonly queue: string;
  readonly outcome: string;
  readonly durationMs: number;
}

function countSignals(registry: Registry, server: FastifyInstance): void {
  const registers = [registry];
  const attempts = new Counter({
    name: "tuntas_worker_attempts_total",
    help: "Attempts by outcome.",
    labelNames: ["queue", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "tuntas_worker_attempt_seconds",
    help: "How long handlers took.",
    labelNames: ["queue"],
    buckets: secondsBuckets,
    registers,
  });
  const moved = new Counter({
    name: "tuntas_queue_messages_total",
    help: "Messages that this process sent, received or saw die.",
    labelNames: ["queue_id", "event"],
    registers,
  });

  const onAttempt = (message: unknown) => {
    const { queue, outcome, durationMs } = message as AttemptSignal;
    attempts.inc({ queue, outcome });
    seconds.observe({ queue }, durationMs / 1000);
  };
  const counting = ["sent", "received", "dead"].map((event) => ({
    channel: `tuntas.queue.${event}`,
    listener: (message: unknown) => {
      const { queueId, count } = message as { queueId: number; count: number };
      moved.inc({ queue_id: queueId, event }, count);
    },
  }));
  const all = [{ channel: "tuntas.worker.attempt", listener: onAttempt }, ...counting];
  for (const { channel, listener } of all) subscribe(channel, listener);
  server.addHook("onClose", (_, done) => {
    for (const { channel, listener } of all) unsubscribe(channel, listener);
    done();
  });
}

function gaugeWorkers(registry: Registry, running: Pick<RunningApp, "active">): void {
  const held = new Gauge({
    name: "tuntas_worker_held",
    help: "Messages that a worker of this process holds: running in a handler, or buffered for one.",
    labelNames: ["queue", "state"],
    registers: [registry],
    collect() {
      for (const { queue, running: active, buffered } of running.active()) {
        held.set({ queue, state: "running" }, active);
        held.set({ queue, state: "buffered" }, buffered);
      }
    },
  });
}

/** Answers what reads the outbox's figures. */
function gaugeOutbox(registry: Registry, { database }: Platform): () => Promise<void> {
  const registers = [registry];
  const labelNames = ["kind", "name"];
  const rows = new Gauge({
    name: "tuntas_outbox_rows",
    help: "Outbox rows by target and state.",
    labelNames: [...labelNames, "state"],
    registers,
  });
  const age = new Gauge({
    name: "tuntas_outbox_oldest_age_seconds",
    help: "How long the oldest waiting row of a target has waited.",
    labelNames,
    registers,
  });
  return async () => {
    const { targets } = await readStatus(database);
    rows.reset();
    age.reset();
    for (const { target, waiting, parked, oldestAgeMs } of targets) {
      for (const [state, count] of Object.entries({ waiting, parked })) rows.set({ ...target, state }, count);
      age.set({ ...target }, (oldestAgeMs ?? 0) / 1000);
    }
  };
}

/** Answers what brings the gauges up to date, in bounded time: where the database is slow, they keep what it said last. */
function gaugeStores(registry: Registry, platform: Platform): () => Promise<void> {
  const { queues } = platform;
  const askOutbox = gaugeOutbox(registry, platform);
  const registers = [registry];
  const depth = new Gauge({
    name: "tuntas_queue_depth",
    help: "Messages by state, counted to 100,000.",
    labelNames: ["queue", "state"],
    registers,
  });
  const age = new Gauge({
    name: "tuntas_queue_oldest_age_seconds",
    help: "Age of the first message that is ready.",
    labelNames: ["queue"],
    registers,
  });
  let askedAtMs = -Infinity;
  let pending: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const depths = await queues.observer.depths();
    depth.reset();
    age.reset();
    for (const { name, ready, inFlight, delayed, oldestAgeSeconds } of depths) {
      for (const [state, count] of Object.entries({ ready, in_flight: inFlight, delayed }))
        depth.set({ queue: name, state }, count);
      age.set({ queue: name }, oldestAgeSeconds);
    }
    await askOutbox();
    askedAtMs = performance.now();
  }

  return async () => {
    if (performance.now() - askedAtMs < depthsMaxAgeMs) return;
    pending ??= ask()
      .catch(() => undefined)
      .finally(() => (pending = undefined));
    let timer: NodeJS.Timeout;
    const tooLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, depthsTimeoutMs)));
    await Promise.race([pending, tooLate]).finally(() => clearTimeout(timer));
  };
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

export function makeMeter(): Meter {
  const registry = new Registry();
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
  return {
    request: ({ method, route, status, durationMs }) =>
      seconds.observe({ method, route, status }, durationMs / 1000),
    shed: (reason) => shed.inc({ reason }),
    serve(server, { platform, traffic, running }) {
      countSignals(registry, server);
      if (running) gaugeWorkers(registry, running);
      const refresh = gaugeStores(registry, platform);
      gaugeProcess(registry, traffic);
      server.get("/metrics", { config: { shed: false }, logLevel: "silent" }, async (_, reply) => {
        await refresh();
        return reply.type(registry.contentType).send(await registry.metrics());
      });
    },
  };
}
