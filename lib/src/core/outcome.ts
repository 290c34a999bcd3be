// What a handler's call came to: a value, never a flag. A handler returns nothing (or its result) when it is done; it
// returns or throws one of the others. Only a call that is done commits its transaction: with any other outcome what it wrote by `tx`
// is undone, returned or thrown.
import type { Duration } from "./duration.ts";
import { toMs } from "./duration.ts";
import { TuntasError } from "./error.ts";

/** done, retry (try again later), conflict (somebody else was first; again soon), rejected (a business no), poison (can
 * never succeed as it is), unknown (nobody can say whether the effect took place), duplicate (was done before). */
export type OutcomeKind = "done" | "retry" | "conflict" | "rejected" | "poison" | "unknown" | "duplicate";

interface More {
  /** For `retry`: this delay instead of the worker's backoff. */
  readonly afterMs?: number | undefined;
  /** What was thrown, where it is no outcome and no error of ours: the log says where. */
  readonly cause?: Error | undefined;
}

export class Outcome {
  readonly kind: OutcomeKind;
  readonly code: string;
  readonly message: string;
  readonly afterMs: More["afterMs"];
  readonly cause: More["cause"];

  constructor(kind: OutcomeKind, code: string, message: string, more: More = {}) {
    this.kind = kind;
    // JavaScript callers, and thrown errors, may have anything there.
    this.code = String(code);
    this.message = String(message);
    this.afterMs = more.afterMs;
    this.cause = more.cause;
  }
}

export const done = new Outcome("done", "DONE", "");
export const duplicate = new Outcome("duplicate", "DUPLICATE", "its idempotency key was processed before");

/** Somebody else works under the same key at this moment: back soon, without counting a receive. */
export const busy = new Outcome(
  "conflict",
  "TUNTAS_KEY_BUSY",
  "another attempt works under the same idempotency key",
);

interface Because {
  /** Stable, in capitals: `CREDIT_LIMIT`. Failures are grouped by it. */
  readonly code: string;
  readonly message?: string;
}

/** Try again after the worker's backoff, or after `after`. */
export const retry = ({ code, message = "", after }: Because & { readonly after?: Duration }): Outcome =>
  new Outcome("retry", code, message, {
    afterMs: after === undefined ? undefined : toMs(after, "retry: after"),
  });

/** Somebody else changed the same thing first; try again soon. */
export const conflict = ({ code, message = "" }: Because): Outcome => new Outcome("conflict", code, message);

/** A business no: ends the message with its reason. No failure. */
export const rejected = ({ code, message = "" }: Because): Outcome => new Outcome("rejected", code, message);

/** Can never succeed as it is: ends as the queue's `poison` policy says. */
export const poison = ({ code, message = "" }: Because): Outcome => new Outcome("poison", code, message);

/** Nobody can say whether the effect took place: waits for a person, and is not tried again. */
export const unknown = ({ code, message = "" }: Because): Outcome => new Outcome("unknown", code, message);

const isCollision = (code: unknown): boolean => code === "40001" || code === "TUNTAS_DATABASE_BUSY";

/** What a thrown value means: an outcome is itself; a coded error that is final is poison; all else is worth another try. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  try {
    return classify(thrown);
  } catch {
    return new Outcome("retry", "THROWN", "the handler threw a value that cannot be read");
  }
}

function classify(thrown: unknown): Outcome {
  if (thrown instanceof Outcome) return thrown;
  if (thrown instanceof TuntasError) {
    if (isCollision(thrown.code)) return new Outcome("conflict", thrown.code, thrown.message);
    return new Outcome("retry", thrown.code, thrown.message);
  }
  if (thrown instanceof Error) {
    const code = (thrown as { code?: unknown }).code;
    const name = typeof code === "string" && code !== "" ? code : thrown.name;
    return new Outcome(isCollision(code) ? "conflict" : "retry", name, thrown.message, { cause: thrown });
  }
  return new Outcome("retry", "THROWN", describeThrown(thrown));
}

/** Its own message where it has one, else the names of its fields: what they hold may be nobody's business. */
function describeObject(thrown: object): string {
  const { message } = thrown as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const names = Object.keys(thrown).slice(0, 10);
  const fields =
    names.length > 0 ? `an object with ${names.join(", ")}` : Object.prototype.toString.call(thrown);
  return `${fields}, which is no Error and says no message`;
}

/** Anything can be thrown: undefined, a cycle, an object whose toString throws. */
function describeThrown(thrown: unknown): string {
  try {
    return `the handler threw ${typeof thrown === "object" && thrown !== null ? describeObject(thrown) : String(thrown)}`;
  } catch {
    return "the handler threw a value that has no text";
  }
}

/** What a returned value means. */
export const outcomeOfReturned = (returned: unknown): Outcome =>
  returned instanceof Outcome ? returned : done;
