// How a handler's transaction begins. Nothing waits inside the database without limit: a second owner of one key finds
// out within 3 s, and no statement outlives the time that its attempt has. A session keeps the limits of the
// transaction before, so that one with the same limits need not say them; behind a pooler each says its own.
import type { PoolClient } from "pg";
import type { BurstStatement } from "../../pg/burst.ts";
import { statement, type Database } from "../../pg/database.ts";
import { inspect } from "./control.ts";

/** A timeout as PostgreSQL takes it. */
const timeoutMsOf = (timeoutMs: number): number => Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1);

const begin = statement("begin");
const setLimits = statement(
  "select set_config('lock_timeout', '3s', $2), set_config('statement_timeout', $1, $2)",
);
const commit = statement("commit");

interface Limits {
  readonly timeoutMs: number;
  /** Whether a transaction that set them was committed. */
  kept: boolean;
}

/** The limits that were last set on sessions. */
const limitsOf = new WeakMap<PoolClient, Limits>();

export interface Beginning {
  readonly statements: readonly BurstStatement[];
  /** To be called after the commit: what the session has been told stays with it. */
  readonly committed: () => void;
}

/** How a transaction on the connection begins. */
export function beginning(database: Database, client: PoolClient, timeoutMs: number): Beginning {
  const begun = database.bind(begin);
  const last = limitsOf.get(client);
  const isSame = last?.timeoutMs === timeoutMs;
  if (isSame && last.kept) return { statements: [begun], committed: () => undefined };
  // Where each begins behind the commit of the one before, none would ever know of a commit of its own kind.
  const limits: Limits = isSame ? last : { timeoutMs, kept: false };
  if (!database.pooled) limitsOf.set(client, limits);
  const values = [String(timeoutMsOf(timeoutMs)), database.pooled];
  return {
    statements: [begun, database.bind(setLimits, values)],
    committed: () => (limits.kept = true),
  };
}

export const committing = (database: Database): BurstStatement => database.bind(commit);

/** To be called before the texts run: one of them may change the limits of the session. */
export function forgetLimits(client: PoolClient, texts: readonly { readonly text: string }[]): void {
  if (texts.some(({ text }) => inspect(text).changesLimits)) limitsOf.delete(client);
}

/** The same for this transaction alone, in the driver's own words. */
export const beginText = (timeoutMs: number): string =>
  `begin; set local lock_timeout = '3s'; set local statement_timeout = ${timeoutMsOf(timeoutMs)}`;
