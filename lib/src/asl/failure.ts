// Errors inside an execution. They are thrown by whatever evaluates a state and caught in one place, where Retry and
// Catch decide; they never leave the language.
import type { Failure } from "./contract.ts";

interface FailureOptions {
  /** Where the failing field stands, for the EvaluationFailed event: 'Arguments/FunctionName'. */
  readonly location?: string;
  /** The cause begins with the sentence that names the state and its event. */
  readonly placed?: boolean;
  /** A query failed, which the history shows as EvaluationFailed. */
  readonly evaluation?: boolean;
  /** What stands before the cause is already an event of its own (TaskFailed …). */
  readonly recorded?: boolean;
  /** Ends the execution whatever the state catches. */
  readonly terminal?: boolean;
  /** May be caught, but not tried again. */
  readonly final?: boolean;
  /** A second name that catchers may know the error by: a missed heartbeat is shown as States.Timeout. */
  readonly alias?: string;
}

export class StateFailure extends Error {
  readonly failure: Failure;
  readonly options: FailureOptions;

  constructor(failure: Failure, options: FailureOptions = {}) {
    super(failure.cause ?? failure.error ?? "failed");
    this.failure = failure;
    this.options = options;
  }
}

/** A mistake of the definition or its data that shows at run time. No Retry or Catch applies, not even by its name. */
export const runtimeFailure = (cause: string): StateFailure =>
  new StateFailure({ error: "States.Runtime", cause }, { placed: true, terminal: true });

export const intrinsicFailure = (cause: string): StateFailure =>
  new StateFailure({ error: "States.IntrinsicFailure", cause }, { placed: true });

export const queryFailure = (cause: string, location?: string): StateFailure =>
  new StateFailure(
    { error: "States.QueryEvaluationError", cause },
    { placed: true, evaluation: true, ...(location === undefined ? {} : { location }) },
  );

/** Errors that States.ALL does not stand for. */
const beyondAll = new Set(["States.DataLimitExceeded", "States.Runtime"]);

/** Whether an ErrorEquals list of a Retry or Catch means this error. */
export function matchesError(names: readonly string[], { failure, options }: StateFailure): boolean {
  const error = failure.error ?? "";
  return names.some((name) => {
    if (name === failure.error || name === options.alias) return true;
    if (name === "States.ALL") return !beyondAll.has(error);
    return name === "States.TaskFailed" && error !== "States.Timeout" && !beyondAll.has(error);
  });
}
