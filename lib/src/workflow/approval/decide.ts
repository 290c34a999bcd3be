// Deciding: signature, domain change and the announcement that resumes the execution, in one transaction.
import { writeAudit } from "../../engine/audit.ts";
import type { Queryable } from "../../pg/contract.ts";
import type { Runner } from "../../pg/join.ts";
import type { Approval, DecideAnswer, DecidedHook, Decision, Person, Standing } from "./contract.ts";
import { isAwaitedElsewhere } from "../remote/store.ts";
import { stopClocks } from "../store/calls.ts";
import { approvalErrors } from "./contract.ts";
import { endRequest } from "./ending.ts";
import { approvalSignals } from "./signals.ts";
import { isRepeat, standingOf, statusWith } from "./state.ts";
import { findApproval, insertSignature, lockApproval, type Kept } from "./store.ts";

type Code = Parameters<typeof approvalErrors.error>[0];

/** A refusal changes nothing; what came before stands in its details. */
export function refuse(approval: Approval, code: Code, message: string): Error {
  const { id, workflow, task, status, signatures } = approval;
  approvalSignals.publish("approval.refused", { id, workflow, task, code });
  return approvalErrors.error(code, `approval ${id}: ${message}`, { details: { id, status, signatures } });
}

const refusals: Readonly<Record<Exclude<Standing, "may sign" | "over">, readonly [Code, string]>> = {
  requester: ["TUNTAS_APPROVAL_OWN", "expected somebody else than who asked"],
  signed: ["TUNTAS_APPROVAL_SIGNED", "expected another person than those who have signed"],
  delegated: ["TUNTAS_APPROVAL_DENIED", "expected the one to whom it was delegated"],
  "not a decider": ["TUNTAS_APPROVAL_DENIED", "expected one of its deciders"],
};

/** Errors: the room's, by what the person may do. */
export function assertMaySign({ approval, lapsed }: Kept, person: Person): void {
  const standing = standingOf(approval, person);
  if (standing === "over" || lapsed) {
    const what = standing === "over" ? approval.status : "past its expiry";
    throw refuse(approval, "TUNTAS_APPROVAL_OVER", `expected a pending request, but it is ${what}`);
  }
  if (standing === "may sign") return;
  const [code, expected] = refusals[standing];
  throw refuse(approval, code, `${expected}, got ${person.name}`);
}

export async function mustLock(tx: Runner, id: string): Promise<Kept> {
  const kept = isId(id) ? await lockApproval(tx, id) : undefined;
  if (kept) return kept;
  throw approvalErrors.error(
    "TUNTAS_APPROVAL_MISSING",
    `expected an approval's id, got ${JSON.stringify(id)}`,
  );
}

export const isId = (id: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);

export interface Deciding {
  readonly runner: Runner;
  /** For the application's own statements. */
  readonly client: Queryable;
  readonly hashOf: (tokenReference: string) => Buffer;
  readonly hookOf: (approval: Approval) => DecidedHook | undefined;
}

async function end(
  { runner, client, hashOf, hookOf }: Deciding,
  kept: Kept,
  { by, reason, status }: { by: Person; reason: string; status: "approved" | "rejected" },
): Promise<void> {
  const { approval } = kept;
  const hook = hookOf(approval);
  if (approval.guarded && !hook) {
    const where = `workflow ${approval.workflow}`;
    throw refuse(
      approval,
      "TUNTAS_APPROVAL_ELSEWHERE",
      `expected the application of ${where} in this process`,
    );
  }
  await hook?.(client, { approval, status });
  // Last: the engine may have to wait for these rows until the commit.
  const { tokenReference } = kept;
  const waits =
    (await stopClocks(runner, hashOf(tokenReference))) || (await isAwaitedElsewhere(runner, tokenReference));
  if (!waits) throw refuse(approval, "TUNTAS_APPROVAL_LATE", "expected an execution that waits for it");
  await endRequest(runner, kept, { status, by: by.name, reason });
}

/** Signs, and ends the request where that was the last signature. The caller announces after the commit. */
export async function decideIn(
  deciding: Deciding,
  id: string,
  { by, decision, reason }: Omit<Decision, "tx">,
): Promise<DecideAnswer> {
  const { runner } = deciding;
  const kept = await mustLock(runner, id);
  if (isRepeat(kept.approval, by, decision)) return { status: "duplicate", approval: kept.approval };
  assertMaySign(kept, by);
  await insertSignature(runner, id, { name: by.name, decision, reason });
  const status = statusWith(kept.approval, decision);
  if (status === "pending") {
    const details = { about: kept.approval.subject, executionArn: kept.approval.executionArn };
    await writeAudit(runner, { actor: by.name, action: "approval.sign", subject: id, reason, details });
  } else {
    const signed = (await findApproval(runner, id))!;
    await end(deciding, signed, { by, reason, status });
  }
  const after = (await findApproval(runner, id))!;
  return { status: status === "pending" ? "signed" : "decided", approval: after.approval };
}
