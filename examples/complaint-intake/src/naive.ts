// The same requirement as one request that does everything: short, and it passes every test in which nothing goes wrong.
// intake.test.ts shows what becomes of it when scoring is down. Nothing else imports it.
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { Database } from "tuntas";
import { scoreOf, tellOfficers } from "./outside.ts";
import {
  findDuplicates,
  insertComplaint,
  noteOverdue,
  setRisk,
  setStatus,
  type NewComplaint,
} from "./store.ts";

const answerWithinMs = 5 * 86_400_000;

export function makeNaive({ transaction }: Pick<Database, "transaction">): FastifyInstance {
  const server = Fastify();
  server.post<{ Body: NewComplaint }>("/complaints", async ({ body }, reply) => {
    const caseId = `CASE-${randomUUID()}`;
    await transaction(({ client }) => insertComplaint(client, caseId, body));
    const risk = await scoreOf(body, AbortSignal.timeout(10_000));
    const duplicates = await transaction(({ client }) => findDuplicates(client, caseId));
    await tellOfficers({ caseId, event: "received" }, caseId, AbortSignal.timeout(10_000));
    setTimeout(() => void transaction(({ client }) => noteOverdue(client, caseId)), answerWithinMs).unref();
    if (risk >= 80) server.log.warn({ caseId }, "a supervisor ought to look at this");
    await transaction(async ({ client }) => {
      await setRisk(client, caseId, risk);
      await setStatus(client, caseId, "OPEN");
    });
    return reply.code(201).send({ caseId, duplicates });
  });
  return server;
}
