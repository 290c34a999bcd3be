// Step Functions' errors, in its own words. Source: API reference of each action.
import { isTuntasError } from "tuntas";
import { TestStateError } from "tuntas/asl";
import type { ErrorKind } from "../wire.ts";
import { genericErrors, WireError } from "../wire.ts";

const namespace = "com.amazonaws.swf.service.v2.model";

/** What stands before the quoted detail in the message; empty where the message stands alone. */
const titles = {
  ActivityAlreadyExists: "Activity Already Exists",
  ActivityDoesNotExist: "Activity Does Not Exist",
  ConflictException: "",
  ExecutionAlreadyExists: "Execution Already Exists",
  ExecutionDoesNotExist: "Execution Does Not Exist",
  ExecutionNotRedrivable: "Execution Not Redrivable",
  InvalidArn: "Invalid Arn",
  InvalidDefinition: "",
  InvalidEncryptionConfiguration: "",
  InvalidExecutionInput: "Invalid State Machine Execution Input",
  InvalidLoggingConfiguration: "",
  InvalidName: "Invalid Name",
  InvalidOutput: "Invalid Output",
  InvalidToken: "Invalid Token",
  MissingRequiredParameter: "",
  ResourceNotFound: "",
  StateMachineAlreadyExists: "State Machine Already Exists",
  StateMachineDoesNotExist: "State Machine Does Not Exist",
  StateMachineTypeNotSupported: "",
  TaskDoesNotExist: "Task Does Not Exist",
  TaskTimedOut: "Task Timed Out",
  TooManyTags: "",
  ValidationException: "",
} as const;

export type SfnErrorCode = keyof typeof titles;

const kindOf = (code: SfnErrorCode): ErrorKind => ({
  shape: code,
  queryCode: code,
  status: 400,
  namespace,
});

/** The error with its detail in quotes, as AWS words most of them; or with the bare message where there is no title. */
export const sfnError = (code: SfnErrorCode, detail: string): WireError =>
  new WireError(kindOf(code), titles[code] === "" ? detail : `${titles[code]}: '${detail}'`);

/** Malformed, in AWS's words. */
export const roleArnError = (arn: string): WireError =>
  new WireError(kindOf("InvalidArn"), `Invalid Role Arn: '${arn}'`);

export function toWireError(cause: unknown): WireError | undefined {
  if (cause instanceof WireError) return cause;
  if (cause instanceof TestStateError) return sfnError(cause.code, cause.message);
  if (isTuntasError(cause) && cause.retryable) return new WireError(genericErrors.unavailable, cause.message);
  return undefined;
}
