// The two documents of the `seeds` folder as they stand, carried out by this application's handlers. Where a document
// leaves something open (docs/decisions/0025-case-activation.md), its handler does the least that keeps the case right.
import { app, task, workflow } from "tuntas";
import { confirm } from "tuntas/ledger";
import { approval } from "tuntas/workflow";
import { caseOf, migrations } from "./store.ts";
import { supervisorApproval } from "./tasks/approval.ts";
import { checkDuplicates, duplicateChecker } from "./tasks/duplicates.ts";
import { caseIds, move } from "./tasks/ids.ts";
import { NoNumberAvailable, reserveCaseNumber } from "./tasks/steps.ts";

const document = (name: string): URL => new URL(`../seeds/${name}.asl.json`, import.meta.url);

export const duplicateCheckSeed = workflow("SeedDuplicateCheck", {
  definition: document("duplicate-check"),
  tasks: { StartDuplicateCheckJob: checkDuplicates },
});

const validate = task({
  input: caseIds,
  idempotent: true,
  handle: async ({ caseId }, { tx }) => ({ valid: (await caseOf(tx, caseId)).status === "DRAFT" }),
});

/** A jurisdiction that has no numbers left. */
const reserveOrFail = task({
  input: caseIds,
  idempotent: true,
  async handle(given, ctx) {
    if ((await caseOf(ctx.tx, given.caseId)).jurisdiction === "FULL")
      throw new NoNumberAvailable("none left");
    return reserveCaseNumber.handle(given, ctx);
  },
});

const requestShort = approval({
  input: caseIds,
  async request({ caseId }, ctx) {
    const { requestedBy, reservationId } = await caseOf(ctx.tx, caseId);
    await move(ctx, { caseId, name: "requestShortApproval" });
    return {
      subject: caseId,
      requestedBy,
      deciders: { roles: ["supervisor"] },
      due: "2d",
      expires: "7d",
      holds: [reservationId!],
    };
  },
  decided: supervisorApproval.decided!,
});

const activateShort = task({
  input: caseIds,
  idempotent: true,
  async handle({ caseId }, ctx) {
    await move(ctx, { caseId, name: "activateShort" });
    await confirm(ctx.tx, (await caseOf(ctx.tx, caseId)).reservationId!);
    return { caseId, finalStatus: "ACTIVE" };
  },
});

export const shortActivationSeed = workflow("SeedCaseActivation", {
  definition: document("case-activation-short"),
  tasks: {
    CaseCommandValidator: validate,
    ReserveCaseNumber: reserveOrFail,
    CreateSupervisorApprovalRequest: requestShort,
    MarkCaseActive: activateShort,
  },
});

export default app({ duplicateCheckSeed, shortActivationSeed, duplicateChecker }, { migrations });
