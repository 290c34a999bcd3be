// EventBridge Scheduler's errors, in its own words. Source: API reference, and the service's model for the statuses.
import { isTuntasError } from "tuntas";
import type { ErrorKind } from "../wire.ts";
import { WireError } from "../wire.ts";

const namespace = "com.amazonaws.scheduler";

const statuses = {
  ConflictException: 409,
  InternalServerException: 500,
  ResourceNotFoundException: 404,
  ValidationException: 400,
} as const;

type Code = keyof typeof statuses;

const kindOf = (code: Code): ErrorKind => ({
  shape: code,
  queryCode: code,
  status: statuses[code],
  namespace,
});

export const schedulerError = (code: Code, message: string): WireError =>
  new WireError(kindOf(code), message);

export const invalid = (message: string): WireError => schedulerError("ValidationException", message);

/** The client's token belongs to a request that was another. */
export const tokenTaken = (): WireError =>
  schedulerError(
    "ConflictException",
    "The ClientToken was used before, for another request. Use a new one for a new request.",
  );

/** What the room says of an expression or a zone, in this service's words. */
export function expressionFault(cause: unknown, expression: string, zone: string): unknown {
  if (!isTuntasError(cause)) return cause;
  if (cause.code === "TUNTAS_TIME_ZONE_INVALID")
    return invalid(`Invalid Schedule Expression Timezone ${zone}.`);
  return /^TUNTAS_(CRON_|LOCAL_TIME_)/.test(cause.code)
    ? invalid(`Invalid Schedule Expression ${expression}. ${cause.message}`)
    : cause;
}

export const toWireError = (cause: unknown): WireError | undefined =>
  cause instanceof WireError ? cause : undefined;
