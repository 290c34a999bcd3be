// The HTTP side: accept a case, show it, cancel it; the supervisors' inbox; the post's receipts.
import { randomBytes } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { isTuntasError, type Platform, type RunningApp } from "tuntas";
import { httpErrors, tuntasHttp } from "tuntas/fastify";
import { executionName, startByOutbox } from "tuntas/outbox";
import { answerTask, type TaskAnswer } from "tuntas/workflow";
import { z } from "zod";
import { caseActivation } from "./cases.ts";
import {
  acknowledge,
  auditOf,
  CaseOver,
  findCase,
  findCommand,
  findNotice,
  InvalidTransition,
  recordCommand,
  transition,
  type Tx,
} from "./store.ts";

const text = z
  .string()
  .min(1)
  .max(200)
  .refine((value) => value.isWellFormed() && !value.includes("\0"), "expected text that can be stored");
const token = z.string().regex(/^[A-Za-z0-9_]{1,20}$/, "expected 1 to 20 letters, digits or _");

const newCase = z.object({
  tenantId: token,
  partyName: text,
  jurisdiction: text,
  severity: z.enum(["normal", "high"]).default("normal"),
});
const decision = z.object({ decision: z.enum(["approve", "reject"]), reason: text });
const because = z.object({ reason: text });

const missing = (what: string) => httpErrors.error("TUNTAS_HTTP_NOT_FOUND", `there is no ${what}`);

/** What refuses a request for what is so already is a conflict with it. */
const statusOf = (error: Error): number | undefined =>
  error instanceof CaseOver || error instanceof InvalidTransition ? 409 : undefined;

/** Where the proxy in front of this service names whom it has authenticated. */
const personIn = { name: "X-User", roles: "X-Roles" };

type ById = { Params: { id: string } };
type Decide = ById & { Body: z.infer<typeof decision> };
type Cancel = ById & { Body: z.infer<typeof because> };

const newId = (prefix: string): string => `${prefix}-${randomBytes(6).toString("hex")}`;

/** Accepts a case: its command and the announcement that starts its workflow are one commit (pattern B). */
async function accept(request: FastifyRequest<{ Body: z.infer<typeof newCase> }>) {
  const { name: requestedBy } = request.person;
  const given = request.body;
  const ids = { caseId: newId("CASE"), commandId: newId("cmd"), tenantId: given.tenantId };
  const command = {
    ...ids,
    workflowName: caseActivation.name,
    workflowVersion: "1",
    requestedBy,
    correlationId: request.correlationId,
    startedAt: new Date().toISOString(),
  };
  const name = executionName(command);
  await recordCommand(request.tx, { ...command, ...given, executionName: name });
  await startByOutbox(request.tx, command);
  return { caseId: ids.caseId, status: "ACCEPTED", executionName: name };
}

async function show(tx: Tx, caseId: string) {
  const found = await findCase(tx, caseId);
  if (!found) {
    const command = await findCommand(tx, caseId);
    if (!command) throw missing(`case ${caseId}`);
    return { caseId, status: "ACCEPTED" };
  }
  const { reservationId: _, ...facts } = found;
  const notice = await findNotice(tx, caseId);
  return {
    ...facts,
    notice: notice && { noticeId: notice.noticeId, deliveryStatus: notice.deliveryStatus },
    history: await auditOf(tx, caseId),
  };
}

/** Ends the wait, if there is one: the approval is withdrawn, the acknowledgement is not waited for any more. */
async function cancel({ workflows }: Platform, request: FastifyRequest<Cancel>): Promise<void> {
  const { person } = request;
  const { reason } = request.body;
  const caseId = request.params.id;
  const { tx } = request;
  const { approvals } = workflows;
  const withdraw = async (done?: string): Promise<string | undefined> => {
    const [pending] = await approvals.list({ subject: caseId });
    if (pending && pending.id !== done) await approvals.withdraw(pending.id, { by: person, reason, tx });
    return pending?.id;
  };
  if (!(await findCase(tx, caseId))) throw missing(`case ${caseId}`);
  // The request before its case, in the order in which a decision locks them.
  const withdrawn = await withdraw();
  await transition(tx, { caseId, name: "cancel" }, { actor: person.name, reason });
  // The case may have been waited for, while its step asked for an approval.
  await withdraw(withdrawn);
  const notice = await findNotice(tx, caseId);
  if (notice?.tokenReference && notice.deliveryStatus !== "ACKNOWLEDGED")
    await tell(tx, { tokenReference: notice.tokenReference, error: "CaseOver", cause: reason });
}

/** Tells the execution, if it waits: what became of case and notice is so in any case, and it looks when it comes by. */
async function tell(tx: Tx, answer: TaskAnswer): Promise<void> {
  await answerTask(tx, answer).catch((cause: unknown) => {
    if (!isTuntasError(cause, "TUNTAS_ANSWER_LATE")) throw cause;
  });
}

/** The post's receipt: the notice first, then the execution hears of it. Again is harmless. */
async function receive(tx: Tx, noticeId: string) {
  const notice = await acknowledge(tx, noticeId);
  if (!notice) throw missing(`notice ${noticeId}`);
  if (notice.first && notice.tokenReference)
    await tell(tx, { tokenReference: notice.tokenReference, output: { status: "ACKNOWLEDGED" } });
  return { noticeId, deliveryStatus: notice.deliveryStatus };
}

function caseRoutes(server: FastifyInstance, platform: Platform): void {
  const takesCase = { person: true, body: newCase, summary: "Accept a case" };
  server.post<{ Body: z.infer<typeof newCase> }>("/cases", { config: takesCase }, async (request, reply) =>
    reply.code(202).send(await accept(request)),
  );
  server.get<ById>("/cases/:id", { config: { summary: "A case and what became of it" } }, ({ params }) =>
    platform.database.transaction(({ client }) => show(client, params.id)),
  );
  const cancels = { person: true, audit: "case.cancel", body: because, summary: "Cancel a case" };
  server.post<Cancel>("/cases/:id/cancel", { config: cancels }, async (request, reply) => {
    await cancel(platform, request);
    return reply.code(204).send();
  });
  server.post<ById>("/receipts/:id", { config: { idempotency: "optional" } }, ({ tx, params }) =>
    receive(tx, params.id),
  );
}

function approvalRoutes(server: FastifyInstance, { workflows: { approvals } }: Platform): void {
  server.get("/approvals", { config: { person: true, summary: "What this person may sign" } }, (request) =>
    approvals.list({ for: request.person, workflow: caseActivation.name }),
  );
  server.get<ById>("/approvals/:id", async (request) => {
    const found = await approvals.show(request.params.id, request.person);
    if (!found) throw missing(`approval ${request.params.id}`);
    return found;
  });
  const decides = { person: true, body: decision, summary: "Approve or reject" };
  server.post<Decide>("/approvals/:id/decision", { config: decides }, async (request) => {
    const { status, approval } = await approvals.decide(request.params.id, {
      ...request.body,
      by: request.person,
      tx: request.tx,
    });
    return { status, approval: approval.status, signaturesMissing: approval.signaturesMissing };
  });
}

/** The API, ready to listen. */
export async function makeServer(running: RunningApp): Promise<FastifyInstance> {
  const { platform } = running;
  const server = Fastify({
    onProtoPoisoning: "remove",
    onConstructorPoisoning: "remove",
    return503OnClosing: false,
  });
  await server.register(tuntasHttp, { platform, running, personIn, statusOf });
  caseRoutes(server, platform);
  approvalRoutes(server, platform);
  return server;
}
