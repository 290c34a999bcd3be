// A worker takes less while the database is slow, as the heartbeat of its own process finds it: that has a connection
// and a thread to itself, so neither a full pool nor a busy event loop passes for a slow database.
import { toMs, type Duration } from "../../core/duration.ts";
import { wrongTime, type Finding } from "../findings.ts";

/** Something is always taken: nobody else would find that it is well again. */
const shareMin = 0.05;

/** Which share of his own somebody takes: down by a third each time that it is slow, and up again little by little. */
export const eased = (share: number, isSlow: boolean): number =>
  isSlow ? Math.max(shareMin, share / 1.5) : Math.min(1, share + 0.1);

/** Calls the handler with the milliseconds that each beat took, until the function that it answers is called. */
export type OnBeat = (handler: (tookMs: number) => void) => () => void;

export interface SlowAbove {
  readonly database: Duration;
}

export interface EaseOptions {
  /** What is declared: handlers that run at once. */
  readonly concurrency: number;
  /** Without it, never. */
  readonly slowAbove: SlowAbove | undefined;
  readonly onBeat: OnBeat;
  /** The first step down, and the last up. */
  readonly tell: (what: "eased" | "recovered", fields: { databaseMs: number; places: number }) => void;
  readonly changed: () => void;
}

export interface Ease {
  /** How many handlers may run at once for now; always at least one. */
  places(): number;
  /** Whether these are fewer than were declared. */
  isEased(): boolean;
  close(): void;
}

export function makeEase({ concurrency, slowAbove, onBeat, tell, changed }: EaseOptions): Ease {
  let share = 1;
  const places = () => Math.max(1, Math.floor(concurrency * share));

  function heard(tookMs: number, slowMs: number): void {
    const before = share;
    share = eased(share, tookMs > slowMs);
    if (share === before) return;
    const fields = { databaseMs: Math.round(tookMs), places: places() };
    if (before === 1) tell("eased", fields);
    if (share === 1) tell("recovered", fields);
    changed();
  }

  function listen({ database }: SlowAbove): () => void {
    const slowMs = toMs(database);
    return onBeat((tookMs) => heard(tookMs, slowMs));
  }

  return { places, isEased: () => share < 1, close: slowAbove ? listen(slowAbove) : () => undefined };
}

/** What is wrong with the limit, where one is declared. */
export const wrongSlowAbove = (slowAbove: SlowAbove | undefined): Finding =>
  slowAbove !== undefined && wrongTime("slowAbove.database", slowAbove.database, [1, 60_000], "100ms");

/** The fields of the signals that tell of it, beside whose places they are. */
export const easeFields = {
  databaseMs: "what the beat of the process took, in milliseconds",
  places: "handlers that may run at once in this process now",
};
