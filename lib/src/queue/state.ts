// The pure decisions about a message: what an outcome makes of it, and what groups failures of one cause.
import type { Backoff } from "../core/backoff.ts";
import { backoffMs } from "../core/backoff.ts";
import { counted } from "../core/text.ts";
import type { PoisonPolicy, QueueRecord } from "./contract.ts";
import { busy, type Outcome } from "../core/outcome.ts";

/** What is to be written about an attempt. */
export type Settlement =
  | { readonly kind: "done" }
  | { readonly kind: "retry"; readonly delayMs: number; readonly counts: boolean }
  | { readonly kind: "quarantine" }
  | { readonly kind: "reject" };

export interface SettlePolicy {
  readonly backoff: Backoff;
  readonly poison: PoisonPolicy;
}

// No message lives longer than 14 days, whatever a handler asks for.
const delayMaxMs = 14 * 86_400_000;

// A conflict is nobody's fault and usually over at once.
const conflictBackoff: Backoff = { baseMs: 100, maxMs: 5000 };

/** The total match from outcome to one store call; `receives` counts this attempt, `random` is in [0, 1). */
export function decide(outcome: Outcome, receives: number, policy: SettlePolicy, random: number): Settlement {
  switch (outcome.kind) {
    case "done":
    case "duplicate":
      return { kind: "done" };
    case "rejected":
      return { kind: "reject" };
    case "unknown":
      return { kind: "quarantine" };
    case "poison":
      // Exhausting: received again at once until the dead-letter queue takes it; waiting would not make it better.
      return policy.poison === "quarantine"
        ? { kind: "quarantine" }
        : { kind: "retry", delayMs: 0, counts: true };
    case "conflict":
      return {
        kind: "retry",
        delayMs: backoffMs(conflictBackoff, receives, random),
        counts: outcome !== busy,
      };
    case "retry":
      return {
        kind: "retry",
        delayMs: Math.min(outcome.afterMs ?? backoffMs(policy.backoff, receives, random), delayMaxMs),
        counts: true,
      };
  }
}

/**
 * What the log adds of a poison message. Undefined while it is to be received again at once, until its dead-letter queue takes it:
 * then the last line is for all of them.
 */
export function poisonFate(
  { poison }: SettlePolicy,
  { receivesMax, deadLetterName }: Pick<QueueRecord, "receivesMax" | "deadLetterName">,
  receives: number,
): string | undefined {
  if (poison === "quarantine") return "; no repetition mends that, so it is put aside in quarantine";
  if (receivesMax === null) return "; no repetition mends that, and no dead-letter queue is there to take it";
  if (receives < receivesMax) return undefined;
  return `; received ${counted(receives, "time")} without a pause, since none would mend it; it goes to ${deadLetterName}`;
}

/** The message of a failure with its variable parts taken out, so that failures of one cause fall together. */
export function fingerprint(code: string, message: string): string {
  const shape = message
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "<uuid>")
    .replaceAll(/"[^"]*"|'[^']*'/g, "<text>")
    .replaceAll(/\d+/g, "<n>");
  return `${code}: ${shape}`.slice(0, 200);
}
