// What is told of an attempt once its outcome is written: a signal for the figures, and a line in the log where the handler
// noted something. Nothing is said before the commit, so nothing is said that did not happen.
import { Outcome } from "../../../core/outcome.ts";
import { functionOf } from "../../definition/functions.ts";
import { workflowSignals } from "../../signals.ts";
import type { Called, Job } from "./attempt.ts";
import type { OwnContext } from "./context.ts";
import { failureOf, ofOutcome } from "./failure.ts";

/** The error's name that the language knows; undefined where the handler succeeded. */
function errorOf(called: Called): string | undefined {
  if (called === "expired" || called === "abandoned") return "States.Timeout";
  if ("thrown" in called) return failureOf(called.thrown).error;
  return called.value instanceof Outcome ? ofOutcome(called.value).error : undefined;
}

export interface Reported {
  readonly job: Job;
  readonly context: OwnContext;
  readonly called: Called;
  readonly durationMs: number;
}

export function report({ job: { execution, task }, context, called, durationMs }: Reported): void {
  const error = errorOf(called);
  const outcome = error === undefined ? "succeeded" : "failed";
  workflowSignals.publish("workflow.attempt", {
    workflow: execution.machineName,
    task: functionOf(task.resource, task.input) ?? task.stateName,
    state: task.stateName,
    arn: execution.id,
    outcome,
    error: error ?? "",
    durationMs,
  });
  const { noted, log, idempotencyKey, attempt } = context;
  if (!noted) return;
  const step = { event: "workflow.step", outcome, error, attempt, idempotencyKey, durationMs, ...noted };
  log.info(step, `${task.stateName} ${outcome}`);
}
