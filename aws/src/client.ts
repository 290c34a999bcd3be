// The SDK's client, and what its failures mean. Region, credentials and endpoint come by the SDK's usual ways, in the
// thread that keeps messages hidden as well; so both are made from plain values.
import { SQSClient } from "@aws-sdk/client-sqs";
import { isUnavailable } from "tuntas/queue/remote";
import { queueErrors } from "tuntas/queue";

export interface ClientOptions {
  /** By default AWS_ENDPOINT_URL_SQS, else the region's. */
  readonly endpoint?: string | undefined;
  /** By default AWS_REGION, else that of the profile. */
  readonly region?: string | undefined;
}

// Full jitter, capped at 20 s, and a bucket of tokens that keeps retries from adding to an outage: the SDK's own.
const attemptsMax = 8;

export const makeClient = ({ endpoint, region }: ClientOptions): SQSClient =>
  new SQSClient({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    maxAttempts: attemptsMax,
    retryMode: "standard",
  });

const throttled =
  /^(RequestThrottled|Throttling|ThrottlingException|OverLimit|KmsThrottled)$|TooManyRequests/;

interface Fault {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly $retryable?: unknown;
}

/** Whether the same request may be taken later. */
export const isPassing = (cause: unknown): boolean => {
  const { name, $retryable } = (cause ?? {}) as Fault;
  return isUnavailable(cause) || $retryable !== undefined || throttled.test(String(name));
};

/** The failure as callers see it. */
export function coded(cause: unknown, what: string): Error {
  const { name, message } = (cause ?? {}) as Fault;
  const code = isPassing(cause) ? "TUNTAS_QUEUE_UNREACHABLE" : "TUNTAS_QUEUE_REFUSED";
  return queueErrors.error(code, `Amazon SQS: could not ${what}: ${String(name)}: ${String(message)}`, {
    cause,
  });
}
