// Who may sign, and what a signature comes to. Pure.
import type { Approval, Decider, DecisionWord, Person, Standing } from "./contract.ts";

const matches = ({ kind, name }: Decider, { name: own, roles = [], groups = [] }: Person): boolean =>
  kind === "person" ? name === own : (kind === "role" ? roles : groups).includes(name);

/** What the person may do with the request at this moment. */
export function standingOf(approval: Approval, person: Person): Standing {
  if (approval.status !== "pending") return "over";
  if (person.name === approval.requestedBy) return "requester";
  if (approval.signatures.some(({ name }) => name === person.name)) return "signed";
  if (approval.deciders.some(({ insteadOf }) => insteadOf === person.name)) return "delegated";
  const isDecider = approval.deciders.some((decider) => decider.active && matches(decider, person));
  return isDecider ? "may sign" : "not a decider";
}

/** Whether the same person said the same before, so that this is its repeat. */
export const isRepeat = (approval: Approval, person: Person, decision: DecisionWord): boolean =>
  approval.signatures.some((each) => each.name === person.name && each.decision === decision);

/** What one more signature makes of the request. One no is enough; a yes needs all signatures. */
export const statusWith = (
  approval: Approval,
  decision: DecisionWord,
): "pending" | "approved" | "rejected" =>
  decision === "reject" ? "rejected" : approval.signaturesMissing <= 1 ? "approved" : "pending";

/** What the execution is told, as a task's output or failure. */
export type Told =
  | { readonly output: Readonly<Record<string, unknown>> & object }
  | { readonly error: string; readonly cause: string };

export function toldOf(approval: Approval, decidedAt: string): Told {
  const { id, status, subject, signatures, endedReason } = approval;
  if (status === "expired")
    return { error: "States.Timeout", cause: `nobody decided approval ${id} of ${subject} by ${decidedAt}` };
  if (status === "withdrawn")
    return {
      error: "ApprovalWithdrawn",
      cause: `approval ${id} of ${subject} was withdrawn: ${endedReason}`,
    };
  const decision = status === "approved" ? "APPROVED" : "REJECTED";
  const last = signatures.at(-1)!;
  const decidedBy = signatures.map(({ name }) => name);
  return { output: { approvalId: id, decision, decidedBy, decidedAt, reason: last.reason } };
}
