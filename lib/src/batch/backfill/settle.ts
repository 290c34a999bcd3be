// One slice: its records are locked, read and handled, and then it is decided, in the same transaction, what becomes of the run:
// the next slice, another pace, an abort, the verification.
import type { Outcome } from "../../core/outcome.ts";
import { beginReplay, newReplay, type Replay } from "../../engine/handler/replay.ts";
import { join } from "../../pg/join.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Context } from "../../queue/index.ts";
import type { AfterCommit } from "../news.ts";
import type { Send } from "../send.ts";
import type { BackfillContext, BackfillDefinition, Counts, FailedRecord } from "./contract.ts";
import { limitsOf, queueNameOf } from "./declaration.ts";
import { moveOn } from "./move.ts";
import { readPage, type Found, type KeyTypes } from "./records.ts";
import { backfillSignals, tellMove } from "./signals.ts";
import { handleAll } from "./slice.ts";
import { healthAfter, verdictOf, type Health } from "./state.ts";
import type { SliceStep, Step } from "./step.ts";
import * as partitions from "./store/partitions.ts";
import type { Begun } from "./store/partitions.ts";
import * as runs from "./store/runs.ts";
import type { Move, RunRow } from "./store/runs.ts";

/** A slice that it is the time for. */
export interface SliceOf {
  readonly definition: BackfillDefinition;
  readonly scope: unknown;
  readonly types: KeyTypes;
  readonly context: Context;
  readonly own: BackfillContext;
  readonly step: SliceStep;
  readonly begun: Begun;
  readonly databaseMs: number;
  readonly startedAt: number;
}

/** What became of its records. */
interface Done {
  readonly found: readonly Found[];
  readonly final: number;
  readonly failed: readonly FailedRecord[];
  readonly suppressed: number;
  readonly health: Health;
  readonly surplus: number;
}

interface SettleOptions {
  readonly send: Send<Step>;
  readonly afterCommit: AfterCommit;
  readonly isVoid: Outcome;
}

const isUndo = ({ begun }: SliceOf): boolean => begun.state === "rolling_back";

function pageOf(slice: SliceOf): Promise<Found[]> {
  const { own, definition, scope, types, begun } = slice;
  const { checkpoint, undone, size: limit, input } = begun;
  const page = isUndo(slice)
    ? { after: undone, until: checkpoint, limit }
    : { after: checkpoint, until: null, limit };
  return readPage(own.tx, definition, { scope, partition: JSON.parse(input), types, page });
}

async function work(slice: SliceOf, found: readonly Found[]): Promise<Done> {
  const { definition, own, begun, databaseMs } = slice;
  const { handle, rollback } = definition.options;
  const replay: Replay = newReplay();
  const todo = found.filter((each) => !each.final);
  const failed = await handleAll(todo, {
    handle: isUndo(slice) ? rollback.undo! : handle,
    context: own,
    replay,
  });
  const downstreamMs = replay.calls === 0 ? null : replay.callsMs / replay.calls;
  return {
    found,
    final: found.length - todo.length,
    failed,
    suppressed: replay.suppressed,
    health: healthAfter(begun, { databaseMs, downstreamMs }, limitsOf(definition)),
    surplus: Math.max(todo.length, replay.calls) - begun.size,
  };
}

/** Its checkpoint and its counts; answers the run as it is then. */
async function record(slice: SliceOf, done: Done) {
  const { own, step, begun } = slice;
  const { found, final, failed } = done;
  const tx = join(own.tx);
  const isLast = found.length < begun.size;
  const counted = isUndo(slice)
    ? { handled: 0, final: 0 }
    : { handled: found.length - final - failed.length, final };
  const advance = {
    read: found.length,
    cursor: found.at(-1)?.cursor ?? null,
    isUndo: isUndo(slice),
    isLast,
  };
  const [, run] = await Promise.all([
    partitions.advancePartition(tx, step, advance),
    runs.addToRun(tx, step.run, { ...done, ...counted, failed: failed.length }),
  ]);
  if (failed.length > 0) await runs.writeFailures(tx, step.run, step.number, failed);
  return { run: { id: step.run, ...run }, isLast };
}

type Recorded = Pick<RunRow, "id" | "turn" | "state"> & Counts;

/** Where the run goes when its last partition has ended. */
function endOf(slice: SliceOf, { state, failed }: Recorded): Move | undefined {
  if (state === "running") return { to: "verifying" };
  if (!isUndo(slice)) return undefined;
  const failure = `TUNTAS_BACKFILL_UNDO: ${failed} records could not be undone`;
  return failed > 0 ? { to: "aborted", failure } : { to: "rolled_back" };
}

function moveOf(slice: SliceOf, { health }: Done, run: Recorded, isThrough: boolean): Move | undefined {
  const limits = { ...limitsOf(slice.definition), isLast: isThrough };
  const verdict = run.state === "running" ? verdictOf(run, health, limits) : undefined;
  if (verdict) return { to: "aborted", failure: `${verdict.code}: ${verdict.message}` };
  return isThrough ? endOf(slice, run) : undefined;
}

function tell({ definition, step, begun, startedAt }: SliceOf, done: Done, move: Move | undefined): void {
  const { found, final, failed, suppressed, health } = done;
  const of = { backfill: definition.name, runId: step.run };
  backfillSignals.publish("backfill.slice", {
    ...of,
    partition: begun.key,
    handled: found.length - final - failed.length,
    final,
    failed: failed.length,
    suppressed,
    durationMs: performance.now() - startedAt - begun.waitMs,
  });
  if (health.pace < 1 && begun.pace === 1) backfillSignals.publish("backfill.slowed", { ...of, ...health });
  if (move) tellMove(definition.name, step.run, move);
}

export function makeSettle({ send, afterCommit, isVoid }: SettleOptions) {
  return async (slice: SliceOf): Promise<void> => {
    const { definition, context, step, own } = slice;
    const tx: Tx = { ...join(own.tx), client: own.tx };
    const queue = queueNameOf(definition.name);
    await beginReplay(tx);
    // Where it is not held, the records are let go with the transaction.
    const [isHeld, found] = await Promise.all([partitions.holdPartition(tx, step), pageOf(slice)]);
    if (!isHeld) throw isVoid;
    const done = await work(slice, found);
    const { run, isLast } = await record(slice, done);
    if (!["running", "paused", "rolling_back"].includes(run.state)) throw isVoid;
    const isThrough = isLast && !(await partitions.hasOpen(tx, run.id));
    const move = moveOf(slice, done, run, isThrough);
    const turn = move && (await moveOn(tx, run, move));
    if (move?.to === "verifying") await send(tx, queue, [{ step: "verify", run: run.id, turn: turn! }]);
    if (!move && !isLast && run.state !== "paused") await send(tx, queue, [step]);
    const kept = { ...done, suppressed: run.keptBack };
    afterCommit(context.messageId, () => tell(slice, kept, move));
  };
}
