// The doing side: what the worker of a batch's queue does with each step of a job. Lease, take-over, timeout and backoff are
// the queue's; what a step writes, and that it has ended, is one commit with the acknowledgement of its message.
import { coalescer } from "../core/coalesce.ts";
import { Outcome, outcomeOfThrown, rejected } from "../core/outcome.ts";
import { isTuntasError, TuntasError } from "../core/error.ts";
import { describeIssues } from "../core/schema.ts";
import type { Write } from "../engine/handler/contract.ts";
import { describeFailure, type Failure } from "../engine/failure.ts";
import { within } from "../engine/outside/within.ts";
import { again } from "../pg/faults.ts";
import { join } from "../pg/join.ts";
import type { Database } from "../pg/database.ts";
import { worker, type WorkerDefinition } from "../queue/declaration.ts";
import type { CommittingContext, Context } from "../queue/index.ts";
import { batchErrors, type BatchDefinition, type PlanContext, type PromotionContext } from "./contract.ts";
import { WorkContext } from "./context.ts";
import { moveOn } from "./ending.ts";
import type { AfterCommit } from "./news.ts";
import type { RunningJobs } from "./running.ts";
import { batchSignals } from "./signals.ts";
import { planTwice, type Plan } from "./plan.ts";
import { failureOf, isLast, partitionKey } from "./state.ts";
import type { PartitionStep, PlanStep, PromoteStep, Step } from "./step.ts";
import { isStaging } from "./store/batches.ts";
import * as jobs from "./store/jobs.ts";
import type { JobRow } from "./store/jobs.ts";
import * as partitions from "./store/partitions.ts";
import type { Begun, Claim } from "./store/partitions.ts";

export interface WorkOptions {
  readonly database: Database;
  readonly running: RunningJobs;
  readonly afterCommit: AfterCommit;
  /** Looks soon whether something is to be begun or promoted. */
  readonly nudge: () => void;
}

/** Ends a message that counts no more: nothing of its attempt is written. */
const isVoid = new Outcome(
  "duplicate",
  "TUNTAS_BATCH_VOID",
  "the step was done, paused, retried or cancelled",
);

const givenUp = ({ code, message }: Failure) => rejected({ code, message });

/** Whether the attempt was cut off from outside, which is not its fault. */
const isCutOff = ({ signal }: Context): boolean =>
  signal.aborted && !isTuntasError(signal.reason, "TUNTAS_ATTEMPT_TIMEOUT");

/** Faults that another attempt cannot mend. */
const isFinal = (cause: unknown): boolean =>
  cause instanceof TuntasError && Object.hasOwn(batchErrors.entries, cause.code);

const asFailure = (cause: unknown): Failure =>
  describeFailure(cause instanceof Outcome ? { code: cause.code, message: cause.message } : cause);

async function inputOf({ name, options }: BatchDefinition, text: string): Promise<unknown> {
  const result = await options.input["~standard"].validate(JSON.parse(text));
  if (!result.issues) return result.value;
  throw batchErrors.error("TUNTAS_BATCH_INPUT", `batch ${name}: ${describeIssues(result.issues)}`);
}

/** The plan of an input. */
const planOf = ({ name, options }: BatchDefinition, input: unknown, context: PlanContext): Promise<Plan> =>
  planTwice(
    async () => options.partitions(structuredClone(input), context),
    (why) => batchErrors.error("TUNTAS_BATCH_PLAN", `batch ${name}: ${why}`),
  );

