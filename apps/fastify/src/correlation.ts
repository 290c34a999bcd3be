// One id from the caller through the log to whatever the request sets off: taken from X-Correlation-Id, or made here.
import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Log } from "tuntas";

// Goes into headers, log lines and message attributes as it is.
const usable = /^[\x21-\x7e]{1,128}$/;

export function correlate(server: FastifyInstance, log: Log): void {
  server.decorateRequest("correlationId", "");
  server.addHook("onRequest", (request, reply, next) => {
    const given = request.headers["x-correlation-id"];
    request.correlationId = typeof given === "string" && usable.test(given) ? given : randomUUID();
    request.log = log.child({
      correlationId: request.correlationId,
    }) as unknown as typeof request.log;
    reply.header("x-correlation-id", request.correlationId);
    next();
  });
}
