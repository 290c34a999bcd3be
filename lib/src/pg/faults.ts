// PostgreSQL's error codes, sorted by what a caller should do about them. Source: PostgreSQL manual, appendix A.
import { TuntasError } from "../core/error.ts";
import { pgErrors } from "./contract.ts";

/** The driver's error, also where it has been coded. */
const driverError = (cause: unknown): unknown =>
  cause instanceof TuntasError && cause.code in pgErrors.entries ? (cause.cause ?? cause) : cause;

const sqlState = (cause: unknown): string => {
  const code = (driverError(cause) as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
};

const lostConnection = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "57P01",
  "57P02",
  "57P03",
]);

/** What the driver says without a code. */
const lostMessage =
  /Connection terminated|^timeout expired$|timeout exceeded when trying to connect|Client has encountered a connection error|connection timeout|not queryable/i;

/** The connection is gone or was never there, so whether a COMMIT under way took place is not known. */
export function isConnectionLost(cause: unknown): boolean {
  const code = sqlState(cause);
  if (lostConnection.has(code) || code.startsWith("08")) return true;
  const error = driverError(cause);
  const message = error instanceof Error ? error.message : "";
  return lostMessage.test(message);
}

const allOut = "timeout exceeded when trying to connect";

/** All connections of a pool were out for as long as it lets anybody wait: nothing is wrong with the database. */
export const isPoolBusy = (cause: unknown): boolean =>
  (driverError(cause) as Error | undefined)?.message === allOut;

/** The session is in a transaction that has failed, in which nothing runs before it is rolled back. */
export const isAborted = (cause: unknown): boolean => sqlState(cause) === "25P02";

/** A prepared statement whose rows have another shape since somebody altered its table; parsed anew it works again. */
export const isStalePlan = (cause: unknown): boolean =>
  sqlState(cause) === "0A000" &&
  (driverError(cause) as { routine?: unknown }).routine === "RevalidateCachedQuery";

/** Serialization failure, deadlock, lock timeout or a stale plan: the same transaction may succeed if run again. */
export const isCollision = (cause: unknown): boolean =>
  ["40001", "40P01", "55P03"].includes(sqlState(cause)) || isStalePlan(cause);

/** Out of disk, memory, connections: the statement was fine. */
export const isExhausted = (cause: unknown): boolean => sqlState(cause).startsWith("53");

export const isUniqueViolation = (cause: unknown): boolean => sqlState(cause) === "23505";

/** Whether the whole transaction may be run again as it is. */
export const isTransient = (cause: unknown): boolean =>
  isConnectionLost(cause) || isCollision(cause) || isExhausted(cause);

/** The driver's error as a coded one; what is not about the database's state stays as it is. */
export function toCoded(cause: unknown): unknown {
  if (cause instanceof TuntasError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (isPoolBusy(cause))
    return pgErrors.error(
      "TUNTAS_CONNECTIONS_OUT",
      "expected a connection of this process to be free within 10 s",
      {
        cause,
      },
    );
  if (isConnectionLost(cause))
    return pgErrors.error("TUNTAS_DATABASE_UNREACHABLE", `the database is not reachable: ${message}`, {
      cause,
    });
  if (isCollision(cause))
    return pgErrors.error("TUNTAS_DATABASE_BUSY", `the database gave up on a statement: ${message}`, {
      cause,
    });
  if (isExhausted(cause))
    return pgErrors.error("TUNTAS_DATABASE_FULL", `the database has no room: ${message}`, { cause });
  return cause;
}

const triesMax = 5;

/**
 * Does it again where the database ended it for another's sake: a deadlock is nobody's fault. It must be one transaction, of
 * which nothing is left. Raises the last failure after five.
 */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (tries === triesMax || !isCollision(cause)) throw cause;
    }
  }
}
