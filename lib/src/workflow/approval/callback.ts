// Telling the execution. The outbox calls this after the commit of what ended the request, and again until it is taken;
// an execution takes one answer for a token, whatever comes after it.
import type { Json } from "../../asl/contract.ts";
import type { Announcement, Receipt, Target } from "../../engine/target.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Answering } from "../client/answer.ts";
import type { Answer } from "../remote/contract.ts";
import { isElsewhere } from "../remote/store.ts";
import { answerElsewhere } from "../remote/tell.ts";
import { approvalErrors } from "./contract.ts";
import { approvalSignals } from "./signals.ts";
import { toldOf } from "./state.ts";
import { findApproval, markTold } from "./store.ts";

export interface CallbackOptions {
  readonly database: Sql;
  readonly answering: Answering;
  readonly tokenOf: (reference: string) => string;
}

export function approvalCallback({ database, answering, tokenOf }: CallbackOptions): Target {
  async function deliver({ payload }: Announcement): Promise<Receipt> {
    const { approvalId } = JSON.parse(payload) as { approvalId: string };
    const kept = await findApproval(database, approvalId);
    if (!kept || kept.approval.status === "pending")
      throw approvalErrors.error("TUNTAS_APPROVAL_MISSING", `there is no ended approval ${approvalId}`);
    const told = toldOf(kept.approval, new Date(kept.approval.endedAtMs!).toISOString());
    if (await isElsewhere(database, kept.tokenReference)) {
      const answered = await database.transaction((tx) =>
        answerElsewhere(tx, kept.tokenReference, told as Answer),
      );
      return { status: answered ? "created" : "duplicate", reference: kept.approval.executionArn };
    }
    const token = tokenOf(kept.tokenReference);
    const answer = await ("error" in told
      ? answering.fail(token, told)
      : answering.succeed(token, told.output as Json));
    await markTold(database, approvalId);
    const { id, workflow, task } = kept.approval;
    const taken = answer.status === "accepted";
    approvalSignals.publish("approval.told", { id, workflow, task, taken });
    return { status: taken ? "created" : "duplicate", reference: kept.approval.executionArn };
  }
  return { deliver };
}
