// What a caller of the batch room sees: what a batch is declared by, how its jobs and their partitions stand, and the error
// codes.
import type { Duration } from "../core/duration.ts";
import { catalogue } from "../core/error.ts";
import type { OutputOf, Schema } from "../core/schema.ts";
import type { HandlerTx } from "../engine/handler/contract.ts";
import type { TargetName } from "../engine/target.ts";
import type { Queryable, Sql } from "../pg/contract.ts";
import type { QueueDefinition } from "../queue/declaration.ts";
import type { Context } from "../queue/index.ts";

/** A part of the work: its key, and whatever else its handler is to know. JSON, so that it comes back as it was planned. */
export interface Partition {
  /** The same for the same part of the same input: at most 200 characters. */
  readonly key: string;
}

/** What finding out the partitions gets beside the input. */
export interface PlanContext {
  readonly signal: AbortSignal;
  /** For reading what there is to divide. */
  readonly database: Sql;
}

/** The job that something is a part of. */
export interface JobFacts<Input = unknown> {
  readonly id: string;
  readonly batch: string;
  readonly key: string;
  readonly input: Input;
}

/** What the handler of a partition gets beside it. */
export interface PartitionContext<Input = unknown> extends Pick<
  Context,
  "tx" | "write" | "database" | "transactionOpen" | "signal" | "log" | "attempt"
> {
  readonly job: JobFacts<Input>;
  /** Where it stands in the plan: what its staged rows have in their column `partition`. */
  readonly number: number;
  /** The same in every attempt and after every retry: for calls to the outside. */
  readonly idempotencyKey: string;
  /** Whose side effects they are, for the ledger: the idempotency key. */
  readonly caller: string;
}

/** What validation and promotion get. */
export interface PromotionContext<Input = unknown> extends Pick<PartitionContext, "signal" | "log"> {
  /** The transaction that writes the manifest too. */
  readonly tx: HandlerTx;
  readonly job: JobFacts<Input>;
  readonly partitions: number;
  /** How many rows are staged. */
  readonly rows: number;
}

export interface BatchOptions<S extends Schema, P extends Partition> {
  /** What a job is about: any Standard Schema. */
  readonly input: S;
  /** The partitions of an input: the same list for the same input, since it is made twice and compared. */
  readonly partitions: (input: OutputOf<S>, context: PlanContext) => readonly P[] | Promise<readonly P[]>;
  /** Does one partition: writes what it makes to the staging table, through `tx` or `write`. */
  readonly handle: (partition: P, context: PartitionContext<OutputOf<S>>) => unknown;
  /** Looks at everything that was staged; answers what is wrong with it, one text each. Nothing: it may be promoted. */
  readonly validate: (
    context: PromotionContext<OutputOf<S>>,
  ) => readonly string[] | Promise<readonly string[]>;
  /** Makes what was staged the final output, in one transaction with the manifest. */
  readonly promote: (context: PromotionContext<OutputOf<S>>) => unknown;
  readonly staging: {
    /** A table with the columns `job bigint` and `partition integer`, and an index on them. */
    readonly table: string;
    /**
     * How long staged rows are kept after the job's end: `"0s"` cleans up at once; `"current"` keeps those of the latest job
     * that was promoted, for a view that shows them.
     */
    readonly kept: Duration | "current";
  };
  /** How often a partition is tried, and the pause between: only what failed is tried again. */
  readonly retry: { readonly attempts: number; readonly base: Duration; readonly max: Duration };
  /** Of an attempt: at the plan, at a partition, at validation and promotion. */
  readonly timeout: Duration;
  /** Partitions that are worked on at once, in all processes together. */
  readonly concurrency: number;
  /** Of jobs that wait for their turn, the one with the highest number is begun first. */
  readonly priority: number;
  /**
   * Which processes work on it: all that run the application, or those of one service, whose `TUNTAS_SERVICE` it is. Jobs are
   * started, shown and cancelled anywhere.
   */
  readonly runsOn: "anywhere" | { readonly service: string };
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
  /** Who is told of the end of a job: a queue, a workflow or another target of announcements. */
  readonly announce?: TargetName;
  /** How long ended jobs stay on record; 90d by default. */
  readonly retention?: Duration;
}

export interface StartOptions {
  /** Names the job: a second start with the key is the same job. Without one the input's hash is the key. */
  readonly key?: string | undefined;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  /** Instead of the batch's own. */
  readonly priority?: number | undefined;
  /** Starts it in this transaction. */
  readonly tx?: Queryable | undefined;
}

/**
 * `duplicate`: there is such a job already; `conflict`: the key belongs to a job with another input; `suppressed`: a
 * backfill's handler would have started it, and what it works on is no news.
 */
export interface Started {
  readonly status: "created" | "duplicate" | "conflict" | "suppressed";
  readonly jobId: string;
}

