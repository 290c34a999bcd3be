// What a caller of changes sees: how one is declared, how far it has come, and the error codes.
import type { Duration } from "../core/duration.ts";
import { catalogue } from "../core/error.ts";
import type { JsonSchema, Schema } from "../core/schema.ts";
import type { QueueDefinition } from "../queue/declaration.ts";

/** The steps that are recorded, in their order. */
export const stepsOf = {
  column: ["added", "written", "filled", "read", "verified", "removed"],
  message: ["taken", "checked", "sent", "watched", "drained"],
} as const;

export type ChangeKind = keyof typeof stepsOf;
export type ChangeStep = (typeof stepsOf)[ChangeKind][number];

/**
 * What a release of the application does. `old`: as before the change. `both`: writes both columns and reads the old one; takes both
 * messages and sends the old one. `switched`: still writes or takes both, and reads or sends the new one. `new`: the new one alone.
 */
export const releases = ["old", "both", "switched", "new"] as const;
export type Release = (typeof releases)[number];

export interface ColumnChange {
  /** With its schema, which is that of the application's migrations: `shop.item`. */
  readonly table: string;
  readonly from: string;
  readonly to: string;
  /** A condition in SQL that holds for each row that is right; by default that both columns hold the same. */
  readonly same?: string;
}

export interface MessageChange {
  readonly queue: QueueDefinition<any>;
  /** What is sent before the change. */
  readonly from: Schema<any, any>;
  /** What is sent after it. */
  readonly to: Schema<any, any>;
}

export interface ColumnChangeOptions {
  readonly column: ColumnChange;
  /** What fills the rows of before; "none" where there are none to fill. */
  readonly backfill: { readonly kind: "backfill"; readonly name: string } | "none";
  readonly release: Release;
}

export interface MessageChangeOptions {
  readonly message: MessageChange;
  /** For how long the queue must have been quiet after all senders have switched. */
  readonly watch: Duration;
  readonly release: Release;
}

export type ChangeOptions = ColumnChangeOptions | MessageChangeOptions;

export interface ColumnSpec {
  readonly kind: "column";
  readonly table: string;
  readonly from: string;
  readonly to: string;
  readonly same: string;
  readonly backfill: string | null;
}

export interface MessageSpec {
  readonly kind: "message";
  readonly queue: string;
  readonly from: JsonSchema;
  readonly to: JsonSchema;
  readonly watchMs: number;
}

export type ChangeSpec = ColumnSpec | MessageSpec;

export interface ChangeDefinition {
  readonly kind: "change";
  readonly name: string;
  readonly options: ChangeOptions;
  readonly spec: ChangeSpec;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

/** How a step was come to. */
export interface Reached {
  readonly atMs: number;
  readonly by: string;
  readonly reason: string;
  /** What was seen. */
  readonly found: readonly string[];
}

export interface LiveRelease {
  /** Such as `shop (pid 7 on host)`. */
  readonly process: string;
  readonly release: Release;
}

export interface ChangeReport {
  readonly name: string;
  readonly spec: ChangeSpec;
  /** Null where it has not begun. */
  readonly step: ChangeStep | null;
  /** Null where it is over. */
  readonly next: ChangeStep | null;
  readonly steps: Readonly<Partial<Record<ChangeStep, Reached>>>;
  /** The releases that may start now. */
  readonly mayStart: readonly Release[];
  readonly live: readonly LiveRelease[];
}

/** A look at what the next step needs. */
export interface Outlook {
  readonly found: readonly string[];
  /** Empty where the step can be taken. */
  readonly lacks: readonly string[];
}

export const changeErrors = catalogue({
  TUNTAS_CHANGE_OPTIONS: {
    meaning:
      "The declaration of a change is not complete, or not the one that the database has under its name.",
    remedy: "Correct the named field; another change takes another name.",
  },
  TUNTAS_CHANGE_SHAPE: {
    meaning: "The messages of a change do not fit what its queue takes: they would become poison.",
    remedy:
      "Let the queue's schema take the old and the new message: a new field has a default or is optional.",
  },
  TUNTAS_CHANGE_MISSING: {
    meaning: "There is no change of that name.",
    remedy: "See them with `tuntas change list`; it is there once a process that declares it has started.",
  },
  TUNTAS_CHANGE_SKIPPED: {
    meaning: "A change was to come to another step than the next one.",
    remedy: "Take the steps in their order; `tuntas change show NAME` says which is next and what it needs.",
  },
  TUNTAS_CHANGE_NOT_YET: {
    meaning:
      "A change was to come to its next step, and what that step needs is not so yet. Nothing was changed.",
    remedy: "Do what the message names, then say it again.",
  },
  TUNTAS_CHANGE_RELEASE: {
    meaning:
      "A process was to start with a release that does not go together with the step of a change, or with the processes that run.",
    remedy:
      "Bring the change on first (`tuntas change advance NAME`), or start a release that the message names; `tuntas change back NAME` takes steps back.",
  },
});
