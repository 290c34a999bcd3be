// EventBridge Scheduler's errors, in its own words. Source: API reference, and the service's model for the statuses.
import { isTuntasError } from "tuntas";
import type { Arrangement } from "tuntas/schedule";
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

/** Says in this service's words what the room has against an expression or a zone. */
export const expressionFault =
  ({ expression, timeZone }: Pick<Arrangement, "expression" | "timeZone">) =>
  (cause: unknown): never => {
    if (isTuntasError(cause, "TUNTAS_TIME_ZONE_INVALID"))
      throw invalid(`Invalid Schedule Expression Timezone ${timeZone}.`);
    if (isTuntasError(cause) && /^TUNTAS_(CRON_|LOCAL_TIME_)/.test(cause.code))
      throw invalid(`Invalid Schedule Expression ${expression}. ${cause.message}`);
    throw cause;
  };

export const toWireError = (cause: unknown): WireError | undefined =>
  cause instanceof WireError ? cause : undefined;
