// What a caller of the outbox sees: what can be announced, how it is tried, and the error codes.
import { catalogue } from "../core/error.ts";
import type { Duration } from "../core/duration.ts";
import type { Announcement, Receipt, TargetName } from "../engine/target.ts";

export interface NewAnnouncement {
  readonly target: TargetName;
  /** Announcements of one target and key are published in their order; without a key there is none. */
  readonly key?: string;
  /** What happened, such as `OrderPlaced`. */
  readonly type?: string;
  /** Text, given to the target byte for byte. */
  readonly payload: string;
  /** A uuid that every delivery carries; made where it is not given. */
  readonly eventId?: string;
}

export interface Added {
  /** Empty where a backfill's handler would have announced it, and what it works on is no news. */
  readonly id: string;
  readonly eventId: string;
}

/** The type of an announcement whose key is the name of the execution that it starts. */
export const startExecutionType = "StartExecution";

/**
 * What starts executions: `workflowStarter(platform.workflows)`, or a function that calls Step Functions itself. The key
 * is the execution's name; a start under a name that is taken by the same start is a duplicate.
 */
export type Starter = (announcement: Announcement, signal: AbortSignal) => Promise<Receipt | void>;

export type { RefusalPolicy } from "../engine/target.ts";

/** Who answers for what a target refuses for good: of a declared endpoint, null of any other target. */
export interface Owned {
  readonly owner: string | null;
  /** What they read first: a path or an address. */
  readonly runbook: string | null;
}

export interface TargetStatus extends Owned {
  readonly target: TargetName;
  readonly waiting: number;
  readonly parked: number;
  /** How long the oldest waiting row has waited; null where none waits. */
  readonly oldestAgeMs: number | null;
}

export interface OutboxStatus {
  readonly targets: readonly TargetStatus[];
  /** How long the oldest open transaction that has written to the outbox has been open; its rows cannot be seen yet. */
  readonly openWriterAgeMs: number | null;
}

export interface ParkedRow extends Added, Owned {
  readonly target: TargetName;
  readonly key: string | null;
  readonly type: string | null;
  readonly payload: string;
  readonly refusals: number;
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly parkedAtMs: number;
}

/** A row as a person looks at it. */
export interface OutboxItem extends Added, Owned {
  readonly target: TargetName;
  readonly key: string | null;
  readonly type: string | null;
  readonly payload: string;
  /** `claimed`: on its way at this moment. `behind`: an earlier row of its key waits for another try. */
  readonly state: "waiting" | "claimed" | "behind" | "parked";
  readonly ageMs: number;
  /** When it is tried next; null for what is parked. */
  readonly dueInMs: number | null;
  readonly refusals: number;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
}

/** A text, or a function that says it at each request: a secret of the environment, an address that may change. */
export type Told<T = string> = T | (() => T | undefined);

export interface HttpEndpoint {
  /** Where it is. While a function says undefined, announcements wait. */
  readonly url: Told;
  /** A secret is told by a function, `() => process.env.CRM_TOKEN`; it is kept nowhere. */
  readonly headers?: Readonly<Record<string, Told>>;
  /** How long one request may take; 10s by default. */
  readonly timeout?: Duration;
  /** Status codes by which the endpoint says that it took the event before; none by default. */
  readonly duplicateStatus?: readonly number[];
  /** Status codes by which the endpoint says that it will never take the event: parked at once. None by default. */
  readonly permanentStatus?: readonly number[];
}

export interface EndpointOptions extends HttpEndpoint {
  /** How long one request may take, up to 30s. */
  readonly timeout: Duration;
  /**
   * How an event that the endpoint refuses (4xx) is tried again: parked after so many refusals, with a pause from `base` that
   * doubles up to `max`. An endpoint that cannot answer (5xx, 408, 429, no answer) costs an event nothing. Where an answer says
   * `Retry-After`, it is kept to, up to an hour.
   */
  readonly retry: { readonly refusals: number; readonly base: Duration; readonly max: Duration };
  readonly permanentStatus: readonly number[];
  /** Who acts when it has refused an announcement for good. */
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
}

/** A declared endpoint; a target of announcements by itself. */
export interface EndpointDefinition extends TargetName {
  readonly kind: "http";
  readonly name: string;
  readonly options: EndpointOptions;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

export const outboxErrors = catalogue({
  TUNTAS_OUTBOX_INVALID: {
    meaning: "An announcement has no target, or a text that cannot be stored.",
    remedy: "Name target kind and name; give key, type and payload as text without NUL or lone surrogates.",
  },
  TUNTAS_OUTBOX_REFUSED: {
    meaning: "The target refused an announcement for what it says.",
    remedy: "After its last try the row is parked: see its failure, mend the cause, and put it back.",
  },
  TUNTAS_OUTBOX_PERMANENT: {
    meaning: "The target answered that it will never take an announcement; the row is parked.",
    remedy: "See its failure and mend the cause; then put the row back, or discard it.",
  },
  TUNTAS_OUTBOX_OPTIONS: {
    meaning: "A declared endpoint leaves out what only its owner can decide, or says what cannot be.",
    remedy: "Correct what the message names.",
  },
  TUNTAS_OUTBOX_UNAVAILABLE: {
    meaning: "The target could not be reached or could not answer; the row waits and loses no try.",
    remedy: "See that the target runs; the relay tries again by itself.",
    retryable: true,
  },
  TUNTAS_OUTBOX_ROW: {
    meaning: "There is no such row in the outbox, or it is not parked.",
    remedy: "List what is there with `tuntas outbox list`; what was published is gone from it.",
  },
  TUNTAS_START_INVALID: {
    meaning: "A workflow's start is not small, stable and complete.",
    remedy: "Give ids and times of the command as text, no documents; the step loads current data itself.",
  },
  TUNTAS_START_CONFLICT: {
    meaning: "The command or the execution name was used before, for another start.",
    remedy: "Use a new command id for a new start.",
  },
});
