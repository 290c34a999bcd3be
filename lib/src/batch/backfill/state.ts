// What a backfill decides, purely: which moves there are, how large a slice is, how fast it may go on, when it has to be
// aborted, and when it will be done.
import { eased } from "../../engine/handler/ease.ts";
import type { Counts, RunReport, RunState, RunVerb } from "./contract.ts";

interface Move {
  readonly from: readonly RunState[];
  /** Undefined: it stays as it is. */
  readonly to?: RunState;
}

const open: readonly RunState[] = [
  "planning",
  "planned",
  "sampling",
  "sampled",
  "approved",
  "running",
  "paused",
];

/** What a person can say to a run. */
export const verbs: Readonly<Record<RunVerb, Move>> = {
  "dry-run": { from: ["planned", "sampled"], to: "sampling" },
  approve: { from: ["sampled"], to: "approved" },
  start: { from: ["approved"], to: "running" },
  pause: { from: ["running"], to: "paused" },
  resume: { from: ["paused"], to: "running" },
  abort: { from: [...open, "verifying"], to: "aborted" },
  verify: { from: ["paused"], to: "verifying" },
  rollback: { from: ["completed", "aborted"], to: "rolling_back" },
  rate: { from: open },
};

/** What a run does by itself. */
export const courses: readonly (readonly [from: RunState, to: RunState])[] = [
  ["planning", "planned"],
  ["planning", "aborted"],
  ["sampling", "sampled"],
  ["sampling", "planned"],
  ["running", "paused"],
  ["paused", "running"],
  // Where its last partition has ended since it was paused.
  ["paused", "verifying"],
  ["running", "verifying"],
  ["running", "aborted"],
  ["verifying", "completed"],
  ["verifying", "paused"],
  ["rolling_back", "rolled_back"],
  ["rolling_back", "aborted"],
];

/** Whether there is such a move, by a person or by itself. */
export const mayMove = (from: RunState, to: RunState): boolean =>
  courses.some((each) => each[0] === from && each[1] === to) ||
  Object.values(verbs).some((verb) => verb.to === to && verb.from.includes(from));

/** Whether the verb can be said to a run in this state. */
export const canSay = (verb: RunVerb, state: RunState): boolean => verbs[verb].from.includes(state);

/** What can be said to it now: it is verified again once nothing of it is left to do. */
export const verbsOf = ({ state, partitions }: Pick<RunReport, "state" | "partitions">): RunVerb[] =>
  (Object.keys(verbs) as RunVerb[]).filter(
    (verb) => canSay(verb, state) && (verb !== "verify" || partitions.ended === partitions.total),
  );

/** Whether nothing happens to it by itself any more, unless a window opens. */
export const isSettled = (state: RunState): boolean =>
  !["planning", "sampling", "running", "verifying", "rolling_back"].includes(state);

/** A slice is what one commit holds: a part of a second of the rate, so that this is kept evenly. */
export const sliceMax = 1000;
export const slicesPerSecond = 5;

/** How the database and the downstreams are, and which part of the rate is taken. */
export interface Health {
  readonly pace: number;
  readonly databaseMs: number | null;
  readonly downstreamMs: number | null;
}

/** What one slice saw; null where it called nothing outside. */
export interface Seen {
  readonly databaseMs: number;
  readonly downstreamMs: number | null;
}

export interface Limits {
  readonly slowDatabaseMs: number;
  readonly slowDownstreamMs: number;
  readonly abortDownstreamMs: number;
  readonly errorShare: number;
}

const smoothed = (before: number | null, now: number | null): number | null =>
  before === null || now === null ? (now ?? before) : (before + now) / 2;

/** Its pace eases at each slice that finds something slow. */
export function healthAfter({ pace, ...before }: Health, seen: Seen, limits: Limits): Health {
  const databaseMs = smoothed(before.databaseMs, seen.databaseMs);
  const downstreamMs = smoothed(before.downstreamMs, seen.downstreamMs);
  const isSlow = (databaseMs ?? 0) > limits.slowDatabaseMs || (downstreamMs ?? 0) > limits.slowDownstreamMs;
  return {
    pace: eased(pace, isSlow),
    databaseMs,
    downstreamMs,
  };
}

const triedMin = 100;

export const shareOf = ({ handled, failed }: Pick<Counts, "handled" | "failed">): number =>
  failed === 0 ? 0 : failed / (handled + failed);

interface Verdict {
  readonly code: "TUNTAS_BACKFILL_ERRORS" | "TUNTAS_BACKFILL_DOWNSTREAM";
  readonly message: string;
}

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** Why it has to be aborted; a share says something from a hundred records on, or at the end. */
export function verdictOf(
  counts: Counts,
  { downstreamMs }: Pick<Health, "downstreamMs">,
  { errorShare, abortDownstreamMs, isLast }: Limits & { readonly isLast: boolean },
): Verdict | undefined {
  const { handled, failed } = counts;
  const share = shareOf(counts);
  if (share > errorShare && (isLast || handled + failed >= triedMin))
    return {
      code: "TUNTAS_BACKFILL_ERRORS",
      message: `${failed} of ${handled + failed} records failed (${percent(share)}), more than ${percent(errorShare)}`,
    };
  if (downstreamMs !== null && downstreamMs > abortDownstreamMs)
    return {
      code: "TUNTAS_BACKFILL_DOWNSTREAM",
      message: `downstreams took ${Math.round(downstreamMs)} ms a call, more than ${abortDownstreamMs} ms`,
    };
  return undefined;
}

export interface Progress {
  readonly records: number;
  readonly read: number;
  readonly perSecond: number;
  /** Since it last went on. */
  readonly readSince: number;
  readonly sinceMs: number | null;
}

/** How long what is left takes at this pace, and before there is one at its rate. */
export function leftMsOf({ records, read, perSecond, readSince, sinceMs }: Progress): number {
  const left = Math.max(0, records - read);
  return Math.round(
    sinceMs === null || readSince === 0 ? (left / perSecond) * 1000 : (sinceMs / readSince) * left,
  );
}
