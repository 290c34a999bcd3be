// What the clock does with requests: it escalates and it ends them. Whoever looks first does it; the others find nothing.
import { writeAudit } from "../../engine/audit.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Runner } from "../../pg/join.ts";
import { announceEnd, endRequest } from "./ending.ts";
import { notifyOf } from "./request.ts";
import { approvalSignals } from "./signals.ts";
import { escalateApprovals, findApproval, nextApprovalMs, takeDueApprovals, type Kept } from "./store.ts";

const rowsMax = 100;
const clock = "the clock";

/** Escalates one request on the record. */
export async function escalateRequest(
  tx: Runner,
  { approval, notify }: Kept,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  const { id, subject, workflow, task, executionArn } = approval;
  await escalateApprovals(tx, [id]);
  await notifyOf(tx, { id, notify }, "ApprovalEscalated");
  const details = { about: subject, workflow, task, executionArn };
  await writeAudit(tx, { actor: by, action: "approval.escalate", subject: id, reason, details });
}

export function announceEscalation({ id, workflow, task }: Kept["approval"]): void {
  approvalSignals.publish("approval.escalated", { id, workflow, task });
}

interface Moved {
  readonly kept: Kept;
  readonly lapsed: boolean;
}

async function moveOne(tx: Runner, { id, lapsed }: { id: string; lapsed: boolean }): Promise<Moved> {
  const kept = (await findApproval(tx, id))!;
  if (lapsed) await endRequest(tx, kept, { status: "expired", by: clock, reason: "nobody decided in time" });
  else await escalateRequest(tx, kept, { by: clock, reason: "nobody decided by the time of its escalation" });
  return { kept, lapsed };
}

/** Does what is due, and answers in how many ms the next thing is (null if nothing waits). */
export async function moveDueApprovals(sql: Sql): Promise<number | null> {
  const moved = await sql.transaction(async (tx) => {
    const all: Moved[] = [];
    for (const row of await takeDueApprovals(tx, rowsMax)) all.push(await moveOne(tx, row));
    return all;
  });
  for (const { kept, lapsed } of moved)
    if (lapsed) announceEnd(kept.approval, "expired");
    else announceEscalation(kept.approval);
  return moved.length >= rowsMax ? 0 : nextApprovalMs(sql);
}
