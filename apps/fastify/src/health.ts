// Two questions that must not be mixed up: is this process alive (cheap, asks nobody), and should it get traffic.
import type { FastifyInstance } from "fastify";
import type { Database } from "tuntas";

export interface HealthOptions {
  readonly database: Pick<Database, "run">;
  readonly readyTimeoutMs: number;
  readonly isDraining: () => boolean;
}

const probe = { name: "tuntas_http_ready", text: "select 1" };

/** Whether the database answers in time. A probe that hangs is shared by all who ask, so that they do not pile up. */
function makeProbe({ database, readyTimeoutMs }: HealthOptions): () => Promise<boolean> {
  let pending: Promise<boolean> | undefined;
  return () => {
    pending ??= database
      .run(probe)
      .then(
        () => true,
        () => false,
      )
      .finally(() => (pending = undefined));
    let timer: NodeJS.Timeout;
    const tooLate = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, readyTimeoutMs, false)));
    return Promise.race([pending, tooLate]).finally(() => clearTimeout(timer));
  };
}

export function serveHealth(server: FastifyInstance, options: HealthOptions): void {
  const answersInTime = makeProbe(options);
  const config = { shed: false };
  server.get("/livez", { config, logLevel: "silent" }, () => ({ status: "live" }));
  server.get("/readyz", { config, logLevel: "silent" }, async (_, reply) => {
    if (options.isDraining()) return reply.code(503).send({ status: "draining" });
    return (await answersInTime())
      ? { status: "ready" }
      : reply.code(503).send({ status: "database unavailable" });
  });
}
