// Steps that change the case and nothing else: each is one short transaction, committed with the advance of the execution.
import { task } from "tuntas";
import { release, reserve } from "tuntas/ledger";
import {
  caseOf,
  createCase,
  dropNumber,
  isCompetent,
  keepNumber,
  nextCaseNumber,
  type Tx,
} from "../store.ts";
import { caseIds, move } from "./ids.ts";

/** No number could be had. */
export class NoNumberAvailable extends Error {
  override readonly name = "NoNumberAvailable";
}

export const createTheCase = task({
  input: caseIds,
  idempotent: true,
  handle: ({ caseId }, { tx, execution }) => createCase(tx, caseId, execution.arn).then(() => ({ caseId })),
});

export const reserveCaseNumber = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const { tx } = ctx;
    const caseNumber = await nextCaseNumber(tx);
    const answer = await reserve(tx, {
      kind: "case-number",
      resource: caseNumber,
      holder: ctx.execution.arn,
      expiresIn: "30m",
    });
    if (answer.status === "conflict") throw new NoNumberAvailable(`${caseNumber} is taken`);
    await keepNumber(tx, { caseId, caseNumber, reservationId: answer.reservation.id });
    await move(ctx, { caseId, name: "reserveNumber" });
    return { caseNumber };
  },
});

export const validateJurisdiction = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const { jurisdiction } = await caseOf(ctx.tx, caseId);
    const competent = await isCompetent(ctx.tx, jurisdiction);
    const name = competent ? "validateJurisdiction" : "rejectJurisdiction";
    await move(ctx, { caseId, name, reason: `jurisdiction ${jurisdiction}` });
    return { competent };
  },
});

export const reviewDuplicates = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    await move(ctx, { caseId, name: "needReview", reason: "the duplicate check did not end in time" });
    return { status: "UNKNOWN" };
  },
});

/** Gives back what the case had reserved. Whatever was confirmed stays. */
async function giveBack(tx: Tx, caseId: string): Promise<void> {
  const { reservationId } = await caseOf(tx, caseId);
  if (reservationId === null) return;
  await release(tx, reservationId);
  await dropNumber(tx, caseId);
}

const outcomeOf = async (tx: Tx, caseId: string) => ({
  caseId,
  finalStatus: (await caseOf(tx, caseId)).status,
  completedAt: new Date().toISOString(),
});

/** The end of what was rejected, cancelled or withdrawn. */
export const cleanUp = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    const { status } = await caseOf(ctx.tx, caseId);
    if (status !== "EXPIRED") await move(ctx, { caseId, name: "cancel" });
    await giveBack(ctx.tx, caseId);
    return outcomeOf(ctx.tx, caseId);
  },
});

export const expireCase = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    await move(ctx, { caseId, name: "expire", reason: "nobody answered in time" });
    await giveBack(ctx.tx, caseId);
    return outcomeOf(ctx.tx, caseId);
  },
});
