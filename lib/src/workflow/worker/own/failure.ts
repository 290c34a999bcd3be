// What a handler's throw means to the language: an error name that Retry and Catch know it by, and a cause in the words
// of a Lambda function, so that a document behaves here as it does on AWS.
import type { Failure } from "../../../asl/contract.ts";
import { isTuntasError } from "../../../core/error.ts";
import { Outcome, type OutcomeKind } from "../../../core/outcome.ts";
import { isTransient } from "../../../pg/faults.ts";

export interface TaskFailure extends Failure {
  /** No Retry applies. */
  readonly final?: boolean;
}

/** Trying again is of no use (a business no, poison), or must wait until somebody has looked (unknown). */
const finalKinds: ReadonlySet<OutcomeKind> = new Set(["rejected", "poison", "unknown"]);

const causeOf = (errorType: string, errorMessage: string, more: object = {}): string =>
  JSON.stringify({ errorType, errorMessage, ...more });

/** `class NoNumber extends Error` is NoNumber, whether or not it sets its name. */
const nameOf = (error: Error): string =>
  error.name !== "Error" && error.name !== "" ? error.name : (error.constructor?.name ?? "Error");

/** The database's collisions and absences, which end by themselves; a Retry may name them. */
export const transientName = "TransientDatabaseError";

export const ofOutcome = ({ kind, code, message }: Outcome): TaskFailure => ({
  error: code,
  cause: causeOf(code, message, { outcome: kind }),
  ...(finalKinds.has(kind) ? { final: true } : {}),
});

export function failureOf(thrown: unknown): TaskFailure {
  if (thrown instanceof Outcome) return ofOutcome(thrown);
  if (
    isTransient(thrown) ||
    (isTuntasError(thrown) && thrown.retryable && thrown.code.startsWith("TUNTAS_DATABASE"))
  )
    return { error: transientName, cause: causeOf(transientName, (thrown as Error).message) };
  if (isTuntasError(thrown)) return { error: thrown.code, cause: causeOf(thrown.code, thrown.message) };
  if (thrown instanceof Error) {
    const name = nameOf(thrown);
    return { error: name, cause: causeOf(name, thrown.message) };
  }
  return { error: "Error", cause: causeOf("Error", textOf(thrown)) };
}

/** Anything can be thrown: undefined, a cycle, an object whose toString throws. */
function textOf(thrown: unknown): string {
  try {
    return typeof thrown === "string" ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return "the handler threw a value that has no text";
  }
}
