// Dead letters as a process: what waits for a person, why, whose it is, and the two ways on, replay and reject. Both say
// who and why and leave a row of the record behind. There is no discard: what a person ends has a reason.
import { assertRedrivable } from "../../ledger/index.ts";
import type { Tx } from "../../pg/contract.ts";
import type { DeadGroup, DeadItem, QueueRecord, Scope, TriageFilter } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import { fifoAmong, refreshGroups } from "../store/settle.ts";
import * as store from "../store/triage.ts";
import type { Candidate, Tally } from "../store/triage.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";
import { findUnsettled, settledOf, type Unsettled } from "./unsettled.ts";
import {
  checkOptions,
  planned,
  runOperation,
  type Forbidden,
  type OperationOptions,
  type OperationReport,
} from "./operation.ts";

export interface ReplayOptions extends OperationOptions {
  /** Where to; each to the queue that it died in where undefined. */
  readonly destination?: QueueRecord | undefined;
  /** Somebody has looked whether the effects of `unknown` outcomes took place. */
  readonly effectChecked?: boolean | undefined;
  /** Leaves out what a rule forbids, instead of refusing the whole. */
  readonly skipForbidden?: boolean | undefined;
}

export interface RejectOptions extends OperationOptions {
  /** Stable, in capitals; REJECTED_BY_OPERATOR by default. */
  readonly code?: string | undefined;
}

