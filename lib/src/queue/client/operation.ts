// How an operation upon dead letters runs: in slices of one transaction each, at a rate, until nothing of its selection
// is left or its signal aborts it. One row of the record says at any time how far it came; each slice names its messages.
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../pg/database.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Scope, TriageFilter } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { updateAudit, writeAudit } from "../store/audit.ts";
import { findCandidates, type Candidate } from "../store/triage.ts";

/** Who does it and why; both go on the record. */
export interface Act {
  readonly actor: string;
  readonly reason: string;
}

export interface OperationOptions extends Act {
  readonly filter: TriageFilter;
  /** Counts and checks, and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** At most so many messages, the oldest first. */
  readonly limit?: number | undefined;
  /** At most so many messages a second. */
  readonly perSecond?: number | undefined;
  /** Ends the operation after the slice that runs. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of the selection that a rule of its queue forbids to replay. */
export interface Forbidden {
  readonly queue: string;
  readonly code: string;
  readonly rule: string;
  readonly count: number;
}

/** What an operation came to. */
export interface OperationReport {
  /** `planned`: a dry run. `aborted`: by its signal; what was moved until then stays moved. */
  readonly status: "planned" | "completed" | "aborted";
  /** The id of its row in the record; null for a dry run. */
  readonly auditId: string | null;
  /** Messages that the filter selects and no rule forbids, at most the limit. */
  readonly selected: number;
  readonly moved: number;
  /** Messages that somebody else moved or received in the meantime. */
  readonly skipped: number;
  readonly forbidden: readonly Forbidden[];
}

/** What is done to the selection, and how it goes on the record. */
export interface Operation {
  readonly action: "dlq.replay" | "dlq.reject";
  readonly options: OperationOptions;
  readonly scope: Scope;
  /** The filter with its end in time: what fails later is not part of the operation. */
  readonly filter: TriageFilter;
  readonly selected: number;
  readonly forbidden: readonly Forbidden[];
  readonly forbiddenToo: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  /** Part of a transaction; answers the ids that it moved. */
  readonly move: (tx: Tx, slice: readonly Candidate[]) => Promise<string[]>;
  /** After the commit. */
  readonly announce: (moved: readonly Candidate[]) => void;
}

interface Progress {
  moved: number;
  skipped: number;
}

const sliceMax = 200;
// To find candidates reads the whole pile, so one look serves many slices.
const pageMax = 20_000;
const slicesPerSecond = 5;

/** Errors: TUNTAS_TRIAGE_OPTIONS. */
export function checkOptions({ actor, reason, perSecond, limit }: OperationOptions): void {
  for (const [name, value] of Object.entries({ actor, reason })) {
    if (typeof value === "string" && value.trim() !== "") continue;
    throw queueErrors.error(
      "TUNTAS_TRIAGE_OPTIONS",
      `expected ${name} to say something, got ${JSON.stringify(value)}`,
    );
  }
  for (const [name, value] of Object.entries({ perSecond, limit })) {
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw queueErrors.error(
      "TUNTAS_TRIAGE_OPTIONS",
      `expected ${name} to be a whole number from 1, got ${value}`,
    );
  }
}

export const planned = (selected: number, forbidden: readonly Forbidden[]): OperationReport => ({
  status: "planned",
  auditId: null,
  selected,
  moved: 0,
  skipped: 0,
  forbidden,
});

const detailsOf = ({ details, filter, selected }: Operation, status: string, progress: Progress) => ({
  ...details,
  filter,
  selected,
  status,
  ...progress,
});

/** Runs the operation to its end. The row of the record is there before the first message moves. */
export async function runOperation(database: Database, operation: Operation): Promise<OperationReport> {
  const { action, options, filter, selected, forbidden } = operation;
  const { actor, reason, signal } = options;
  const progress: Progress = { moved: 0, skipped: 0 };
  const details = detailsOf(operation, "running", progress);
  const auditId = await writeAudit(database, {
    actor,
    action,
    subject: `queue ${filter.queue ?? "*"}`,
    reason,
    details,
  });
  let status: "completed" | "aborted" | "failed" = "failed";
  try {
    await runSlices(database, operation, { auditId, progress });
    status = signal?.aborted ? "aborted" : "completed";
    return { status, auditId, selected, ...progress, forbidden };
  } finally {
    await updateAudit(database, auditId, detailsOf(operation, status, progress));
  }
}

interface Run {
  readonly auditId: string;
  readonly progress: Progress;
}

/** The selection in the order of the ids, so that what dies again meanwhile is not taken twice. */
async function* slicesOf(database: Database, operation: Operation, size: number) {
  const { options, scope, filter, forbiddenToo } = operation;
  let left = options.limit ?? Infinity;
  for (let after = "0"; left > 0;) {
    const limit = Math.min(pageMax, left);
    const page = await findCandidates(database, scope, filter, { after, limit, forbiddenToo });
    for (let at = 0; at < page.length; at += size) yield page.slice(at, at + size);
    if (page.length < limit) return;
    after = page.at(-1)!.id;
    left -= page.length;
  }
}

async function runSlices(database: Database, operation: Operation, run: Run): Promise<void> {
  const { perSecond, signal } = operation.options;
  const size =
    perSecond === undefined ? sliceMax : Math.min(sliceMax, Math.ceil(perSecond / slicesPerSecond));
  let pauseMs = 0;
  for await (const slice of slicesOf(database, operation, size)) {
    if (pauseMs > 0) await pause(pauseMs, signal);
    if (signal?.aborted) return;
    const moved = await runSlice(database, operation, run, slice);
    pauseMs = perSecond === undefined ? 0 : (moved / perSecond) * 1000;
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => undefined);
}

/** One slice in one transaction, together with what the record says of it; answers how many messages it moved. */
async function runSlice(
  database: Database,
  operation: Operation,
  { auditId, progress }: Run,
  slice: readonly Candidate[],
): Promise<number> {
  const { action, options, details, move, announce } = operation;
  const moved = await database.transaction(async (tx) => {
    const ids = new Set(await move(tx, slice));
    const done = slice.filter((item) => ids.has(item.id));
    const named = { operation: auditId, ...details, messageIds: done.map((item) => item.messageId) };
    if (done.length > 0) {
      await writeAudit(tx, {
        actor: options.actor,
        action: `${action}.slice`,
        subject: `audit ${auditId}`,
        reason: options.reason,
        details: named,
      });
      await updateAudit(
        tx,
        auditId,
        detailsOf(operation, "running", { ...progress, moved: progress.moved + done.length }),
      );
    }
    return done;
  });
  progress.moved += moved.length;
  progress.skipped += slice.length - moved.length;
  announce(moved);
  return moved.length;
}
