// Is it the other side, or is it this request? A call that never got a judgement (refused connection, timeout, 5xx,
// throttling) says something about the other side; anything else says something about the request.
import { BrokenCircuitError } from "cockatiel";
import { isTuntasError } from "../core/error.ts";
import { isTransient } from "../pg/faults.ts";

/** Thrown by whoever knows that the other side cannot take anything at the moment. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

const unreached = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const cutOff = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

type Facts = {
  code?: unknown;
  name?: unknown;
  status?: unknown;
  statusCode?: unknown;
  cause?: unknown;
  $metadata?: { httpStatusCode?: unknown };
};

const codesOf = (cause: unknown): unknown[] => {
  const { code, cause: inner } = (cause ?? {}) as Facts;
  return inner === undefined || inner === cause ? [code] : [code, ...codesOf(inner)];
};

/** The request certainly never arrived: calling again cannot do anything twice. */
export const isUnreached = (cause: unknown): boolean =>
  cause instanceof BrokenCircuitError || codesOf(cause).some((code) => unreached.has(code as string));

function statusOf(cause: unknown): number | undefined {
  const { status, statusCode, $metadata } = (cause ?? {}) as Facts;
  const found = status ?? statusCode ?? $metadata?.httpStatusCode;
  return typeof found === "number" ? found : undefined;
}

/** The other side could not answer; the request itself may be sound. */
export function isUnavailable(cause: unknown): boolean {
  if (cause instanceof Unavailable || isUnreached(cause) || isTransient(cause)) return true;
  if (isTuntasError(cause)) return cause.retryable;
  const { name } = (cause ?? {}) as Facts;
  if (name === "AbortError" || name === "TimeoutError") return true;
  const status = statusOf(cause);
  if (status !== undefined) return status >= 500 || status === 429 || status === 408;
  return codesOf(cause).some((code) => cutOff.has(code as string));
}
