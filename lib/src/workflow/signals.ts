// What the workflow room tells whoever listens, after the commit.
import { easeFields } from "../engine/handler/ease.ts";
import { metrics, signals } from "../engine/signals.ts";

export const workflowSignals = signals({
  "workflow.started": {
    meaning: "An execution began.",
    fields: {
      arn: "the execution",
      machineArn: "what it runs",
      workflow: "the machine's name",
      traceHeader: "the X-Amzn-Trace-Id that it was started with; null for none",
    },
  },
  "workflow.ended": {
    meaning: "An execution ended.",
    fields: {
      arn: "the execution",
      workflow: "the machine's name",
      status: "SUCCEEDED, FAILED, TIMED_OUT or ABORTED",
      durationMs: "from its start to its end",
    },
  },
  "workflow.attempt": {
    meaning: "A handler's attempt at a task ended, and what it came to is written.",
    fields: {
      workflow: "the machine's name",
      task: "the handler's name",
      state: "the state that called it",
      arn: "the execution",
      outcome: "succeeded or failed",
      error: "the error's name; empty where it succeeded",
      durationMs: "how long the handler took",
    },
  },
  "workflow.answered": {
    meaning: "A machine that runs elsewhere was told what a task of it came to.",
    fields: {
      workflow: "the machine's name",
      state: "the state that waits for the task",
      arn: "the execution",
      fate: "accepted, or closed where it did not wait (any more) for that answer",
    },
  },
  "workflow.taken_over": {
    meaning: "Calls of a process that died are made again by this one.",
    fields: { count: "how many" },
  },
  "workflow.eased": {
    meaning:
      "A process begins to carry out fewer steps of a workflow at once: the database is slower than it declares.",
    fields: { workflow: "the workflow's name", ...easeFields },
  },
  "workflow.recovered": {
    meaning: "It carries out as many again as were declared.",
    fields: { workflow: "the workflow's name", ...easeFields },
  },
  "workflow.near_limit": {
    meaning: "An execution has come half-way to a limit of Step Functions at which it will fail.",
    fields: {
      arn: "the execution",
      workflow: "the machine's name",
      limit: "what there is a limit of: history events, bytes of state data",
      used: "how much of it is used",
      most: "how much there may be",
    },
  },
  "workflow.forgotten": {
    meaning: "Executions that ended longer ago than they are kept were removed, with their histories.",
    fields: { count: "how many" },
  },
});

export const workflowMetrics = metrics({
  tuntas_workflow_executions_total: {
    kind: "counter",
    meaning: "Executions by what happened to them: STARTED, SUCCEEDED, FAILED, TIMED_OUT, ABORTED.",
    labels: ["workflow", "status"],
    from: [{ signal: "workflow.started", fixed: { status: "STARTED" } }, { signal: "workflow.ended" }],
    kept: true,
  },
  tuntas_workflow_execution_seconds: {
    kind: "histogram",
    meaning: "How long executions took from their start to their end.",
    labels: ["workflow", "status"],
    from: [{ signal: "workflow.ended" }],
  },
  tuntas_workflow_attempt_seconds: {
    kind: "histogram",
    meaning: "How long the handlers of tasks took.",
    labels: ["workflow", "state"],
    from: [{ signal: "workflow.attempt" }],
  },
  tuntas_workflow_attempts_total: {
    kind: "counter",
    meaning: "Attempts at tasks by state, outcome and the error's name; a Retry makes a further one.",
    labels: ["workflow", "state", "outcome", "error"],
    from: [{ signal: "workflow.attempt" }],
  },
  tuntas_workflow_answers_total: {
    kind: "counter",
    meaning: "Answers to machines that run elsewhere, by what became of them: accepted, closed.",
    labels: ["workflow", "state", "fate"],
    from: [{ signal: "workflow.answered" }],
  },
  tuntas_workflow_taken_over_total: {
    kind: "counter",
    meaning: "Calls of dead processes that were made again.",
    labels: [],
    from: [{ signal: "workflow.taken_over", amount: "count" }],
  },
  tuntas_workflow_running: {
    kind: "gauge",
    meaning: "Executions that run now.",
    labels: ["workflow"],
    kept: true,
  },
  tuntas_workflow_waiting: {
    kind: "gauge",
    meaning: "Executions that wait for somebody outside to answer with a token.",
    labels: ["workflow"],
    kept: true,
  },
  tuntas_workflow_oldest_age_seconds: {
    kind: "gauge",
    meaning: "Age of the oldest execution that runs.",
    labels: ["workflow"],
    kept: true,
  },
  tuntas_workflow_callback_wait_age_seconds: {
    kind: "gauge",
    meaning: "Age of the oldest execution that waits for somebody outside.",
    labels: ["workflow"],
    kept: true,
  },
});
