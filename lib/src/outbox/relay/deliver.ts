// Delivering what was claimed to a target outside: each key's rows one after another, keys side by side. What a target
// did with a row is written at once, together with what its neighbours came to in the meantime.
import { coalescer } from "../../core/coalesce.ts";
import { isTuntasError } from "../../core/error.ts";
import type { Breaker } from "../../engine/outside/breaker.ts";
import { describeFailure } from "../../engine/failure.ts";
import type { Announcement, Receipt, Target, TargetName } from "../../engine/target.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import { within } from "../../engine/outside/within.ts";
import type { Sql } from "../../pg/contract.ts";
import type { RefusalPolicy } from "../contract.ts";
import { outboxSignals } from "../signals.ts";
import { decideRefusal, runsOf } from "../state.ts";
import type { OutboxRow, Published, Returned } from "../store.ts";
import { publishRows, returnRows } from "../store.ts";

export interface Outward {
  readonly database: Sql;
  readonly target: TargetName;
  readonly deliver: Extract<Target, { deliver: unknown }>["deliver"];
  readonly breaker: Breaker;
  readonly policy: RefusalPolicy;
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Ends deliveries when the relay closes. */
  readonly ending: AbortSignal;
}

const unavailableDelayMs = 1000;

/** For how long the target asks to be left alone. */
export const restOf = (cause: unknown): number => {
  const { retryAfterMs } = isTuntasError(cause) ? cause.details : {};
  return typeof retryAfterMs === "number" ? retryAfterMs : 0;
};

/** The row comes back: for its own fault, or for an outage, which costs it no try. */
export function returnOf(row: OutboxRow, cause: unknown, policy: RefusalPolicy): Returned {
  const { id, fence } = row;
  const [failure, restMs] = [describeFailure(cause), restOf(cause)];
  if (isUnavailable(cause))
    return {
      id,
      fence,
      refused: false,
      park: false,
      delayMs: Math.max(unavailableDelayMs, restMs),
      failure,
    };
  const next = isTuntasError(cause, "TUNTAS_OUTBOX_PERMANENT")
    ? ({ kind: "park" } as const)
    : decideRefusal(row.refusals + 1, policy, Math.random());
  return {
    id,
    fence,
    refused: true,
    park: next.kind === "park",
    delayMs: next.kind === "again" ? Math.max(next.delayMs, restMs) : 0,
    failure,
  };
}

export const untried = ({ id, fence }: OutboxRow): Returned => ({
  id,
  fence,
  refused: false,
  park: false,
  delayMs: 0,
});

export function announceReturn({ kind, name }: TargetName, { id, refused, park, failure }: Returned): void {
  if (!failure) return;
  const { code } = failure;
  outboxSignals.publish(refused ? "outbox.refused" : "outbox.unavailable", { kind, name, code });
  if (park) outboxSignals.publish("outbox.parked", { kind, name, code, id });
}

export function announcePublished({ kind, name }: TargetName, rows: readonly { ageMs: number }[]): void {
  if (rows.length === 0) return;
  outboxSignals.publish("outbox.published", {
    kind,
    name,
    count: rows.length,
    oldestAgeMs: Math.max(...rows.map((row) => row.ageMs)),
  });
}

function settlerOf({ database, target }: Outward) {
  const published = coalescer<Published, void>({
    itemsMax: 500,
    flushesMax: 1,
    async flush(rows) {
      announcePublished(target, await publishRows(database, rows));
      return rows.map(() => undefined);
    },
  });
  const returned = coalescer<Returned, void>({
    itemsMax: 500,
    flushesMax: 1,
    async flush(rows) {
      const moved = new Set((await returnRows(database, rows)).map((row) => row.id));
      for (const row of rows) if (moved.has(row.id)) announceReturn(target, row);
      return rows.map(() => undefined);
    },
  });
  const writing: Promise<void>[] = [];
  const note = (write: Promise<void>) => {
    write.catch(() => undefined); // `written` tells of it
    writing.push(write);
  };
  return {
    published: (row: Published) => note(published.add(row)),
    returned: (row: Returned) => note(returned.add(row)),
    written: () => Promise.all(writing),
  };
}

type Settler = ReturnType<typeof settlerOf>;

/** Delivers the claimed rows and writes what came of each. Resolves when all are written. */
export async function deliverOut(
  outward: Outward,
  rows: readonly OutboxRow[],
  leaseMs: number,
): Promise<void> {
  const settler = settlerOf(outward);
  // A row that would be begun too late might be somebody else's before it ends.
  const lastBeginMs = performance.now() + leaseMs - outward.timeoutMs - 1000;
  const runs = runsOf(rows);
  const worker = async () => {
    for (let run = runs.shift(); run; run = runs.shift())
      await deliverRun(outward, settler, { run, lastBeginMs });
  };
  await Promise.all(Array.from({ length: Math.min(outward.concurrency, runs.length) }, worker));
  await settler.written();
}

async function deliverRun(
  outward: Outward,
  settler: Settler,
  { run, lastBeginMs }: { run: readonly OutboxRow[]; lastBeginMs: number },
): Promise<void> {
  for (const [index, row] of run.entries()) {
    const late = outward.ending.aborted || performance.now() > lastBeginMs || outward.breaker.admits() === 0;
    const went = !late && (await deliverRow(outward, settler, row));
    if (went) continue;
    // The rest of the key keeps its order: it waits behind this row.
    for (const rest of run.slice(late ? index : index + 1)) settler.returned(untried(rest));
    return;
  }
}

async function deliverRow(outward: Outward, settler: Settler, row: OutboxRow): Promise<boolean> {
  const { target, deliver, breaker, policy, timeoutMs, ending } = outward;
  const { eventId, key, type, payload, id, fence } = row;
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ending]);
  let receipt: Receipt | void;
  try {
    receipt = await breaker.run(() =>
      within(signal, () => invoke(deliver, { target, eventId, key, type, payload }, signal)),
    );
  } catch (cause) {
    if (isUnavailable(cause)) breaker.rest(restOf(cause));
    settler.returned(returnOf(row, cause, policy));
    return false;
  }
  settler.published({
    id,
    fence,
    duplicate: receipt?.status === "duplicate",
    reference: receipt?.reference,
  });
  return true;
}

/** In a promise, so that a throw of a plain function and a rejection are one. */
async function invoke(
  deliver: Outward["deliver"],
  announcement: Announcement,
  signal: AbortSignal,
): Promise<Receipt | void> {
  return deliver(announcement, signal);
}
