import type { Approval, ApprovalStatus, InboxItem } from "tuntas/workflow";
import type { Reasoned } from "./basics.ts";

export type { Approval, ApprovalStatus, InboxItem };

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
    answer: { readonly items: readonly InboxItem[]; readonly more: boolean };
  };
  approval: { query: { readonly id: string }; answer: InboxItem };
}

export interface ApprovalActs {
  "approval.decide": {
    body: ApprovalName & Reasoned & { readonly decision: "approve" | "reject" };
    answer: { readonly status: "signed" | "decided" | "duplicate"; readonly missing: number };
  };
  "approval.escalate": { body: ApprovalName & Reasoned; answer: Approval };
  "approval.withdraw": { body: ApprovalName & Reasoned; answer: Approval };
}