export interface BatchDefinition<S extends Schema = Schema, P extends Partition = Partition> {
  readonly kind: "batch";
  readonly name: string;
  readonly options: BatchOptions<S, P>;
  /** What its work goes through. */
  readonly queue: QueueDefinition;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
  /** Starts a job. Errors: TUNTAS_BATCH_INPUT, TUNTAS_NOT_STARTED. */
  start(input: unknown, options?: StartOptions): Promise<Started>;
}

export const jobStates = [
  "planning",
  /** For its turn: jobs of one batch run one at a time. */
  "waiting",
  "running",
  "promoting",
  "completed",
  /** A person looks, then retries or cancels it. Nothing was promoted. */
  "failed",
  "paused",
  "cancelled",
] as const;
export type JobState = (typeof jobStates)[number];

/** What a person can say to a job. */
export type Verb = "pause" | "resume" | "retry" | "cancel";

export const partitionStates = ["pending", "running", "done", "failed", "cancelled"] as const;
export type PartitionState = (typeof partitionStates)[number];

export interface PartitionReport {
  readonly number: number;
  readonly key: string;
  readonly state: PartitionState;
  readonly attempts: number;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly rows: number | null;
  readonly hash: string | null;
  readonly begunAtMs: number | null;
  readonly endedAtMs: number | null;
}

export interface Manifest {
  readonly partitions: number;
  readonly rows: number;
  readonly hash: string;
  readonly promotedAtMs: number;
}

export interface JobReport {
  readonly id: string;
  readonly batch: string;
  readonly key: string;
  /** JSON text. */
  readonly input: string;
  readonly state: JobState;
  readonly priority: number;
  readonly actor: string;
  readonly reason: string;
  readonly planHash: string | null;
  readonly failure: string | null;
  /** What can be said to it now. */
  readonly verbs: readonly Verb[];
  readonly askedAtMs: number;
  /** When it came into its state. */
  readonly movedAtMs: number;
  readonly begunAtMs: number | null;
  readonly endedAtMs: number | null;
  /** How many partitions are in each state. */
  readonly partitions: Readonly<Record<PartitionState, number>> & { readonly total: number };
  /** Rows that the partitions which are done have staged. */
  readonly rows: number;
  /** Partitions that have ended in a minute since it was last begun; null where nothing can be said. */
  readonly perMinute: number | null;
  /** At that pace. */
  readonly leftMs: number | null;
  /** Null before its promotion. */
  readonly manifest: Manifest | null;
}

export interface BatchReport {
  readonly name: string;
  readonly staging: string;
  readonly attempts: number;
  readonly concurrency: number;
  readonly priority: number;
  /** The service whose processes work on it; null for all that run the application. */
  readonly runsOn: string | null;
  readonly owner: string;
  readonly runbook: string;
  /** How many jobs are in each state. */
  readonly jobs: Readonly<Partial<Record<JobState, number>>>;
}

export interface Act {
  readonly by: string;
  readonly reason: string;
}

/** The most partitions that a job may have. */
export const partitionsMax = 10_000;

export const batchErrors = catalogue({
  TUNTAS_BATCH_OPTIONS: {
    meaning: "The declaration of a batch leaves out what must be said, or says what cannot be.",
    remedy:
      "Say what the message names: staging, validation, promotion, retry, timeout, concurrency, priority, where it runs, owner and runbook have no defaults.",
  },
  TUNTAS_BATCH_REGISTERED: {
    meaning:
      "Two batches of an application have the same name, or a queue has the name that a batch's queue needs.",
    remedy: "Give one of them another name.",
  },
  TUNTAS_BATCH_MISSING: {
    meaning: "There is no batch of that name, or no job of that number.",
    remedy:
      "See them with `tuntas batch list`; a batch is there once an application that declares it has started.",
  },
  TUNTAS_BATCH_INPUT: {
    meaning: "The input of a job is not what the batch takes, or cannot be kept as JSON.",
    remedy: "Give what the batch's input schema describes.",
  },
  TUNTAS_BATCH_PLAN: {
    meaning:
      "The partitions of an input are none, too many, not unique by key, or not the same when they are made again.",
    remedy:
      "Let `partitions` answer the same list for the same input: no clock, no random, no order that a query leaves open.",
  },
  TUNTAS_BATCH_STAGING: {
    meaning: "The staging table of a batch is missing, or has no columns `job` and `partition`.",
    remedy:
      "Create it: `create table NAME (job bigint not null, partition integer not null, …)`, with an index on both.",
  },
  TUNTAS_BATCH_INVALID: {
    meaning: "What a job staged was found invalid; nothing was promoted.",
    remedy:
      "Look at the reasons with `tuntas batch show JOB`. Cancel the job, or mend the cause and `tuntas batch retry JOB`.",
  },
  TUNTAS_BATCH_ATTEMPTS: {
    meaning: "No attempt came to an end: its process died each time, or its commit failed.",
    remedy:
      "Look at the log of the worker at those times; a partition that is too large for the memory ends so.",
  },
  TUNTAS_BATCH_STATE: {
    meaning: "The job is not in a state in which this can be done to it.",
    remedy: "See its state with `tuntas batch show JOB`.",
  },
});