export function makeWork({ database, running, afterCommit, nudge }: WorkOptions) {
  const rowsOf = coalescer<Claim, number | null>({
    itemsMax: 1000,
    flushesMax: 1,
    flush: (claims) => partitions.readRows(database, claims),
  });

  /** What was counted in the shared commit is asked for after it. */
  const tellDone = async (claim: Claim, told: object): Promise<void> => {
    const rows = await rowsOf.add(claim).catch(() => null);
    batchSignals.publish("batch.partition_done", { ...told, rows: rows ?? 0 });
  };

  /** A step of the job itself failed: tried again, or the job has failed. */
  async function failJob(batch: BatchDefinition, job: JobRow, context: Context, cause: unknown) {
    if (cause === isVoid || isCutOff(context)) throw cause;
    const failure = asFailure(cause);
    const text = `${failure.code}: ${failure.message}`;
    if (!isFinal(cause) && !isLast(outcomeOfThrown(cause), context.attempt, batch.options.retry.attempts)) {
      await jobs.noteFailure(database, job, text);
      throw cause;
    }
    const moved = await database.transaction((tx) => moveOn(tx, job, "failed", text));
    if (moved === undefined) throw isVoid;
    batchSignals.publish("batch.failed", { batch: job.batch, jobId: job.id, reason: text });
    nudge();
    throw givenUp(failure);
  }

  /** The job that the message is about; ends the message where it counts no more. */
  async function jobOf(step: PlanStep | PromoteStep, state: "planning" | "promoting"): Promise<JobRow> {
    const job = await jobs.findJob(database, step.job);
    if (job?.state === state && job.run === step.run) return job;
    throw isVoid;
  }

  async function planStep(batch: BatchDefinition, step: PlanStep, context: Context): Promise<void> {
    const job = await jobOf(step, "planning");
    const { signal } = context;
    try {
      const made = await within(signal, async () =>
        planOf(batch, await inputOf(batch, job.input), { signal, database }),
      );
      const { planned, hash } = made;
      const { table } = batch.options.staging;
      if (!(await isStaging(database, table)))
        throw batchErrors.error(
          "TUNTAS_BATCH_STAGING",
          `batch ${batch.name}: expected a table ${table} with job bigint and partition integer`,
        );
      const tx = join(context.tx);
      if (!(await jobs.endPlan(tx, job, hash))) throw isVoid;
      await partitions.insertPartitions(tx, job.id, planned);
      const told = { batch: job.batch, jobId: job.id, partitions: planned.length };
      afterCommit(context.messageId, () => batchSignals.publish("batch.planned", told));
    } catch (cause) {
      await failJob(batch, job, context, cause);
    }
  }

  async function promoteStep(batch: BatchDefinition, step: PromoteStep, context: Context): Promise<void> {
    const job = await jobOf(step, "promoting");
    const controller = running.add(job.id);
    try {
      const signal = AbortSignal.any([context.signal, controller.signal]);
      const input = await inputOf(batch, job.input);
      const rows = await within(signal, () => promote(batch, { ...job, input }, { signal, context }));
      if ((await moveOn(join(context.tx), job, "completed")) === undefined) throw isVoid;
      await jobs.writeManifest(join(context.tx), job.id);
      const told = { batch: job.batch, jobId: job.id, rows };
      afterCommit(context.messageId, () => batchSignals.publish("batch.completed", told));
    } catch (cause) {
      await failJob(batch, job, context, controller.signal.aborted ? isVoid : cause);
    } finally {
      running.remove(job.id, controller);
    }
  }

  /** Validates what is staged and has it promoted; answers how many rows. */
  async function promote(
    { name, options }: BatchDefinition,
    { id, batch, key, input }: Omit<JobRow, "input"> & { readonly input: unknown },
    { signal, context }: { readonly signal: AbortSignal; readonly context: Context },
  ): Promise<number> {
    const { tx, log } = context;
    const staged = await partitions.readStaged(join(tx), id);
    const changed = await partitions.readChanged(join(tx), id, options.staging.table);
    const own: PromotionContext = { tx, signal, log, job: { id, batch, key, input }, ...staged };
    const findings = changed.map((each) => `partition ${each}: its staged rows were changed after it ended`);
    findings.push(...(await options.validate(own)));
    if (findings.length > 0)
      throw batchErrors.error("TUNTAS_BATCH_INVALID", `batch ${name}: ${findings.slice(0, 20).join("; ")}`);
    await options.promote(own);
    return staged.rows;
  }

  // Those that begin at one moment share a commit; whoever pauses or cancels their job goes through them in another order.
  const begins = coalescer<Claim & { readonly receives: number }, Begun | undefined>({
    itemsMax: 100,
    flushesMax: 2,
    schedule: setImmediate,
    flush: (all) => again(() => partitions.beginPartitions(database, all)),
  });

  /** Begins the attempt. Where its job does not run, the partition waits for that without a message. */
  async function begin(claim: Claim, receives: number): Promise<Begun> {
    const begun = await begins.add({ ...claim, receives });
    if (begun) return begun;
    // Whoever begins the job waits for this transaction, and sees then that the partition has no message.
    const isRunning = await database.transaction(async (tx) => {
      const job = await jobs.shareJob(tx, claim.job);
      if (job && job.state !== "running") await partitions.letGoPartition(tx, claim);
      return job?.state === "running";
    });
    const begunNow = isRunning ? await begins.add({ ...claim, receives }) : undefined;
    if (begunNow) return begunNow;
    throw isVoid;
  }

  async function failPartition(
    batch: BatchDefinition,
    claim: Claim,
    { begun, cause }: { readonly begun: Begun; readonly cause: unknown },
  ) {
    const { attempt } = begun;
    const failure = asFailure(cause);
    const last = isFinal(cause) || isLast(outcomeOfThrown(cause), attempt, batch.options.retry.attempts);
    if (!(await partitions.failPartition(database, claim, { attempt, last, failure }))) throw isVoid;
    const { code, message: reason } = failure;
    const told = { batch: begun.batch, jobId: claim.job, partition: begun.key, attempt, code, reason };
    batchSignals.publish(last ? "batch.partition_failed" : "batch.partition_retried", told);
    if (!last) throw cause;
    nudge();
    throw givenUp(failure);
  }

  /** Ends the partition with what its handler wrote: in its transaction, else in a commit shared with other partitions. */
  async function commitPartition(own: WorkContext, end: Write): Promise<void> {
    const { context, writes } = own;
    if (!context.transactionOpen) {
      for (const { text, values } of [...writes, end]) context.write(text, values);
      await context.commitWrites();
      return;
    }
    for (const { text, values } of [...writes, end]) await context.tx.query(text, values as unknown[]);
  }

  async function handlePartition(batch: BatchDefinition, claim: Claim, own: WorkContext, begun: Begun) {
    const startedAt = performance.now();
    const { context } = own;
    const returned = await within(own.signal, async () => batch.options.handle(JSON.parse(begun.input), own));
    const failed = failureOf(returned);
    if (failed) throw failed;
    const { batch: name, key: partition } = begun;
    const told = { batch: name, jobId: claim.job, partition, attempt: begun.attempt };
    const durationMs = performance.now() - startedAt;
    afterCommit(context.messageId, () => void tellDone(claim, { ...told, durationMs }));
    const { text } = database.prepare(partitions.endOrRaise);
    await commitPartition(own, { text, values: partitions.endValues(claim, begun.staging) });
  }

  async function partitionStep(
    batch: BatchDefinition,
    claim: PartitionStep,
    context: CommittingContext,
  ): Promise<void> {
    const begun = await begin(claim, context.attempt);
    const { attempt } = begun;
    const { retry } = batch.options;
    if (attempt > retry.attempts) {
      const { failureCode: code, failureMessage: message } = begun;
      const unseen = () =>
        batchErrors.error("TUNTAS_BATCH_ATTEMPTS", `none of ${retry.attempts} attempts came to an end`);
      return failPartition(batch, claim, { begun, cause: code === null ? unseen() : { code, message } });
    }
    const controller = running.add(claim.job);
    try {
      const { batch: name, jobKey: key, jobInput } = begun;
      const job = { id: claim.job, batch: name, key, input: await inputOf(batch, jobInput) };
      const idempotencyKey = partitionKey(job, begun.key);
      const signal = AbortSignal.any([context.signal, controller.signal]);
      const own = new WorkContext({ context, signal, job, number: claim.number, attempt, idempotencyKey });
      await handlePartition(batch, claim, own, begun);
    } catch (cause) {
      if (cause === isVoid || controller.signal.aborted) throw isVoid;
      if (isCutOff(context)) throw cause;
      await failPartition(batch, claim, { begun, cause });
    } finally {
      running.remove(claim.job, controller);
    }
  }

  function stepOf(batch: BatchDefinition, step: Step, context: CommittingContext): Promise<void> {
    if (step.step === "plan") return planStep(batch, step, context);
    if (step.step === "promote") return promoteStep(batch, step, context);
    return partitionStep(batch, step, context);
  }

  /** The worker of a batch's queue. */
  return (batch: BatchDefinition): WorkerDefinition => {
    const { timeout, concurrency, retry } = batch.options;
    return {
      ...worker(batch.queue, {
        idempotencyKey: "none",
        timeout,
        concurrency,
        globalConcurrency: concurrency,
        backoff: { base: retry.base, max: retry.max },
        handle: (step, context) => stepOf(batch, step as Step, context as CommittingContext),
      }),
      place: batch.place,
    };
  };
}
