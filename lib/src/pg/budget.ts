// The connections that Tuntas opens against those that the server has. Found out at the start, because the alternative
// is "too many clients" in the middle of a deployment, when old and new processes overlap.
import { pgErrors } from "./contract.ts";
import type { Database } from "./database.ts";
import { statement } from "./database.ts";

/** What one process may open: both pools, the listener, the notifier and the heartbeat. */
export const connectionsOf = (poolsMax: number): number => poolsMax + 3;

export interface Budget {
  /** One process with all its pools full. */
  readonly perProcess: number;
  readonly processes: number;
  /** `max_connections` without what is reserved. */
  readonly available: number;
}

export type Verdict = "enough" | "tight" | "impossible";

/** `tight`: not all processes can fill their pools at once. `impossible`: not even one can. */
export function judgeBudget({ perProcess, processes, available }: Budget): Verdict {
  if (perProcess > available) return "impossible";
  return perProcess * processes > available ? "tight" : "enough";
}

export const describeBudget = ({ perProcess, processes, available }: Budget): string =>
  `${processes} processes × ${perProcess} connections = ${perProcess * processes}, of ${available} that the server has for us`;

// reserved_connections is new in PostgreSQL 16.
const ask = statement(
  `select (select count(*)::int from tuntas.process where expires_at > tuntas.now()) as processes,
     current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0) as available`,
);

/** What one process of ours takes, how many live, and what the server has for them; undefined behind a pooler, which decides itself. */
export async function readBudget(database: Database): Promise<Budget | undefined> {
  if (database.pooled) return undefined;
  const [row] = await database.run<{ processes: number; available: number }>(ask);
  return { perProcess: connectionsOf(database.connectionsMax), ...row! };
}

/**
 * Compares; answers the warning to log, or undefined where all is well.
 * Errors: TUNTAS_CONNECTIONS_EXCEEDED where a single process could not even fill its own pools.
 */
export async function checkBudget(database: Database): Promise<string | undefined> {
  const read = await readBudget(database);
  if (!read) return undefined;
  const budget = { ...read, processes: read.processes + 1 };
  const verdict = judgeBudget(budget);
  if (verdict === "enough") return undefined;
  if (verdict === "tight") return describeBudget(budget);
  throw pgErrors.error(
    "TUNTAS_CONNECTIONS_EXCEEDED",
    `expected room for one process: ${describeBudget(budget)}`,
  );
}
