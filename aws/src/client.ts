// The SDK's clients, and what their failures mean. Region, credentials and endpoint come by the SDK's usual ways, in the
// thread that keeps messages hidden as well; so all are made from plain values.
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { SQSClient } from "@aws-sdk/client-sqs";
import { isUnavailable } from "tuntas/queue/remote";
import { queueErrors } from "tuntas/queue";
import { workflowErrors } from "tuntas/workflow";

export interface ClientOptions {
  /** By default AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL_SFN or AWS_ENDPOINT_URL_S3, else the region's. */
  readonly endpoint?: string | undefined;
  /** By default AWS_REGION, else that of the profile. */
  readonly region?: string | undefined;
}

// Full jitter, capped at 20 s, and a bucket of tokens that keeps retries from adding to an outage: the SDK's own.
const attemptsMax = 8;

const settingsOf = ({ endpoint, region }: ClientOptions) => ({
  ...(endpoint !== undefined && { endpoint }),
  ...(region !== undefined && { region }),
  maxAttempts: attemptsMax,
  retryMode: "standard",
});

export const makeClient = (options: ClientOptions): SQSClient => new SQSClient(settingsOf(options));
export const makeMachinesClient = (options: ClientOptions): SFNClient => new SFNClient(settingsOf(options));

/** Other stores that speak S3's protocol are reached by one host name; AWS' buckets have one each. */
export const makeObjectsClient = (options: ClientOptions): S3Client =>
  new S3Client({
    ...settingsOf(options),
    forcePathStyle: (options.endpoint ?? process.env.AWS_ENDPOINT_URL_S3) !== undefined,
  });

const throttled =
  /^(RequestThrottled|Throttling|ThrottlingException|OverLimit|KmsThrottled|KmsThrottlingException)$|TooManyRequests/;

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

const said = (cause: unknown): string => {
  const { name, message } = (cause ?? {}) as Fault;
  return `${String(name)}: ${String(message)}`;
};

/** The failure of a queue as callers see it. */
export const coded = (cause: unknown, what: string): Error =>
  queueErrors.error(
    isPassing(cause) ? "TUNTAS_QUEUE_UNREACHABLE" : "TUNTAS_QUEUE_REFUSED",
    `Amazon SQS: could not ${what}: ${said(cause)}`,
    { cause },
  );

/** The failure of a machine as callers see it. */
export const codedMachine = (cause: unknown, what: string): Error =>
  workflowErrors.error(
    isPassing(cause) ? "TUNTAS_MACHINE_UNREACHABLE" : "TUNTAS_MACHINE_REFUSED",
    `AWS Step Functions: could not ${what}: ${said(cause)}`,
    { cause },
  );

export const missing = (workflow: string): Error =>
  workflowErrors.error(
    "TUNTAS_WORKFLOW_MISSING",
    `AWS Step Functions has no state machine ${workflow} in this account and region`,
  );
