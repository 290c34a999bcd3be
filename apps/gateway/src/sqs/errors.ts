// SQS's errors: each with its shape (JSON), its code (Query) and its status. Source: API reference of each action.
import { isTuntasError } from "tuntas";
import type { ErrorKind } from "../wire.ts";
import { genericErrors, genericNamespace, WireError } from "../wire.ts";

const namespace = "com.amazonaws.sqs";

const modelled = (shape: string, queryCode: string, status = 400): ErrorKind => ({
  shape,
  queryCode,
  status,
  namespace,
});

const legacy = (shape: string, status = 400): ErrorKind =>
  modelled(shape, `AWS.SimpleQueueService.${shape}`, status);

export const sqsErrors = {
  batchEntryIdsNotDistinct: legacy("BatchEntryIdsNotDistinct"),
  batchRequestTooLong: legacy("BatchRequestTooLong"),
  emptyBatchRequest: legacy("EmptyBatchRequest"),
  invalidAddress: modelled("InvalidAddress", "InvalidAddress", 404),
  invalidAttributeName: modelled("InvalidAttributeName", "InvalidAttributeName"),
  invalidAttributeValue: modelled("InvalidAttributeValue", "InvalidAttributeValue"),
  invalidBatchEntryId: legacy("InvalidBatchEntryId"),
  invalidMessageContents: modelled("InvalidMessageContents", "InvalidMessageContents"),
  invalidParameterValue: {
    shape: "InvalidParameterValueException",
    queryCode: "InvalidParameterValue",
    status: 400,
    namespace: genericNamespace,
  },
  missingParameter: {
    shape: "MissingRequiredParameterException",
    queryCode: "MissingParameter",
    status: 400,
    namespace: genericNamespace,
  },
  overLimit: modelled("OverLimit", "OverLimit", 403),
  purgeQueueInProgress: legacy("PurgeQueueInProgress", 403),
  queueDoesNotExist: {
    ...modelled("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
    queryMessage: "The specified queue does not exist for this wsdl version.",
  },
  queueNameExists: modelled("QueueNameExists", "QueueAlreadyExists"),
  receiptHandleIsInvalid: modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid"),
  resourceNotFound: modelled("ResourceNotFoundException", "ResourceNotFoundException", 404),
  tooManyEntriesInBatchRequest: legacy("TooManyEntriesInBatchRequest"),
  unsupportedOperation: legacy("UnsupportedOperation"),
} as const satisfies Record<string, ErrorKind>;

export const sqsError = (code: keyof typeof sqsErrors, message: string): WireError =>
  new WireError(sqsErrors[code], message);

export const queueMissing = (): WireError =>
  sqsError("queueDoesNotExist", "The specified queue does not exist.");

export const missing = (parameter: string): WireError =>
  sqsError("missingParameter", `The request must contain the parameter ${parameter}.`);

/** Without a value where AWS does not repeat it. */
export const invalid = (value: unknown, parameter: string, reason: string): WireError =>
  sqsError(
    "invalidParameterValue",
    `Value ${value === undefined ? "" : `${String(value)} `}for parameter ${parameter} is invalid. Reason: ${reason}`,
  );

/** The value of a parameter that must be there; empty text counts as absent, as on AWS. */
export function required<T>(value: T | undefined, parameter: string): T {
  if (value === undefined || value === "") throw missing(parameter);
  return value;
}

type Bounds = readonly [min: number, max: number];

/** The value if it is within the bounds or absent, else what `refuse` says of it. */
export function bounded<T extends number | undefined>(
  value: T,
  [min, max]: Bounds,
  refuse: () => WireError,
): T {
  if (value === undefined || (value >= min && value <= max)) return value;
  throw refuse();
}

/** The same in the words that AWS has for most parameters. */
export const within = <T extends number | undefined>(value: T, parameter: string, bounds: Bounds): T =>
  bounded(value, bounds, () =>
    invalid(value, parameter, `Must be between ${bounds[0]} and ${bounds[1]}, if provided.`),
  );

/** And in those that it has for the times of a receive. */
export const withinTime = <T extends number | undefined>(value: T, parameter: string, bounds: Bounds): T =>
  bounded(value, bounds, () =>
    invalid(value, parameter, `Must be >= ${bounds[0]} and <= ${bounds[1]}, if provided.`),
  );

/** Says an error of the queue room in SQS's terms; undefined for what is nobody's expectation. */
export function toWireError(cause: unknown): WireError | undefined {
  if (cause instanceof WireError) return cause;
  if (isTuntasError(cause, "TUNTAS_QUEUE_MISSING")) return queueMissing();
  if (isTuntasError(cause, "TUNTAS_RECEIVE_ATTEMPT")) {
    const reason =
      "The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.";
    return invalid(cause.details.attemptId, "ReceiveRequestAttemptId", reason);
  }
  if (isTuntasError(cause) && cause.retryable) return new WireError(genericErrors.unavailable, cause.message);
  return undefined;
}
