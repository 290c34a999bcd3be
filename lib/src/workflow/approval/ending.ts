// How a request ends, whatever ends it: its row, what it held, who is told, and the record, all in one transaction.
import { writeAudit } from "../../engine/audit.ts";
import { isTuntasError } from "../../core/error.ts";
import { release } from "../../ledger/index.ts";
import { add } from "../../outbox/client.ts";
import type { Runner } from "../../pg/join.ts";
import type { Approval } from "./contract.ts";
import { notifyOf } from "./request.ts";
import { approvalSignals } from "./signals.ts";
import { endApprovals, type Kept } from "./store.ts";

/** What tells the execution; `platform.ts` binds it. */
export const approvalTarget = { kind: "approval", name: "callback" };

/** What was confirmed meanwhile stays; what is gone is gone. */
async function giveBack(tx: Runner, reservations: readonly string[]): Promise<void> {
  for (const id of reservations)
    await release(tx, id).catch((cause: unknown) => {
      if (!isTuntasError(cause, "TUNTAS_RESERVATION_STATE")) throw cause;
    });
}

export interface Ending {
  readonly status: Exclude<Approval["status"], "pending">;
  readonly by: string;
  readonly reason: string;
}

export async function endRequest(
  tx: Runner,
  { approval, notify }: Kept,
  { status, by, reason }: Ending,
): Promise<void> {
  const { id, subject, workflow, task, executionArn } = approval;
  await endApprovals(tx, [id], { status, reason: status === "withdrawn" ? reason : null });
  if (status !== "approved") await giveBack(tx, approval.holds);
  await add(tx, {
    target: approvalTarget,
    key: id,
    type: status,
    payload: JSON.stringify({ approvalId: id }),
  });
  if (status === "expired") await notifyOf(tx, { id, notify }, "ApprovalExpired");
  await writeAudit(tx, {
    actor: by,
    action: `approval.${status}`,
    subject: id,
    reason,
    details: { about: subject, workflow, task, executionArn },
  });
}

export function announceEnd(
  { id, workflow, task, ageMs }: Approval,
  status: Exclude<Approval["status"], "pending">,
): void {
  approvalSignals.publish("approval.ended", { id, workflow, task, status, durationMs: ageMs });
}
