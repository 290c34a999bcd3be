import type { Approval, ApprovalStatus, InboxItem } from "tuntas/workflow";
import type { Reasoned } from "./basics.ts";

export type { Approval, ApprovalStatus, InboxItem };

export interface ApprovalView extends InboxItem {
  /** False where the application has a part in the decision and does not run in the console's process. */
  readonly decidedHere: boolean;
}

interface ApprovalName {
  readonly id: string;
  /**
   * In whose place, `person:dewi`, `role:manager` or `group:finance`; heeded only where nobody signs in, as the command
   * heeds --actor.
   */
  readonly as?: string;
}

export interface ApprovalReads {
  approvals: {
    query: {
      /** Pending by default. */
      readonly status?: ApprovalStatus | "any";
      readonly overdue?: "true";
      /** Only what whoever asks may sign. */
      readonly mine?: "true";
      readonly workflow?: string;
      readonly subject?: string;
    };
    answer: { readonly items: readonly ApprovalView[]; readonly more: boolean };
  };
  approval: { query: { readonly id: string }; answer: ApprovalView };
}

export interface ApprovalActs {
  "approval.decide": {
    body: ApprovalName & Reasoned & { readonly decision: "approve" | "reject" };
    answer: { readonly status: "signed" | "decided" | "duplicate"; readonly missing: number };
  };
  "approval.escalate": { body: ApprovalName & Reasoned; answer: Approval };
  "approval.withdraw": { body: ApprovalName & Reasoned; answer: Approval };
}