export interface Triage {
  /** The causes, the most frequent first. */
  groups(scope: Scope, filter: TriageFilter): Promise<DeadGroup[]>;
  /** The messages, in the order in which they were sent; the next page comes after the last one's id. */
  items(
    scope: Scope,
    filter: TriageFilter,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<DeadItem[]>;
  /**
   * Puts messages back to work, once each. Body, attributes and ids stay, so a worker's idempotency key does too.
   * Errors: TUNTAS_REPLAY_FORBIDDEN, TUNTAS_REPLAY_UNCONFIRMED, TUNTAS_REPLAY_TARGET, TUNTAS_TRIAGE_OPTIONS, and
   * TUNTAS_REDRIVE_REFUSED where the ledger does not know what became of a call that a message's handler made.
   */
  replay(scope: Scope, options: ReplayOptions): Promise<OperationReport>;
  /** Ends messages as rejected, for a reason. Errors: TUNTAS_TRIAGE_OPTIONS. */
  reject(scope: Scope, options: RejectOptions): Promise<OperationReport>;
}

export function makeTriage(context: QueueContext): Triage {
  const { database } = context;
  return {
    groups: (scope, filter) => store.findGroups(database, scope, filter),
    items: (scope, filter, { after = "0", limit }) =>
      store.findItems(database, scope, filter, { after, limit }),
    replay: (scope, options) => replay(context, scope, options),
    reject: (scope, options) => reject(context, scope, options),
  };
}

async function replay(context: QueueContext, scope: Scope, options: ReplayOptions): Promise<OperationReport> {
  checkOptions(options);
  const { destination, dryRun, skipForbidden, perSecond = null, limit } = options;
  const { filter, tally } = await select(context, scope, options.filter);
  const allowed = tally.filter((row) => row.forbidden === null);
  const unsettled = await findUnsettled(context.database, scope, filter);
  const forbidden = [...forbiddenOf(tally), ...unsettledOf(unsettled)];
  const selected = Math.min(limit ?? Infinity, total(allowed) - total(unsettled.tally));
  if (dryRun) return planned(selected, forbidden);
  if (!skipForbidden) {
    await assertRedrivable(context.database, unsettled.messageIds);
    refuseForbidden(forbidden);
  }
  refuseUnconfirmed(allowed, options);
  refuseTarget(allowed, destination);
  const targetOf = (item: Candidate) => destination?.id ?? item.diedInId;
  return runOperation(context.database, {
    action: "dlq.replay",
    options,
    scope,
    filter,
    selected,
    forbidden,
    forbiddenToo: false,
    details: { destination: destination?.name ?? null, perSecond },
    async move(tx, slice) {
      const settled = await settledOf(tx, slice);
      const replay = () => store.replaySlice(tx, settled, destination?.id ?? null);
      return inGroups(tx, settled, [targetOf, liesIn], replay);
    },
    announce(moved) {
      wakeQueues(context, moved.map(targetOf));
      for (const [queueId, count] of countBy(moved, targetOf))
        queueSignals.publish("queue.replayed", { queueId, count });
    },
  });
}

async function reject(context: QueueContext, scope: Scope, options: RejectOptions): Promise<OperationReport> {
  checkOptions(options);
  const { code = "REJECTED_BY_OPERATOR", reason, dryRun, limit } = options;
  const { filter, tally } = await select(context, scope, options.filter);
  const selected = total(tally, limit);
  if (dryRun) return planned(selected, []);
  return runOperation(context.database, {
    action: "dlq.reject",
    options,
    scope,
    filter,
    selected,
    forbidden: [],
    forbiddenToo: true,
    details: { code },
    move: (tx, slice) => inGroups(tx, slice, [liesIn], () => store.rejectSlice(tx, slice, code, reason)),
    announce(moved) {
      for (const [queueId, count] of countBy(moved, (item) => item.diedInId))
        queueSignals.publish("queue.rejected", { queueId, count });
    },
  });
}

/** What is selected at this moment: what fails later is not part of the operation. */
export async function select({ database }: QueueContext, scope: Scope, wanted: TriageFilter) {
  const nowMs = await store.readClockMs(database);
  const filter = { ...wanted, untilMs: Math.min(wanted.untilMs ?? Infinity, nowMs) };
  return { filter, tally: await store.tallySelection(database, scope, filter) };
}

const total = (tally: readonly Tally[], limit = Infinity): number =>
  Math.min(
    limit,
    tally.reduce((sum, row) => sum + row.count, 0),
  );

export function countBy<T>(list: readonly T[], keyOf: (item: T) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of list) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

const forbiddenOf = (tally: readonly Tally[]): Forbidden[] =>
  tally.flatMap(({ queue, code, forbidden: rule, count }) =>
    rule === null ? [] : [{ queue: queue ?? "", code, rule, count }],
  );

const unsettledOf = ({ tally }: Unsettled): Forbidden[] =>
  tally.map(({ queue, code, count }) => ({
    queue: queue ?? "",
    code,
    rule: "nobody knows what became of a side effect",
    count,
  }));

function refuseForbidden(forbidden: readonly Forbidden[]): void {
  if (forbidden.length === 0) return;
  const rules = forbidden.map(
    ({ queue, code, rule, count }) => `${count} of ${queue} with ${code} (rule: ${rule})`,
  );
  throw queueErrors.error(
    "TUNTAS_REPLAY_FORBIDDEN",
    `nothing was replayed; forbidden are ${rules.join("; ")}`,
    { details: { forbidden } },
  );
}

function refuseUnconfirmed(allowed: readonly Tally[], { effectChecked }: ReplayOptions): void {
  const count = total(allowed.filter((row) => row.outcome === "unknown"));
  if (count === 0 || effectChecked) return;
  throw queueErrors.error(
    "TUNTAS_REPLAY_UNCONFIRMED",
    `nothing was replayed; the effect of ${count} of the messages may have taken place already`,
  );
}

function refuseTarget(allowed: readonly Tally[], destination: QueueRecord | undefined): void {
  const refuse = (why: string) => queueErrors.error("TUNTAS_REPLAY_TARGET", `nothing was replayed; ${why}`);
  if (!destination && allowed.some((row) => row.queue === null))
    throw refuse("a queue that messages died in is deleted: name a destination");
  const other = destination && allowed.find((row) => row.fifo !== null && row.fifo !== destination.fifo);
  if (other) throw refuse(`${other.queue} and ${destination.name} are not both FIFO or both standard`);
}

export const liesIn = (item: Candidate): number => item.liesInId;

/**
 * Moves messages with the FIFO groups that they leave and enter locked, and works out anew what may be claimed of these.
 * Locked in the order of a claim, which holds the queue's group when it needs the dead-letter queue's: so the queue
 * that receives comes first.
 */
export async function inGroups(
  tx: Tx,
  slice: readonly Candidate[],
  queuesOf: readonly ((item: Candidate) => number)[],
  move: () => Promise<string[]>,
): Promise<string[]> {
  const grouped = slice.filter((item) => item.groupId !== null);
  const touched = queuesOf.flatMap((queueOf) =>
    grouped.map((item) => ({ queueId: queueOf(item), groupId: item.groupId! })),
  );
  const fifo = await fifoAmong(
    tx,
    touched.map((row) => row.queueId),
  );
  const inFifo = touched.filter((row) => fifo.has(row.queueId));
  for (const queueId of new Set(inFifo.map((row) => row.queueId))) {
    const groups = new Set(inFifo.filter((row) => row.queueId === queueId).map((row) => row.groupId));
    await store.lockFifoGroups(tx, queueId, [...groups].toSorted());
  }
  const moved = await move();
  await refreshGroups(tx, inFifo);
  return moved;
}
