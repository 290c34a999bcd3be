// An operation, for a person.
import type { Operation } from "tuntas/operation";
import type { Answer } from "../../command.ts";
import { facts, instant, spoken } from "../../render.ts";

function conditionText([name, value]: readonly [string, unknown]): string {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return selectionText(value);
  const isInstant = name.endsWith("Ms") && typeof value === "number";
  return isInstant ? `${spoken(name.slice(0, -2))} ${instant(value)}` : `${spoken(name)} ${String(value)}`;
}

/** Whom it takes in: `queue order-work, code DB_DOWN, until 2026-11-30T18:28:59Z`. */
export const selectionText = (selection: object): string =>
  Object.entries(selection)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(conditionText)
    .join(", ");

/** What it came to; 1 where it did not end well. */
export function answerOf(operation: Operation): Answer {
  const { id, kind, state, done, refused, skipped, selected, actor, reason, perSecond, failure } = operation;
  return {
    document: operation,
    text: facts({
      operation: id,
      kind,
      state,
      progress: `${done} done, ${refused} refused, ${skipped} skipped, of ${selected}`,
      "asked for by": `${actor}: ${reason}`,
      "decided by": operation.decidedBy,
      rate: perSecond === null ? "as fast as it goes" : `${perSecond} a second`,
      asked: instant(operation.askedAtMs),
      ended: instant(operation.endedAtMs),
      failure,
      selection: selectionText(operation.selection as object),
    }),
    status: state === "failed" || state === "aborted" || state === "declined" ? 1 : 0,
  };
}
