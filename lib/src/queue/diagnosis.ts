// The signs that something poisons a queue, found in what two looks at it saw. Pure.
import { counted } from "../core/text.ts";

/** What one look at a queue saw. */
export interface Observation {
  readonly queue: string;
  readonly ready: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** Age of the oldest message that is not a dead letter; null where there is none. */
  readonly oldestAgeMs: number | null;
  readonly receivesMax: number | null;
  /** Messages received twice or more, and the one received most often. */
  readonly redelivered: number;
  readonly mostReceived: { readonly messageId: string; readonly receives: number } | null;
  /** Messages that one more receive or the next makes dead. */
  readonly nearMaximum: number;
  /** The most frequent failure that can never succeed. */
  readonly deterministic: {
    readonly fingerprint: string;
    readonly messages: number;
    readonly attempts: number;
  } | null;
  readonly dead: number;
  /** Dead letters that failed last within five minutes. */
  readonly deadLately: number;
  readonly quarantined: number;
  /** Ids at the front of the queue, to see in the next look which have left it. */
  readonly front: readonly string[];
  /** How many of the ids at the front in the look before have left the queue since. */
  readonly left: number;
}

export type SignCode =
  "REDELIVERED" | "NEAR_MAXIMUM" | "DETERMINISTIC_FAILURE" | "AGE_RISING" | "DEAD_LETTERS_GROWING";

export interface Sign {
  readonly code: SignCode;
  readonly text: string;
}

const were = (count: number): string => (count === 1 ? "was" : "were");

type Look = (now: Observation, before: Observation | undefined) => string | undefined;

const looks: Readonly<Record<SignCode, Look>> = {
  REDELIVERED: ({ redelivered, mostReceived }) =>
    redelivered > 0
      ? `${counted(redelivered, "message")} ${were(redelivered)} received again; ${mostReceived!.messageId} ${counted(mostReceived!.receives, "time")}`
      : undefined,
  NEAR_MAXIMUM: ({ nearMaximum, receivesMax }) =>
    nearMaximum > 0
      ? `${counted(nearMaximum, "message")} ${nearMaximum === 1 ? "is" : "are"} about to die: received ${receivesMax! - 1} of ${receivesMax} times or more`
      : undefined,
  DETERMINISTIC_FAILURE: ({ deterministic }) =>
    deterministic && Math.max(deterministic.messages, deterministic.attempts) > 1
      ? `${counted(deterministic.messages, "message")} failed ${counted(deterministic.attempts, "time")} in one way that no repetition mends: ${deterministic.fingerprint}`
      : undefined,
  AGE_RISING: ({ oldestAgeMs, left }, before) =>
    left > 0 && (oldestAgeMs ?? 0) > (before?.oldestAgeMs ?? Infinity)
      ? `the oldest message is ${Math.round(oldestAgeMs! / 1000)} s old and gets older, though ${counted(left, "other")} ${were(left)} finished meanwhile`
      : undefined,
  DEAD_LETTERS_GROWING: ({ dead, deadLately }, before) =>
    deadLately > 0 || (before && dead > before.dead)
      ? `${counted(Math.max(deadLately, dead - (before?.dead ?? dead)), "message")} died lately; ${dead} ${dead === 1 ? "lies" : "lie"} in the dead-letter queue`
      : undefined,
};

/** The signs that are to be seen; what needs two looks only shows with the one before. */
export const signsOf = (now: Observation, before: Observation | undefined): Sign[] =>
  (Object.entries(looks) as [SignCode, Look][]).flatMap(([code, look]) => {
    const text = look(now, before);
    return text === undefined ? [] : [{ code, text }];
  });
