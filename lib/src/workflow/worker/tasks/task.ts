// What a runner of tasks gets and what it answers.
import type { ExecutionIdentity, Failure, Json, StartTask } from "../../../asl/contract.ts";

export interface TaskContext {
  /** Undefined in TestState, where there is no execution. */
  readonly execution: ExecutionIdentity | undefined;
  /** Aborts when the task is cancelled or the process ends. */
  readonly signal: AbortSignal;
  /** Notes that the work was handed over; `toOutside` where only its token can end it from now on. */
  submitted(output: Json, toOutside: boolean): Promise<void>;
}

export type TaskOutcome =
  | { readonly output: Json }
  | (Failure & { readonly phase?: "schedule" | "start" | "submit" | "run" })
  /** It was handed over; somebody else ends it. */
  | "handed over";

export type TaskRunner = (task: StartTask, context: TaskContext) => Promise<TaskOutcome>;

/** How AWS words the metadata of a call that it made. */
export function sdkMetadata(status: number, requestId: string) {
  const headers = { "Content-Type": "application/x-amz-json-1.0", "x-amzn-RequestId": requestId };
  return {
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      HttpHeaders: headers,
      HttpStatusCode: status,
    },
    SdkResponseMetadata: { RequestId: requestId },
  };
}

/** A cause in the words of AWS's first SDK. */
export const serviceCause = (
  message: string,
  { service, status, code, requestId }: { service: string; status: number; code: string; requestId: string },
): string =>
  `${message} (Service: ${service}; Status Code: ${status}; Error Code: ${code}; Request ID: ${requestId}; Proxy: null)`;
