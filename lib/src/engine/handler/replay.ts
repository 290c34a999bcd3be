// Work on what happened long ago: a correction of old records is no news. Whatever runs as a replay announces nothing
// again, whichever code it calls: the doors of the rooms that take announcements ask here, and count instead. What
// statements and triggers announce in its transaction is kept back by the database (lib/sql/0090-replay.sql).
import { AsyncLocalStorage } from "node:async_hooks";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";

/** What became of it beside its own writes. */
export interface Replay {
  /** What would have been announced. */
  suppressed: number;
  /** Calls of downstreams, and how long they took together. */
  calls: number;
  callsMs: number;
}

const current = new AsyncLocalStorage<Replay>();

export const newReplay = (): Replay => ({ suppressed: 0, calls: 0, callsMs: 0 });

/** Runs `work`, and all that it calls, as a replay. */
export const asReplay = <T>(replay: Replay, work: () => T): T => current.run(replay, work);

/** Whether announcements are to be kept back here; counts them where they are. */
export function keepsBack(count = 1): boolean {
  const replay = current.getStore();
  if (!replay) return false;
  replay.suppressed += count;
  return true;
}

export const isReplay = (): boolean => current.getStore() !== undefined;

/** Counts a call of a downstream. */
export function noteCall(tookMs: number): void {
  const replay = current.getStore();
  if (!replay) return;
  replay.calls++;
  replay.callsMs += tookMs;
}

/** SQL: how much the transaction has kept back. */
export const keptBack = `current_setting('tuntas.suppressed')::int`;
/** SQL, for a select list: the transaction announces again. */
export const announces = `set_config('tuntas.replay', '', true)`;

// A setting that is a transaction's own ends with it.
const begin = statement(
  `select set_config('tuntas.replay', 'on', true), set_config('tuntas.suppressed', '0', true)`,
);
const end = statement(`select ${keptBack} as suppressed, ${announces}`);

/** From here on what is announced in the transaction by statements and triggers is kept back. */
export const beginReplay = (tx: Runner) => tx.run(begin);

/** The transaction announces again; answers how much it has kept back. */
export const endReplay = async (tx: Runner): Promise<number> =>
  (await tx.run<{ suppressed: number }>(end))[0]!.suppressed;
