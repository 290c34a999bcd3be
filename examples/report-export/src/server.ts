// The HTTP side: ask for a report, see how far it is, fetch it file by file once it is ready.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { z } from "zod";
import { readManifest, request as requestExport } from "./exports.ts";
import { getFile } from "./files.ts";
import { findExport } from "./store.ts";

const newExport = z.object({ requestedBy: z.string().trim().min(1).max(200) });

const missing = (what: string) => httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no ${what}`);

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const server = Fastify({ return503OnClosing: false });
  await server.register(tuntasHttp, { platform: running.platform, running });

  const takes = { body: newExport, summary: "Ask for a report of all payments" };
  server.post<{ Body: z.infer<typeof newExport> }>(
    "/exports",
    { config: takes },
    async ({ body, tx }, reply) => {
      const exportId = randomUUID();
      await requestExport(tx, exportId, body.requestedBy);
      return reply
        .code(202)
        .header("location", `/exports/${exportId}`)
        .send({ exportId, status: "REQUESTED" });
    },
  );

  type ById = { Params: { id: string; chunk: string } };
  server.get<ById>("/exports/:id", async ({ params, tx }) => {
    const found = await findExport(tx, params.id);
    if (!found) throw missing(`export ${params.id}`);
    return { ...found, manifest: found.manifest && (await readManifest(found.manifest)) };
  });

  server.get<ById>("/exports/:id/:chunk", async ({ params, tx }, reply) => {
    const manifest = (await findExport(tx, params.id))?.manifest;
    const part = manifest && (await readManifest(manifest)).files[Number(params.chunk)];
    if (!part) throw missing(`file ${params.chunk} of export ${params.id}`);
    return reply.type("text/csv; charset=utf-8").send(await getFile(part.file));
  });
  return server;
}
