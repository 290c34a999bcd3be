// What a caller of backfills sees: what one is declared by, how a run of it and its partitions stand, and the error codes.
import type { Duration } from "../../core/duration.ts";
import { catalogue } from "../../core/error.ts";
import type { OutputOf, Schema } from "../../core/schema.ts";
import type { HandlerTx } from "../../engine/handler/contract.ts";
import type { Log } from "../../engine/log.ts";
import type { QueueDefinition } from "../../queue/declaration.ts";
import type { Partition, PlanContext } from "../contract.ts";

/** A condition in SQL, with its parameters as `$1`, `$2`, … */
export interface Condition {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A record as it is given to the handler: the declared columns. */
export type RecordOf<C extends string> = { readonly [Column in C]: any };

/** The run that something is a part of. */
export interface RunFacts<Scope = unknown> {
  readonly id: string;
  readonly backfill: string;
  readonly scope: Scope;
}

export interface BackfillContext<Scope = unknown> {
  /** Holds the records locked; the checkpoint commits with what is written through it. */
  readonly tx: HandlerTx;
  readonly run: RunFacts<Scope>;
  /** The key of the partition. */
  readonly partition: string;
  /** True where everything that is written is taken back: leave out what a transaction cannot take back. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface VerifyContext<Scope = unknown> extends Pick<BackfillContext<Scope>, "signal" | "log"> {
  readonly tx: HandlerTx;
  readonly run: RunFacts<Scope>;
  readonly counts: Counts;
}

/** When it may run: by the clock of the zone, and past midnight where `to` is before `from`. */
export interface OffPeak {
  /** `HH:MM` */
  readonly from: string;
  readonly to: string;
  /** An IANA name such as `Asia/Jakarta`. */
  readonly timeZone: string;
}

/** Called with many records, and, where it throws, with fewer, until those at fault are found. */
export type Handle<Scope, C extends string> = (
  records: readonly RecordOf<C>[],
  context: BackfillContext<Scope>,
) => unknown;

export interface BackfillOptions<S extends Schema, P extends Partition, C extends string> {
  /** Which records a run is about: any Standard Schema. */
  readonly scope: S;
  readonly records: {
    /** The table, with its schema where it is not in the search path. */
    readonly table: string;
    /** The column, or columns, whose values name a record and that an index orders. */
    readonly key: string | readonly string[];
    /** What the handler gets of a record. */
    readonly columns: readonly C[];
    /** Which records of the table a partition of the scope is. */
    readonly where: (scope: OutputOf<S>, partition: P) => Condition;
    /** In SQL, of the record's columns: what is final is locked, counted and left alone. `"none"` where nothing is. */
    readonly final: string;
  };
  /** The parts of a scope, by tenant, date or range: the same list for the same scope, since it is made twice and compared. */
  readonly partitions: (scope: OutputOf<S>, context: PlanContext) => readonly P[] | Promise<readonly P[]>;
  /** Does the work; harmless where it was done before. */
  readonly handle: Handle<OutputOf<S>, C>;
  readonly throttle: {
    /** Records, or calls of downstreams where these are more, in all processes together. */
    readonly perSecond: number;
    /** It takes less while the database, or the downstreams that it calls, take longer than this. */
    readonly slowAbove: { readonly database: Duration; readonly downstream: Duration };
  };
  /** It is aborted where more than this share of the records fails, or where downstreams take longer than this. */
  readonly abort: { readonly errorShare: number; readonly downstream: Duration };
  readonly window: OffPeak | "any";
  /** Looks at what was done; answers what is wrong with it, one text each. Nothing: it is completed. */
  readonly verify: (context: VerifyContext<OutputOf<S>>) => readonly string[] | Promise<readonly string[]>;
  readonly rollback: {
    /** How it is undone, in words. */
    readonly plan: string;
    /** Undoes it, record by record as `handle` does it; also of records that `handle` failed at. */
    readonly undo?: Handle<OutputOf<S>, C>;
  };
  /** Of a call of the handler, of the plan, of a dry run, of the verification. */
  readonly timeout: Duration;
  /** Partitions that are worked on at once, in all processes together. */
  readonly concurrency: number;
  /** Which processes work on it: all that run the application, or those of one service, whose `TUNTAS_SERVICE` it is. */
  readonly runsOn: "anywhere" | { readonly service: string };
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
}

export interface BackfillDefinition<
  S extends Schema = Schema,
  P extends Partition = Partition,
  C extends string = string,
> {
  readonly kind: "backfill";
  readonly name: string;
  readonly options: BackfillOptions<S, P, C>;
  /** What its work goes through. */
  readonly queue: QueueDefinition;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

export const runStates = [
  "planning",
  "planned",
  "sampling",
  /** A dry run is on record, for another person to look at. */
  "sampled",
  "approved",
  "running",
  "paused",
  "verifying",
  "completed",
  "aborted",
  "rolling_back",
  "rolled_back",
] as const;
export type RunState = (typeof runStates)[number];

/** Who or what has paused it: a person, its off-peak window, or trouble that a person has to look at. */
export type Pause = "person" | "window" | "trouble";

/** What a person can say to a run. */
export type RunVerb =
  "dry-run" | "approve" | "start" | "pause" | "resume" | "abort" | "verify" | "rollback" | "rate";

/** Records by what became of them. */
export interface Counts {
  readonly handled: number;
  readonly final: number;
  readonly failed: number;
}

export interface FailedRecord {
  readonly record: string;
  readonly code: string;
  readonly message: string;
}

/** What a dry run found: it called the handler with some records of the run and took everything back. */
export interface Sample extends Counts {
  /** What would have been announced, and is in the run, too. */
  readonly suppressed: number;
  readonly tookMs: number;
  readonly failures: readonly FailedRecord[];
  /** Some records before and after, as JSON of the declared columns. */
  readonly changes: readonly { readonly record: string; readonly before: unknown; readonly after: unknown }[];
  readonly atMs: number;
}

export interface RunReport extends Counts {
  readonly id: string;
  readonly backfill: string;
  /** JSON text. */
  readonly scope: string;
  readonly state: RunState;
  readonly pause: Pause | null;
  /** What can be said to it now. */
  readonly verbs: readonly RunVerb[];
  readonly actor: string;
  readonly reason: string;
  readonly approvedBy: string | null;
  readonly failure: string | null;
  readonly sample: Sample | null;
  /** Announcements that were kept back. */
  readonly suppressed: number;
  readonly partitions: { readonly total: number; readonly ended: number };
  /** As they were counted when it was planned. */
  readonly records: number;
  /** How many were read since: handled, final or failed. */
  readonly read: number;
  /** At the pace since it last went on; before that by its rate. Null where nothing can be said. */
  readonly leftMs: number | null;
  readonly perSecond: number;
  /** Which part of its rate it takes: below 1 while something is slow. */
  readonly pace: number;
  readonly databaseMs: number | null;
  readonly downstreamMs: number | null;
  readonly askedAtMs: number;
  readonly begunAtMs: number | null;
  readonly endedAtMs: number | null;
}

export interface BackfillPartitionReport {
  readonly number: number;
  readonly key: string;
  readonly records: number;
  readonly read: number;
  readonly checkpoint: readonly string[] | null;
  readonly ended: boolean;
}

export interface BackfillReport {
  readonly name: string;
  readonly perSecond: number;
  readonly window: OffPeak | "any";
  readonly policy: Policy;
  readonly owner: string;
  readonly runbook: string;
}

/** What else code declares, for people who decide. */
export interface Policy {
  readonly table: string;
  readonly final: string;
  readonly errorShare: number;
  readonly slowAbove: { readonly database: Duration; readonly downstream: Duration };
  readonly abortAbove: Duration;
  readonly rollback: string;
  readonly undo: boolean;
  /** The service whose processes work on it; null for all that run the application. */
  readonly runsOn: string | null;
}

/** `duplicate`: the scope has a run that is not over. */
export interface Planned {
  readonly status: "created" | "duplicate";
  readonly runId: string;
}

export const backfillErrors = catalogue({
  TUNTAS_BACKFILL_OPTIONS: {
    meaning: "The declaration of a backfill leaves out what must be said, or says what cannot be.",
    remedy:
      "Say what the message names: scope, records, partitions, throttle, abort, window, verify, rollback, timeout, concurrency, runsOn, owner and runbook have no defaults.",
  },
  TUNTAS_BACKFILL_REGISTERED: {
    meaning:
      "Two backfills of an application have the same name, or a queue has the name that a backfill's queue needs.",
    remedy: "Give one of them another name.",
  },
  TUNTAS_BACKFILL_MISSING: {
    meaning: "There is no backfill of that name, or no run of that number.",
    remedy:
      "See them with `tuntas backfill list`; a backfill is there once an application that declares it has started.",
  },
  TUNTAS_BACKFILL_SCOPE: {
    meaning: "The scope of a run is missing, is not what the backfill takes, or cannot be kept as JSON.",
    remedy: "Give what the backfill's scope schema describes.",
  },
  TUNTAS_BACKFILL_PLAN: {
    meaning:
      "The partitions of a scope are none, too many, not unique by key, or not the same when they are made again.",
    remedy:
      "Let `partitions` answer the same list for the same scope: no clock, no random, no order that a query leaves open.",
  },
  TUNTAS_BACKFILL_TABLE: {
    meaning: "The table of a backfill's records is missing, or has not the columns that are its key.",
    remedy: "Name the table as the database does, and columns of it that no null is in.",
  },
  TUNTAS_BACKFILL_STATE: {
    meaning: "The run is not in a state in which this can be done to it.",
    remedy:
      "See its state with `tuntas backfill show RUN`: plan, dry run, approval by another person, start, in that order.",
  },
  TUNTAS_BACKFILL_FOUR_EYES: {
    meaning: "Whoever planned a run tried to approve it.",
    remedy: "Have another person look at the dry run and approve it.",
  },
  TUNTAS_BACKFILL_SAMPLE: {
    meaning: "A larger share of the dry run's records failed than the run may have before it is aborted.",
    remedy: "Mend what fails, then make the dry run again.",
  },
  TUNTAS_BACKFILL_BUSY: {
    meaning:
      "Another run of the backfill is running: two of them would take twice the rate that is declared.",
    remedy: "Wait for its end, pause or abort it: `tuntas backfill list`.",
  },
  TUNTAS_BACKFILL_RATE: {
    meaning: "The rate is not a whole number from 1 up to what the backfill declares.",
    remedy: "Give a rate that is no higher than the declared one; a higher one is a change of the code.",
  },
  TUNTAS_BACKFILL_ROLLBACK: {
    meaning: "The backfill does not declare how a run is undone by itself.",
    remedy: "Follow the plan that the message repeats, or declare `rollback.undo`.",
  },
  TUNTAS_BACKFILL_ATTEMPTS: {
    meaning: "No attempt at a slice came to an end: its process died each time, or its commit failed.",
    remedy:
      "Look at the log of the worker at those times, mend the cause, and `tuntas backfill resume RUN`: it goes on at its checkpoint.",
  },
  TUNTAS_BACKFILL_UNVERIFIED: {
    meaning: "The verification of a run found something wrong.",
    remedy:
      "Look at the findings with `tuntas backfill show RUN`, then resume it to verify again, abort it, or roll it back.",
  },
  TUNTAS_BACKFILL_ERRORS: {
    meaning: "A larger share of the records failed than the backfill declares.",
    remedy:
      "See which with `tuntas backfill show RUN`. Mend the handler, then plan the scope again, or roll the run back.",
  },
  TUNTAS_BACKFILL_DOWNSTREAM: {
    meaning: "What the handler calls took longer than the backfill declares as bearable.",
    remedy: "See why it is slow; plan the scope again when it is well, perhaps at a lower rate.",
  },
  TUNTAS_BACKFILL_UNDO: {
    meaning: "Some records could not be undone.",
    remedy: "See which with `tuntas backfill show RUN`, mend the cause, and roll it back again.",
  },
});
