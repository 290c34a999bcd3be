// The doing side: claims operations and carries them out, slice by slice, at their rate. Where one stands is in the
// database, so whoever comes next goes on where the last commit ended.
import { setTimeout as sleep } from "node:timers/promises";
import { writeAudit } from "../engine/audit.ts";
import { describeFailure } from "../engine/failure.ts";
import type { Log } from "../engine/log.ts";
import { startPeriodic } from "../engine/periodic.ts";
import { isUnavailable } from "../engine/unavailable.ts";
import { longestSleepMs, type Waker } from "../engine/wake.ts";
import type { Database } from "../pg/database.ts";
import type { Tx } from "../pg/contract.ts";
import { operationKey } from "./client.ts";
import type { ItemResult, Operation, OperationItem, OperationKind } from "./contract.ts";
import { leaseSeconds, performHeld, whileHeld } from "./hold.ts";
import { operationSignals } from "./signals.ts";
import { sliceSize } from "./state.ts";
import * as store from "./store.ts";

export interface RunnerOptions {
  readonly database: Database;
  readonly waker: Waker;
  readonly kinds: ReadonlyMap<string, OperationKind>;
  readonly owner: () => string;
  readonly log: Pick<Log, "warn">;
  /** Tells whoever waits for an end. */
  readonly announce: () => void;
}

const retryMs = 1000;
const atOnceMax = 4;
// To find what is selected may read a whole pile, so one look serves many slices.
const pageMax = 5000;

/** One operation as it is carried out here. */
interface Run {
  readonly claim: store.Claim;
  readonly operation: Operation;
  readonly kind: OperationKind;
}

/** What was looked up and not done yet. */
interface Buffer {
  items: readonly OperationItem[];
  end: boolean;
}

interface Step {
  readonly items: readonly OperationItem[];
  readonly results: readonly ItemResult[];
  readonly perSecond: number | null;
}

export function startRunner(options: RunnerOptions): { close(): Promise<void> } {
  const { database, waker, kinds, owner, log, announce } = options;
  const running = new Map<string, Promise<void>>();
  const closing = new AbortController();
  const complain = (cause: unknown) => log.warn({ cause }, "an operation stopped and will be tried again");

  async function claimNext(): Promise<boolean> {
    if (running.size >= atOnceMax || closing.signal.aborted) return false;
    const claim = await store.claimOperation(database, owner(), { kinds: [...kinds.keys()], leaseSeconds });
    if (!claim) return false;
    const work = carryOut(options, claim, closing.signal)
      .catch(complain)
      .finally(() => {
        running.delete(claim.id);
        waker.wake(operationKey);
        announce();
      });
    running.set(claim.id, work);
    return true;
  }

  const periodic = startPeriodic({
    waker,
    key: operationKey,
    async round() {
      while (await claimNext());
      return longestSleepMs;
    },
    onError: complain,
    leastMs: 50,
  });

  return {
    async close() {
      closing.abort();
      await periodic.close();
      await Promise.all(running.values());
    },
  };
}

/** Until its end, or until this process ends or holds it no more. */
async function carryOut(options: RunnerOptions, claim: store.Claim, closing: AbortSignal): Promise<void> {
  const { database, kinds, waker } = options;
  const operation = (await store.findOperation(database, claim.id))!;
  const kind = kinds.get(operation.kind);
  // Its application was stopped here since it was claimed: another process has it.
  if (!kind) return await store.releaseOperation(database, claim);
  const run: Run = { claim, operation, kind };
  const held = { database, waker, claim, operation, closing };
  try {
    if ("perform" in kind) return await performHeld(held, kind.perform);
    // A look at all that is selected, one thing that is done outside and a low rate may each outlast the lease.
    await whileHeld(held, (signal) => carrySlices(database, run, signal));
    if (closing.aborted) await store.releaseOperation(database, claim);
  } catch (cause) {
    if (isUnavailable(cause))
      return await letGoLater(database, claim, { closing, why: describeFailure(cause).message });
    await endWith(database, run, "failed", describeFailure(cause).message);
  }
}

/** Until there is none left, or it is not ours any more. */
async function carrySlices(database: Database, run: Run, signal: AbortSignal): Promise<void> {
  const buffer: Buffer = { items: [], end: false };
  while (!signal.aborted) {
    const step = await takeStep(database, run, buffer);
    if (!step) return;
    await pause(step, signal);
  }
}

