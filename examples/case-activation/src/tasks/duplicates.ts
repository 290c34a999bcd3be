// The duplicate check: the step leaves a job and a message with a reference to its token; a worker looks, under a lease,
// and its result commits before the execution hears of it.
import { isTuntasError, queue, rejected, retry, task, worker, type Context } from "tuntas";
import { claimLease, completeLease } from "tuntas/ledger";
import { answerTask } from "tuntas/workflow";
import { z } from "zod";
import { caseOf, endDuplicateCheck, findDuplicates, requestDuplicateCheck, transition } from "../store.ts";
import { finalStatuses } from "../transitions.ts";
import { caseIds } from "./ids.ts";

export const duplicateChecks = queue("duplicate-checks", {
  message: z.object({ caseId: z.string().min(1), tokenReference: z.string().min(1) }),
  visibilityTimeout: "60s",
  deadLetter: { after: 5, owner: "case-team", runbook: "runbooks/duplicate-checks-dlq.md", retention: "14d" },
});

export const checkDuplicates = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, { tx, tokenReference, correlationId }) {
    await requestDuplicateCheck(tx, caseId, tokenReference!);
    await duplicateChecks.send({ caseId, tokenReference: tokenReference! }, { tx, correlationId });
  },
});

/**
 * Job, case, lease and the answer to the execution in the commit that acknowledges the message. The answer comes first: once
 * the execution has gone on without it (to a supervisor, after its heartbeat), the check changes nothing.
 */
async function check(caseId: string, { tx }: Context, tokenReference: string): Promise<void> {
  const found = await caseOf(tx, caseId);
  if (finalStatuses.includes(found.status)) {
    await answerTask(tx, { tokenReference, error: "CaseOver", cause: `${caseId} is ${found.status}` });
    await endDuplicateCheck(tx, caseId, { status: "FAILED", duplicates: [] });
    return;
  }
  const duplicates = await findDuplicates(tx, found);
  const status = duplicates.length > 0 ? "POSSIBLE_DUPLICATE" : "CLEAR";
  await answerTask(tx, { tokenReference, output: { caseId, status, duplicateCheckResult: { status } } });
  await endDuplicateCheck(tx, caseId, { status, duplicates });
  const name = status === "CLEAR" ? "passDuplicateCheck" : "needReview";
  await transition(tx, { caseId, name }, { actor: "duplicate check", reason: duplicates.join(", ") });
}

export const duplicateChecker = worker(duplicateChecks, {
  idempotencyKey: ({ caseId, tokenReference }) => `${caseId} ${tokenReference}`,
  timeout: "30s",
  concurrency: 8,
  async handle({ caseId, tokenReference }, context) {
    const { tx, database } = context;
    // One worker a job: the lease (20 s) is shorter than the state's heartbeat (120 s), that than its timeout (30 min).
    const name = `duplicate-check ${tokenReference}`;
    const claimed = await claimLease(database, { name, owner: `${process.pid}`, lease: "20s" });
    if (claimed.status === "held")
      return retry({ code: "CHECK_HELD", after: `${Math.ceil(claimed.expiresInMs) + 100}ms` });
    if (claimed.status === "completed") return undefined;
    try {
      await check(caseId, context, tokenReference);
    } catch (cause) {
      if (!isTuntasError(cause, "TUNTAS_ANSWER_LATE")) throw cause;
      return rejected({ code: "CHECK_LATE", message: cause.message });
    }
    await completeLease(tx, claimed.lease, { caseId });
    return undefined;
  },
});
