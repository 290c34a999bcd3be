// The doing side: what the worker of a backfill's queue does with each step of a run. A slice of records is a message, which
// sends the next one: lease, take-over, backoff and drain are the queue's, and what the handler wrote, the checkpoint, the
// counts and the next message are one commit with the acknowledgement.
import { setTimeout as sleep } from "node:timers/promises";
import { TuntasError } from "../../core/error.ts";
import { toMs } from "../../core/duration.ts";
import { Outcome, rejected } from "../../core/outcome.ts";
import { describeIssues } from "../../core/schema.ts";
import { describeFailure } from "../../engine/failure.ts";
import { asReplay, beginReplay, newReplay } from "../../engine/handler/replay.ts";
import { within } from "../../engine/outside/within.ts";
import { join } from "../../pg/join.ts";
import type { Sql } from "../../pg/contract.ts";
import { worker, type WorkerDefinition } from "../../queue/declaration.ts";
import type { Context } from "../../queue/index.ts";
import type { AfterCommit } from "../news.ts";
import { planTwice } from "../plan.ts";
import type { Send } from "../send.ts";
import { backfillErrors, type BackfillContext, type BackfillDefinition, type RunState } from "./contract.ts";
import { moveOn } from "./move.ts";
import { countRecords, keyTypes, type KeyTypes } from "./records.ts";
import { takeSample } from "./sample.ts";
import { tellMove } from "./signals.ts";
import { makeSettle, type SliceOf } from "./settle.ts";
import type { RunStep, SliceStep, Step } from "./step.ts";
import * as partitions from "./store/partitions.ts";
import * as runs from "./store/runs.ts";
import type { Move, RunRow } from "./store/runs.ts";

export interface WorkOptions {
  readonly database: Sql;
  readonly send: Send<Step>;
  readonly afterCommit: AfterCommit;
  /** Looks soon whether a window has opened or closed. */
  readonly nudge: () => void;
}

/** Ends a message that counts no more: nothing of its attempt is written. */
const isVoid = new Outcome("duplicate", "TUNTAS_BACKFILL_VOID", "the step was done, or its run moved on");

const attemptsMax = 8;
/** A slice may wait for its part of the rate, and a plan counts large tables: the declared timeout is kept here. */
const stepTimeout = "12h";

/** In which state a run is while a step of it counts, and where it goes when that fails for good. */
const stateOf: Readonly<Record<RunStep["step"], RunState>> = {
  plan: "planning",
  sample: "sampling",
  verify: "verifying",
};
const fallback: Readonly<Partial<Record<RunState, Move>>> = {
  planning: { to: "aborted" },
  sampling: { to: "planned" },
  running: { to: "paused", pause: "trouble" },
  verifying: { to: "paused", pause: "trouble" },
  rolling_back: { to: "aborted" },
};

const textOf = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  `${code}: ${message}`;

/** Faults that another attempt cannot mend. */
const isFinal = (cause: unknown): boolean =>
  cause instanceof TuntasError && Object.hasOwn(backfillErrors.entries, cause.code);

async function scopeOf({ name, options }: BackfillDefinition, text: string): Promise<unknown> {
  const result = await options.scope["~standard"].validate(JSON.parse(text));
  if (!result.issues) return result.value;
  throw backfillErrors.error("TUNTAS_BACKFILL_SCOPE", `backfill ${name}: ${describeIssues(result.issues)}`);
}

/** A step as it is worked on. */
interface Working {
  readonly definition: BackfillDefinition;
  readonly scope: unknown;
  readonly types: KeyTypes;
  readonly context: Context;
  /** Of the queue's attempt, and of the declared timeout. */
  readonly signal: AbortSignal;
}

const contextOf = (
  { definition, scope, context, signal }: Working,
  run: string,
  { partition, dryRun }: Pick<BackfillContext, "partition" | "dryRun">,
): BackfillContext => ({
  tx: context.tx,
  run: { id: run, backfill: definition.name, scope },
  partition,
  dryRun,
  signal,
  log: context.log.child({ backfill: definition.name, runId: run, partition }),
});

