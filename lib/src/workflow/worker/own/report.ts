// What is told of an attempt once its outcome is written: a signal for the figures, and a line in the log where it failed
// or the handler noted something. Nothing is said before the commit, so nothing is said that did not happen.
import { isTuntasError } from "../../../core/error.ts";
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

interface Failed {
  /** The name that the language knows. */
  readonly error: string | undefined;
  readonly reason?: string;
  readonly stack?: string | undefined;
}

/** Undefined where the handler succeeded. */
function failureIn(called: Called): Failed | undefined {
  if (called === "expired" || called === "abandoned") return { error: "States.Timeout" };
  if (!("thrown" in called))
    return called.value instanceof Outcome
      ? { error: ofOutcome(called.value).error, reason: called.value.message }
      : undefined;
  const { thrown } = called;
  const { error } = failureOf(thrown);
  if (thrown instanceof Outcome) return { error, reason: thrown.message };
  if (!(thrown instanceof Error)) return { error };
  return { error, reason: thrown.message, ...(!isTuntasError(thrown) && { stack: thrown.stack }) };
}

export interface Reported {
  /** The handler's name. */
  readonly task: string;
  readonly context: TaskContext & { readonly noted: Readonly<Record<string, unknown>> | undefined };
  readonly called: Called;
  readonly durationMs: number;
}

export function report({ task, context, called, durationMs }: Reported): void {
  const failure = failureIn(called);
  const outcome = failure ? "failed" : "succeeded";
  const { noted, log, idempotencyKey, attempt, workflowName, stateName, execution } = context;
  workflowSignals.publish("workflow.attempt", {
    workflow: workflowName,
    task,
    state: stateName,
    arn: execution.arn,
    outcome,
    error: failure?.error ?? "",
    durationMs,
  });
  const { reason, ...known } = failure ?? {};
  const step = { event: "workflow.step", outcome, attempt, idempotencyKey, durationMs, ...known, ...noted };
  if (failure) log.warn(step, `${stateName} failed: ${reason || failure.error}`);
  else if (noted) log.info(step, `${stateName} succeeded`);
}
