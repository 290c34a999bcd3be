// An operation, for a person.
import type { Operation } from "tuntas/operation";
import type { Answer } from "../../command.ts";
import { facts, instant } from "../../render.ts";

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
      selection: JSON.stringify(operation.selection),
    }),
    status: state === "failed" || state === "aborted" || state === "declined" ? 1 : 0,
  };
}
