// What is told of an attempt once its outcome is written: a signal for the figures, and a line in the log where the handler
// noted something. Nothing is said before the commit, so nothing is said that did not happen.
import { Outcome } from "../../../core/outcome.ts";
import type { TaskContext } from "../../declaration.ts";
import { workflowSignals } from "../../signals.ts";
import { failureOf, ofOutcome } from "./failure.ts";

export type Called =
  | { readonly value: unknown }
  | { readonly thrown: unknown }
  /** It took too long, or is nobody's business any more. */
  | "expired"
  | "abandoned";

/** The error's name that the language knows; undefined where the handler succeeded. */
function errorOf(called: Called): string | undefined {
  if (called === "expired" || called === "abandoned") return "States.Timeout";
  if ("thrown" in called) return failureOf(called.thrown).error;
  return called.value instanceof Outcome ? ofOutcome(called.value).error : undefined;
}

export interface Reported {
  /** The handler's name. */
  readonly task: string;
  readonly context: TaskContext & { readonly noted: Readonly<Record<string, unknown>> | undefined };
  readonly called: Called;
  readonly durationMs: number;
}

export function report({ task, context, called, durationMs }: Reported): void {
  const error = errorOf(called);
  const outcome = error === undefined ? "succeeded" : "failed";
  const { noted, log, idempotencyKey, attempt, workflowName, stateName, execution } = context;
  workflowSignals.publish("workflow.attempt", {
    workflow: workflowName,
    task,
    state: stateName,
    arn: execution.arn,
    outcome,
    error: error ?? "",
    durationMs,
  });
  if (!noted) return;
  const step = { event: "workflow.step", outcome, error, attempt, idempotencyKey, durationMs, ...noted };
  log.info(step, `${stateName} ${outcome}`);
}
