// The application: the document, the tasks that carry it out, the worker beside it.
import { app, workflow } from "tuntas";
import { z } from "zod";
import { finalStatuses } from "./transitions.ts";
import { findCase, migrations } from "./store.ts";
import { supervisorApproval } from "./tasks/approval.ts";
import { checkDuplicates, duplicateChecker, duplicateChecks } from "./tasks/duplicates.ts";
import { awaitAcknowledgement, generateNotice, markActive, post, sendNotice } from "./tasks/notice.ts";
import {
  cleanUp,
  createTheCase,
  expireCase,
  reserveCaseNumber,
  reviewDuplicates,
  validateJurisdiction,
} from "./tasks/steps.ts";

/** Ids and times, never a copy of the case (`startInput` of `tuntas/outbox` makes it). */
const start = z.object({
  caseId: z.string(),
  tenantId: z.string(),
  commandId: z.string(),
  correlationId: z.string(),
});

export const caseActivation = workflow("CaseActivation", {
  definition: new URL("../case-activation.asl.json", import.meta.url),
  input: start,
  tasks: {
    CreateCase: createTheCase,
    ReserveCaseNumber: reserveCaseNumber,
    ValidateJurisdiction: validateJurisdiction,
    CheckDuplicates: checkDuplicates,
    ReviewDuplicates: reviewDuplicates,
    SupervisorApproval: supervisorApproval,
    GenerateNotice: generateNotice,
    SendNotice: sendNotice,
    AwaitAcknowledgement: awaitAcknowledgement,
    MarkActive: markActive,
    CleanUp: cleanUp,
    ExpireCase: expireCase,
  },
  domain: {
    key: ({ caseId }: { caseId: string }) => caseId,
    async read(sql, caseId) {
      const found = await findCase(sql, caseId);
      return found && { ...found };
    },
    final: finalStatuses,
    statuses: {
      ReserveCaseNumber: ["DRAFT"],
      ValidateJurisdiction: ["NUMBER_RESERVED"],
      CheckDuplicates: ["JURISDICTION_VALIDATED"],
      ReviewDuplicates: ["JURISDICTION_VALIDATED", "NEEDS_REVIEW"],
      SupervisorApproval: ["DUPLICATE_CHECK_PASSED", "NEEDS_REVIEW", "NEEDS_APPROVAL"],
      GenerateNotice: ["APPROVED"],
      SendNotice: ["NOTICE_GENERATED"],
      AwaitAcknowledgement: ["NOTICE_SENT"],
      MarkActive: ["NOTICE_SENT"],
    },
  },
});

export default app({ caseActivation, duplicateChecks, duplicateChecker, post }, { migrations });
