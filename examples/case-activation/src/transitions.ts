// What may become of a case: one table of guarded transitions. Pure.
export const statuses = [
  "DRAFT",
  "NUMBER_RESERVED",
  "JURISDICTION_VALIDATED",
  "JURISDICTION_REJECTED",
  "DUPLICATE_CHECK_PASSED",
  "NEEDS_REVIEW",
  "NEEDS_APPROVAL",
  "APPROVED",
  "REJECTED",
  "NOTICE_GENERATED",
  "NOTICE_SENT",
  "ACTIVE",
  "CANCELLED",
  "EXPIRED",
] as const;

export type Status = (typeof statuses)[number];

interface Transition {
  readonly from: readonly Status[];
  readonly to: Status;
}

const open: readonly Status[] = [
  "DRAFT",
  "NUMBER_RESERVED",
  "JURISDICTION_VALIDATED",
  "DUPLICATE_CHECK_PASSED",
  "NEEDS_REVIEW",
  "NEEDS_APPROVAL",
  "APPROVED",
  "NOTICE_GENERATED",
  "NOTICE_SENT",
];

export const transitions = {
  reserveNumber: { from: ["DRAFT"], to: "NUMBER_RESERVED" },
  validateJurisdiction: { from: ["NUMBER_RESERVED"], to: "JURISDICTION_VALIDATED" },
  rejectJurisdiction: { from: ["NUMBER_RESERVED"], to: "JURISDICTION_REJECTED" },
  passDuplicateCheck: { from: ["JURISDICTION_VALIDATED"], to: "DUPLICATE_CHECK_PASSED" },
  needReview: { from: ["JURISDICTION_VALIDATED"], to: "NEEDS_REVIEW" },
  requestApproval: { from: ["DUPLICATE_CHECK_PASSED", "NEEDS_REVIEW"], to: "NEEDS_APPROVAL" },
  /** In the short process, which goes from the number straight to the supervisor, and from the yes to the end. */
  requestShortApproval: { from: ["NUMBER_RESERVED"], to: "NEEDS_APPROVAL" },
  activateShort: { from: ["APPROVED"], to: "ACTIVE" },
  approve: { from: ["NEEDS_APPROVAL"], to: "APPROVED" },
  reject: { from: ["NEEDS_APPROVAL"], to: "REJECTED" },
  generateNotice: { from: ["APPROVED"], to: "NOTICE_GENERATED" },
  sendNotice: { from: ["NOTICE_GENERATED"], to: "NOTICE_SENT" },
  activate: { from: ["NOTICE_SENT"], to: "ACTIVE" },
  /** By a person, at any time before the end; or by the workflow, of what was rejected. */
  cancel: { from: [...open, "REJECTED", "JURISDICTION_REJECTED"], to: "CANCELLED" },
  expire: { from: open, to: "EXPIRED" },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof transitions;

/** After these nothing happens to a case any more. */
export const finalStatuses: readonly Status[] = ["ACTIVE", "CANCELLED", "EXPIRED"];

/** `moves`; `was so already` (a repeat); `over` (somebody ended the case meanwhile); `invalid` (a fault of the process). */
export type Guard = "moves" | "was so already" | "over" | "invalid";

export function guard(name: TransitionName, status: Status): Guard {
  const { from, to }: Transition = transitions[name];
  if (from.includes(status)) return "moves";
  if (status === to) return "was so already";
  return status === "CANCELLED" || status === "EXPIRED" ? "over" : "invalid";
}
