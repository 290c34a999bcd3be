// The HTTP side: accept a complaint, show what became of it, let supervisors decide.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { z } from "zod";
import { accept, complaintIntake } from "./intake.ts";
import { auditOf, findComplaint } from "./store.ts";

const text = z.string().trim().min(1).max(500);
const newComplaint = z.object({ complainant: text, subject: text });
const decision = z.object({ decision: z.enum(["approve", "reject"]), reason: text });

/** Where the proxy in front of this service names whom it has authenticated. */
const personIn = { name: "X-User", roles: "X-Roles" };

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const { platform } = running;
  const { approvals } = platform.workflows;
  const server = Fastify({ return503OnClosing: false });
  await server.register(tuntasHttp, { platform, running, personIn });

  const accepts = { body: newComplaint, summary: "Accept a complaint" };
  server.post<{ Body: z.infer<typeof newComplaint> }>(
    "/complaints",
    { config: accepts },
    async ({ body, tx }, reply) => {
      const caseId = `CASE-${randomUUID()}`;
      await accept(tx, caseId, body);
      return reply.code(202).send({ caseId, status: "RECEIVED" });
    },
  );

  server.get<{ Params: { caseId: string } }>("/complaints/:caseId", async ({ params, tx }) => {
    const complaint = await findComplaint(tx, params.caseId);
    if (!complaint) throw httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no case ${params.caseId}`);
    return { ...complaint, history: await auditOf(tx, params.caseId) };
  });

  server.get("/escalations", ({ person }) => approvals.list({ for: person, workflow: complaintIntake.name }));

  const decides = { person: true, body: decision, summary: "Pursue or dismiss a case" };
  server.post<{ Params: { id: string }; Body: z.infer<typeof decision> }>(
    "/escalations/:id/decision",
    { config: decides },
    async ({ body, params, person, tx }) => {
      const { status } = await approvals.decide(params.id, { ...body, by: person, tx });
      return { status };
    },
  );
  return server;
}