/** What cannot be reached now is tried again, by whoever looks first, but not at once. */
async function letGoLater(
  database: Database,
  claim: store.Claim,
  { closing, why }: { readonly closing: AbortSignal; readonly why: string },
): Promise<void> {
  await sleep(retryMs, undefined, { signal: closing }).catch(() => undefined);
  await store.releaseOperation(database, claim, why).catch(() => undefined);
}

async function pause({ results, perSecond }: Step, signal: AbortSignal): Promise<void> {
  const done = results.filter(({ outcome }) => outcome === "done").length;
  if (perSecond === null || done === 0) return;
  await sleep((done / perSecond) * 1000, undefined, { signal }).catch(() => undefined);
}

/** The next slice; undefined where there is none left, or it is not ours any more. */
async function takeStep(database: Database, run: Run, buffer: Buffer): Promise<Step | undefined> {
  if (buffer.items.length === 0 && !(await refill(database, run, buffer))) return undefined;
  const step =
    "applyIn" in run.kind ? await sliceIn(database, run, buffer) : await sliceOut(database, run, buffer);
  if (!step) return undefined;
  buffer.items = buffer.items.slice(step.items.length);
  tell(run, step);
  return step;
}

/** Looks for more; ends the operation where there is none. */
async function refill(database: Database, run: Run, buffer: Buffer): Promise<boolean> {
  if (!buffer.end) {
    const { cursor } = (await store.findOperation(database, run.claim.id))!;
    Object.assign(buffer, await run.kind.page(run.operation.selection, cursor, pageMax));
  }
  if (buffer.items.length > 0) return true;
  await endWith(database, run, "completed", null);
  return false;
}

async function endWith(
  database: Database,
  { claim, operation }: Run,
  state: "completed" | "failed",
  failure: string | null,
): Promise<void> {
  const { id, kind, actor, reason } = operation;
  const ended = await database.transaction(async (tx) => {
    if (!(await store.endOperation(tx, claim, [state, failure]))) return false;
    const { done, refused, skipped } = (await store.findOperation(tx, id))!;
    const details = { kind, done, refused, skipped, failure };
    await writeAudit(tx, {
      actor,
      action: `operation.${state}`,
      subject: `operation ${id}`,
      reason,
      details,
    });
    return true;
  });
  if (ended) operationSignals.publish("operation.ended", { operationId: id, kind, state });
}

/** The results go on the record with the ids, so that each thing can say what was done to it. */
async function record(
  tx: Tx,
  { operation }: Run,
  items: readonly OperationItem[],
  results: readonly ItemResult[],
) {
  const { id, kind, actor, reason } = operation;
  await store.recordSlice(tx, id, { results, cursor: items.at(-1)!.cursor, leaseSeconds });
  const done = results.filter(({ outcome }) => outcome === "done").map(({ item }) => item);
  if (done.length === 0) return;
  const details = { kind, items: done };
  await writeAudit(tx, { actor, action: `operation.${kind}`, subject: `operation ${id}`, reason, details });
}

/** Does a slice in the transaction that records it. */
async function sliceIn(database: Database, run: Run, buffer: Buffer): Promise<Step | undefined> {
  const { kind, claim, operation } = run;
  return database.transaction(async (tx) => {
    const held = await store.lockClaim(tx, claim);
    if (!held || !("applyIn" in kind)) return undefined;
    const items = buffer.items.slice(0, sliceSize(held.perSecond));
    const results = await kind.applyIn(tx, operation.selection, items, operation);
    await record(tx, run, items, results);
    return { items, results, perSecond: held.perSecond };
  });
}

/** Does one thing, then records it: nobody holds a transaction open while something else is called. */
async function sliceOut(database: Database, run: Run, buffer: Buffer): Promise<Step | undefined> {
  const { kind, claim, operation } = run;
  const held = await database.transaction((tx) => store.lockClaim(tx, claim));
  if (!held || !("apply" in kind)) return undefined;
  const items = buffer.items.slice(0, 1);
  const results = [await kind.apply(operation.selection, items[0]!, operation)];
  return database.transaction(async (tx) => {
    // Paused or aborted meanwhile: what was done is recorded all the same, unless another has taken it over.
    if (!(await store.isHeld(tx, claim))) return undefined;
    await record(tx, run, items, results);
    return { items, results, perSecond: held.perSecond };
  });
}

function tell({ kind, operation }: Run, { items, results }: Step): void {
  kind.announce?.(operation.selection, items, results);
  const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
  operationSignals.publish("operation.slice", {
    operationId: operation.id,
    kind: operation.kind,
    done: count("done"),
    refused: count("refused"),
    skipped: count("skipped"),
  });
}
