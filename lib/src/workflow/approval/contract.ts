// What a caller of approvals sees: who decides, what a request looks like, what a decision comes to, and the error codes.
import { catalogue } from "../../core/error.ts";
import type { Json } from "../../asl/contract.ts";
import type { Duration } from "../../core/duration.ts";
import type { TargetName } from "../../engine/target.ts";
import type { Queryable } from "../../pg/contract.ts";

/** Whoever has one of the names, roles or groups. */
export interface Deciders {
  readonly people?: readonly string[];
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

/** Somebody who asks or decides, as the application has authenticated them. */
export interface Person {
  readonly name: string;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "withdrawn";
export type DecisionWord = "approve" | "reject";

export interface Decider {
  readonly kind: "person" | "role" | "group";
  readonly name: string;
  readonly via: "request" | "escalation" | "delegation";
  readonly sinceMs: number;
  /** False while its time (an escalation's) has not come. */
  readonly active: boolean;
  readonly insteadOf: string | null;
}

export interface Signature {
  readonly name: string;
  readonly decision: DecisionWord;
  readonly reason: string;
  readonly signedAtMs: number;
}

export interface Approval {
  readonly id: string;
  readonly workflow: string;
  readonly task: string;
  readonly executionArn: string;
  readonly subject: string;
  readonly requestedBy: string;
  readonly evidence: Json;
  readonly holds: readonly string[];
  readonly status: ApprovalStatus;
  /** True where only the application that declared it may decide, because it changes its domain with the decision. */
  readonly guarded: boolean;
  readonly signaturesNeeded: number;
  readonly signatures: readonly Signature[];
  /** How many more people must say yes. */
  readonly signaturesMissing: number;
  readonly deciders: readonly Decider[];
  readonly requestedAtMs: number;
  readonly dueAtMs: number;
  readonly escalateAtMs: number | null;
  readonly escalatedAtMs: number | null;
  readonly expiresAtMs: number;
  readonly ageMs: number;
  readonly overdue: boolean;
  readonly endedAtMs: number | null;
  readonly endedReason: string | null;
  /** When the execution was told; null while that is under way. */
  readonly toldAtMs: number | null;
  /** Whether the execution still waits for it. A pending request that nobody waits for cannot be decided. */
  readonly waiting: boolean;
}

/** Why somebody may not sign a request, or that they may. */
export type Standing = "may sign" | "requester" | "signed" | "delegated" | "not a decider" | "over";

/** A request as one person sees it. */
export interface InboxItem extends Approval {
  /** Undefined where the list was asked for nobody in particular. */
  readonly standing: Standing | undefined;
}

export interface ListOptions {
  /** Only what this person may sign now. */
  readonly for?: Person;
  readonly overdue?: boolean;
  /** Pending by default. */
  readonly status?: ApprovalStatus | "any";
  readonly subject?: string;
  readonly workflow?: string;
  readonly executionArn?: string;
  readonly limit?: number;
  readonly offset?: number;
}

export interface Decision {
  readonly by: Person;
  readonly decision: DecisionWord;
  readonly reason: string;
  /** Decides in this transaction: what the execution is told leaves with its commit. */
  readonly tx?: Queryable;
}

/** `signed`: others must sign too. `decided`: it is over. `duplicate`: the same person said the same before. */
export interface DecideAnswer {
  readonly status: "signed" | "decided" | "duplicate";
  readonly approval: Approval;
}

/** What an application does with the decision, in the deciding transaction; a throw undoes the decision. */
export type DecidedHook = (
  tx: Queryable,
  decided: { readonly approval: Approval; readonly status: "approved" | "rejected" },
) => Promise<unknown> | unknown;

export interface Act {
  readonly by: Person;
  readonly reason: string;
}

export interface NewApproval {
  readonly workflow: string;
  readonly task: string;
  readonly executionArn: string;
  readonly tokenReference: string;
  readonly subject: string;
  readonly requestedBy: string;
  readonly deciders: Deciders;
  /** How many different people must say yes; 1 by default. */
  readonly signatures?: number;
  readonly evidence?: unknown;
  readonly due: Duration;
  readonly escalation?: { readonly after: Duration; readonly to: Deciders };
  /** When nobody has decided by then. The task's own TimeoutSeconds, where that is sooner. */
  readonly expires: Duration;
  /** Reservations to keep alive while it is pending; given back where it ends without a yes. */
  readonly holds?: readonly string[];
  readonly guarded?: boolean;
  /** Who is told of requests, escalations and expiries. */
  readonly notify?: TargetName;
}

export const approvalErrors = catalogue({
  TUNTAS_APPROVAL_INVALID: {
    meaning: "An approval is asked for, or decided, with something missing or out of range.",
    remedy: "Mend what the message names; nothing was written.",
  },
  TUNTAS_APPROVAL_MISSING: {
    meaning: "There is no approval of that id.",
    remedy: "`tuntas approval list --status any` shows them all.",
  },
  TUNTAS_APPROVAL_OWN: {
    meaning: "Whoever asked for an approval cannot give it.",
    remedy: "Let somebody else among its deciders decide, or delegate to one.",
  },
  TUNTAS_APPROVAL_DENIED: {
    meaning: "The person is not among those who may decide.",
    remedy: "`tuntas approval show` names them; one of them may delegate.",
  },
  TUNTAS_APPROVAL_SIGNED: {
    meaning: "The person has signed before, and each signature must be another person's.",
    remedy: "Let another of the deciders sign.",
  },
  TUNTAS_APPROVAL_OVER: {
    meaning: "The approval has been decided, has expired or was withdrawn: a decision is taken once.",
    remedy: "Its details say what it came to, when and by whom; a new question needs a new request.",
  },
  TUNTAS_APPROVAL_LATE: {
    meaning: "The execution no longer waits for this decision: it timed out, was stopped or failed.",
    remedy: "See the execution; where it is redriven, it asks anew.",
  },
  TUNTAS_APPROVAL_ELSEWHERE: {
    meaning: "The application changes its own data with this decision, and does not run in this process.",
    remedy: "Decide through the application's own API, or name its file with --app.",
  },
});
