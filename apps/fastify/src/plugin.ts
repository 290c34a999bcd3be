// The plugin: every piece in the order in which a request meets it.
import type { FastifyInstance, FastifyReply, FastifyRequest, RegisterOptions, RouteOptions } from "fastify";
import fastifyPlugin from "fastify-plugin";
import { refuseUnknown, toMs, type Log, type NamesOf } from "tuntas";
import { requestSignals, serviceName } from "tuntas/measure";
import { httpErrors, type TuntasHttpOptions } from "./contract.ts";
import { correlate } from "./correlation.ts";
import { checkBodies, serveDescription } from "./describe.ts";
import { serveHealth } from "./health.ts";
import { makeMeter, type Meter } from "./metrics.ts";
import { knowPersons, nameIn } from "./person.ts";
import { answerWithProblems } from "./problem.ts";
import { knowTenants } from "./tenant.ts";
import { directTraffic } from "./traffic.ts";
import { doWork } from "./work.ts";

/** One event for each request, when its answer is out or its caller has gone away (status 499). */
function report(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, meter }: { log: Log; meter: Meter },
): void {
  const seen = {
    method: request.method,
    route: request.routeOptions.url ?? "(none)",
    status: reply.raw.writableFinished ? reply.statusCode : 499,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
  };
  meter.request({ ...seen, traced: request.headers.traceparent !== undefined });
  const { status, route, durationMs } = seen;
  requestSignals.publish("http.request", {
    service: serviceName(),
    class: `${Math.floor(status / 100)}xx`,
    route,
    durationMs,
    tenant: request.tenant,
  });
  const { correlationId, tenant } = request;
  log.info({ event: "http.request", ...seen, correlationId, tenant }, "request");
}

/** Callers, proxies and load balancers give up at about this time, and ask again. */
const budgetMaxMs = 30_000;

/** Gives each route its budget. Errors: TUNTAS_HTTP_LONG_ROUTE where that is a job's and not a request's. */
function budgetOf(route: RouteOptions, usualMs: number): number {
  const budgetMs = route.handlerTimeout ?? usualMs;
  if (budgetMs <= budgetMaxMs || route.config?.longBecause !== undefined) return budgetMs;
  const text = `${String(route.method)} ${route.url}: expected a budget of at most ${budgetMaxMs / 1000} s, got ${budgetMs / 1000} s`;
  throw httpErrors.error("TUNTAS_HTTP_LONG_ROUTE", text);
}

const optionNames: NamesOf<TuntasHttpOptions & RegisterOptions> = {
  platform: true,
  running: true,
  budget: true,
  inFlightMax: true,
  eventLoopDelayMax: true,
  linger: true,
  readyTimeout: true,
  keyRetention: true,
  personIn: { name: true, roles: true, groups: true },
  callerOf: true,
  tenantOf: true,
  tenantRates: { perSecond: true, burst: true, only: true },
  statusOf: true,
  // Fastify's own.
  prefix: true,
  logLevel: true,
  logSerializers: true,
};

async function register(server: FastifyInstance, options: TuntasHttpOptions): Promise<void> {
  refuseUnknown("tuntasHttp", options, optionNames);
  const { platform, running, personIn } = options;
  const { log, database } = platform;
  const budgetMs = toMs(options.budget ?? "10s", "tuntasHttp: budget");
  const meter = makeMeter(platform);

  server.addHook("onRoute", (route) => {
    route.handlerTimeout = budgetOf(route, budgetMs);
  });
  answerWithProblems(server, log, options.statusOf);
  correlate(server, log);
  knowPersons(server, personIn);
  const traffic = directTraffic(server, {
    inFlightMax: options.inFlightMax ?? 512,
    eventLoopDelayMaxMs: toMs(options.eventLoopDelayMax ?? "1s", "tuntasHttp: eventLoopDelayMax"),
    lingerMs: toMs(options.linger ?? "250ms", "tuntasHttp: linger"),
    log,
    onShed: meter.shed,
  });
  server.addHook("onRequest", (request, reply, next) => {
    if (request.routeOptions.config.shed !== false)
      reply.raw.once("close", () => report(request, reply, { log, meter }));
    next();
  });
  const { tenantOf, tenantRates } = options;
  knowTenants(server, {
    platform,
    onRefused: meter.refused,
    ...(tenantOf && { tenantOf }),
    ...(tenantRates && { tenantRates }),
  });
  doWork(server, {
    database,
    budgetMs,
    keyRetentionSeconds: toMs(options.keyRetention ?? "24h", "tuntasHttp: keyRetention") / 1000,
    callerOf: options.callerOf ?? (personIn && ((request) => nameIn(request, personIn))),
  });
  checkBodies(server);
  serveDescription(server);
  serveHealth(server, {
    database,
    readyTimeoutMs: toMs(options.readyTimeout ?? "1s", "tuntasHttp: readyTimeout"),
    isDraining: traffic.isDraining,
  });
  meter.serve(server, { traffic, running });
}

export const tuntasHttp = fastifyPlugin(register, { fastify: "5.x", name: "tuntas" });
