// The HTTP side: ask for a package, see how far it is, fetch its files once it is whole.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { Platform, RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { z } from "zod";
import { request as requestPackage } from "./evidence.ts";
import { getFile } from "./files.ts";
import { auditOf, filesOf, findPackage, type Tx } from "./store.ts";

const text = z.string().trim().min(1).max(200);
const newPackage = z.object({ caseId: text, requestedBy: text });

/** How many partitions of a job are done; before it is begun, none. */
async function progressOf({ batches }: Platform, job: string | null) {
  if (job === null) return { done: 0, of: null };
  const { partitions } = await batches.job(job);
  return { done: partitions.done, of: partitions.total };
}

async function show(platform: Platform, tx: Tx, packageId: string) {
  const found = await findPackage(tx, packageId);
  if (!found) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no package ${packageId}`);
  const { partsJob, pagesJob, ...facts } = found;
  return {
    ...facts,
    progress: { parts: await progressOf(platform, partsJob), pages: await progressOf(platform, pagesJob) },
    // Files of a package that is not whole are nobody's business.
    files: found.manifest === null ? [] : await filesOf(tx, packageId),
    audit: await auditOf(tx, packageId),
  };
}

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const { platform } = running;
  const server = Fastify({ return503OnClosing: false });
  await server.register(tuntasHttp, { platform, running });

  const takes = { body: newPackage, summary: "Ask for an evidence package" };
  server.post<{ Body: z.infer<typeof newPackage> }>(
    "/packages",
    { config: takes },
    async ({ body, tx }, reply) => {
      const packageId = `PKG-${randomUUID()}`;
      await requestPackage(tx, { packageId, ...body });
      return reply.code(202).header("location", `/packages/${packageId}`).send({ packageId });
    },
  );

  type ById = { Params: { id: string; name: string } };
  server.get<ById>("/packages/:id", ({ params, tx }) => show(platform, tx, params.id));

  server.get<ById>("/packages/:id/files/:name", async ({ params, tx }, reply) => {
    const { files } = await show(platform, tx, params.id);
    const file = files.find(({ name }) => name === params.name);
    if (!file) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `the package has no file ${params.name} yet`);
    const type = file.kind === "pdf" ? "application/pdf" : "text/plain; charset=utf-8";
    return reply.type(type).send(await getFile(file.sha256));
  });
  return server;
}