export function makeWork({ database, send, afterCommit, nudge }: WorkOptions) {
  const settle = makeSettle({ send, afterCommit, isVoid });
  const types = new WeakMap<BackfillDefinition, KeyTypes>();

  async function workingOf(
    definition: BackfillDefinition,
    scope: string,
    context: Context,
  ): Promise<Working> {
    const known = types.get(definition) ?? (await keyTypes(context.tx, definition));
    types.set(definition, known);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(toMs(definition.options.timeout))]);
    return { definition, scope: await scopeOf(definition, scope), types: known, context, signal };
  }

  /** Moves the run in the attempt's transaction, and tells after its commit. */
  async function moveWith({ context, definition }: Working, run: RunRow, move: Move): Promise<void> {
    if ((await moveOn(join(context.tx), run, move)) === undefined) throw isVoid;
    afterCommit(context.messageId, () => tellMove(definition.name, run.id, move));
  }

  async function planStep(working: Working, run: RunRow): Promise<void> {
    const { definition, scope, context, signal } = working;
    const { planned, hash } = await planTwice(
      async () =>
        definition.options.partitions(structuredClone(scope) as never, {
          signal,
          database: context.database,
        }),
      (why) => backfillErrors.error("TUNTAS_BACKFILL_PLAN", `backfill ${definition.name}: ${why}`),
    );
    const counted = [];
    for (const each of planned) {
      const records = await countRecords(context.tx, definition, {
        scope,
        partition: JSON.parse(each.input),
      });
      counted.push({ ...each, records });
    }
    await partitions.insertPartitions(join(context.tx), run.id, counted);
    await runs.writePlan(join(context.tx), run.id, hash);
    await moveWith(working, run, { to: "planned" });
  }

  async function sampleStep(working: Working, run: RunRow): Promise<void> {
    const tx = join(working.context.tx);
    const inputs = await partitions.readInputs(tx, run.id);
    const contextIn = (partition: string) => contextOf(working, run.id, { partition, dryRun: true });
    const found = await takeSample({ ...working, inputs, contextOf: contextIn });
    await runs.writeSample(tx, run.id, { ...found, atMs: await runs.nowMs(tx) });
    await moveWith(working, run, { to: "sampled" });
  }

  async function verifyStep(working: Working, run: RunRow): Promise<void> {
    const { tx, run: facts, signal, log } = contextOf(working, run.id, { partition: "", dryRun: false });
    const counts = (await runs.readRuns(join(tx), { id: run.id }))[0]!;
    await beginReplay(join(tx));
    const wrong = await asReplay(newReplay(), async () =>
      working.definition.options.verify({ tx, run: facts as never, counts, signal, log }),
    );
    const text = wrong.slice(0, 20).join("; ");
    const failure = textOf({ code: "TUNTAS_BACKFILL_UNVERIFIED", message: text });
    await moveWith(
      working,
      run,
      wrong.length === 0 ? { to: "completed" } : { to: "paused", pause: "trouble", failure },
    );
  }

  const does = { plan: planStep, sample: sampleStep, verify: verifyStep };

  /** An attempt failed: it is worth another, or the run stops, where a person looks at it. */
  async function fail(definition: BackfillDefinition, step: Step, context: Context, cause: unknown) {
    if (cause === isVoid || context.signal.aborted) throw cause;
    const failure = textOf(describeFailure(cause));
    if (context.attempt < attemptsMax && !isFinal(cause)) {
      await runs.noteFailure(database, step.run, failure);
      throw cause;
    }
    await stop(definition, step, failure);
    throw rejected(describeFailure(cause));
  }

  /** Not where a message fails that has not counted since a person said something: what was sent then goes on. */
  async function stop(definition: BackfillDefinition, step: Step, failure: string): Promise<void> {
    const id = step.run;
    const moved = await database.transaction(async (tx) => {
      const run = await runs.lockRun(tx, id);
      const counts = step.step === "slice" ? await partitions.hasTurn(tx, step) : run?.turn === step.turn;
      const move = run && fallback[run.state];
      if (!move || !counts) throw isVoid;
      await moveOn(tx, run, { ...move, failure });
      return move;
    });
    tellMove(definition.name, id, { ...moved, failure });
  }

  async function runStep(definition: BackfillDefinition, step: RunStep, context: Context): Promise<void> {
    const run = await runs.findRun(database, step.run);
    if (run?.state !== stateOf[step.step] || run.turn !== step.turn) throw isVoid;
    const working = await workingOf(definition, run.scope, context);
    await within(working.signal, () => does[step.step](working, run));
  }

  async function sliceStep(definition: BackfillDefinition, step: SliceStep, context: Context): Promise<void> {
    const startedAt = performance.now();
    const begun = await partitions.beginSlice(database, step);
    const databaseMs = performance.now() - startedAt;
    if (!begun) {
      nudge();
      throw isVoid;
    }
    if (begun.waitMs > 1) await sleep(begun.waitMs, undefined, { signal: context.signal });
    const working = await workingOf(definition, begun.scope, context);
    const own = contextOf(working, step.run, { partition: begun.key, dryRun: false });
    const slice: SliceOf = { ...working, step, begun, own, databaseMs, startedAt };
    await settle(slice);
  }

  async function stepOf(definition: BackfillDefinition, step: Step, context: Context): Promise<void> {
    try {
      if (context.attempt > attemptsMax)
        throw backfillErrors.error(
          "TUNTAS_BACKFILL_ATTEMPTS",
          `none of ${attemptsMax} attempts came to an end`,
        );
      if (step.step === "slice") await sliceStep(definition, step, context);
      else await runStep(definition, step, context);
    } catch (cause) {
      await fail(definition, step, context, cause);
    }
  }

  /** The worker of a backfill's queue. */
  return (definition: BackfillDefinition): WorkerDefinition => ({
    ...worker(definition.queue, {
      idempotencyKey: "none",
      timeout: stepTimeout,
      concurrency: definition.options.concurrency,
      globalConcurrency: definition.options.concurrency,
      backoff: { base: "1s", max: "60s" },
      handle: (step, context) => stepOf(definition, step as Step, context),
    }),
    place: definition.place,
  });
}
