import { metrics, signals } from "../../engine/signals.ts";

const id = "the request's id";
const workflow = "the workflow's name";
const task = "the task that asks";

/** What approvals announce. A decision in a caller's own transaction tells of it before that commits. */
export const approvalSignals = signals({
  "approval.signed": {
    meaning: "Somebody signed a request.",
    fields: { id, workflow, task, decision: "approve or reject" },
  },
  "approval.ended": {
    meaning: "A request is over.",
    fields: {
      id,
      workflow,
      task,
      status: "approved, rejected, expired or withdrawn",
      durationMs: "how long it was pending",
    },
  },
  "approval.escalated": { meaning: "A request was escalated.", fields: { id, workflow, task } },
  "approval.refused": {
    meaning: "A decision was refused: it was late, a second one, the requester's own, or nobody's to take.",
    fields: { id, workflow, task, code: "the error's code" },
  },
  "approval.told": {
    meaning: "An execution was told what its request came to.",
    fields: { id, workflow, task, taken: "false where it no longer waited" },
  },
});

export const approvalMetrics = metrics({
  tuntas_approvals_total: {
    kind: "counter",
    meaning: "Requests that are over, by what they came to.",
    labels: ["workflow", "task", "status"],
    from: [{ signal: "approval.ended" }],
    kept: true,
  },
  tuntas_approval_seconds: {
    kind: "histogram",
    meaning: "How long requests were pending.",
    labels: ["workflow", "task"],
    from: [{ signal: "approval.ended" }],
  },
  tuntas_approvals_refused_total: {
    kind: "counter",
    meaning: "Decisions that were refused.",
    labels: ["workflow", "code"],
    from: [{ signal: "approval.refused" }],
  },
  tuntas_approvals_pending: {
    kind: "gauge",
    meaning: "Requests that wait for a decision.",
    labels: ["workflow", "task"],
    kept: true,
  },
  tuntas_approvals_overdue: {
    kind: "gauge",
    meaning: "Pending requests that are past their due time.",
    labels: ["workflow", "task"],
    kept: true,
  },
  tuntas_approval_wait_age_seconds: {
    kind: "gauge",
    meaning: "Age of the oldest pending request.",
    labels: ["workflow", "task"],
    kept: true,
  },
});
