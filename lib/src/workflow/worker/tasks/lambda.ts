// Lambda functions by the Invoke API, directly (`Resource` is the function's ARN) or through `lambda:invoke`.
import { randomUUID } from "node:crypto";
import type { Json, JsonObject, StartTask } from "../../../asl/contract.ts";
import { sdkMetadata, serviceCause, type TaskOutcome, type TaskRunner } from "./task.ts";

interface Invocation {
  readonly name: string;
  readonly qualifier: string | undefined;
  /** The request's body; empty where no payload was given. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Lambda takes JSON text; a string that is none is a JSON string. */
function payloadText(payload: Json | undefined): string {
  if (payload === undefined || payload === null) return "";
  if (typeof payload !== "string") return JSON.stringify(payload);
  try {
    JSON.parse(payload);
    return payload;
  } catch {
    return JSON.stringify(payload);
  }
}

function invocationOf(task: StartTask): Invocation {
  if (task.kind === "lambda")
    return { name: task.resource, qualifier: undefined, body: JSON.stringify(task.input), headers: {} };
  const given = task.input as JsonObject;
  const text = (field: string) => (typeof given[field] === "string" ? (given[field] as string) : undefined);
  const headers = {
    "x-amz-invocation-type": text("InvocationType"),
    "x-amz-log-type": text("LogType"),
    "x-amz-client-context": text("ClientContext"),
  };
  return {
    name: String(given.FunctionName ?? ""),
    qualifier: text("Qualifier"),
    body: payloadText(given.Payload),
    headers: Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A function that threw: its own error type, and all it said. */
function functionError(text: string): TaskOutcome {
  const body = parse(text) as { errorType?: string } | undefined;
  return { error: body?.errorType ?? "Lambda.Unknown", cause: text };
}

function refusal(response: Response, text: string, requestId: string): TaskOutcome {
  const code =
    response.headers.get("x-amzn-errortype")?.split(":")[0] ??
    (response.status === 404 ? "ResourceNotFoundException" : "ServiceException");
  const body = parse(text) as { Message?: string; message?: string } | undefined;
  const said = body?.Message ?? body?.message ?? text;
  const message = /^Function not found: .*:function:[^:]+$/.test(said) ? `${said}:$LATEST` : said;
  const { status } = response;
  return {
    error: `Lambda.${code}`,
    cause: serviceCause(message, { service: "AWSLambda", status, code, requestId }),
  };
}

function answer(task: StartTask, response: Response, text: string, requestId: string): TaskOutcome {
  const payload = parse(text) ?? null;
  if (task.kind === "lambda") return { output: payload };
  const log = response.headers.get("x-amz-log-result");
  return {
    output: {
      ExecutedVersion: response.headers.get("x-amz-executed-version") ?? "$LATEST",
      ...(log === null ? {} : { LogResult: log }),
      ...(text === "" ? {} : { Payload: payload }),
      ...sdkMetadata(response.status, requestId),
      StatusCode: response.status,
    },
  };
}

export function makeLambda(endpoint: string | undefined): TaskRunner {
  return async (task, { signal, submitted }) => {
    if (endpoint === undefined) {
      const cause = "TUNTAS_LAMBDA_ENDPOINT is not set, so there is nobody to invoke the function.";
      return { error: "Lambda.SdkClientException", cause };
    }
    const { name, qualifier, body, headers } = invocationOf(task);
    const query = qualifier === undefined ? "" : `?Qualifier=${encodeURIComponent(qualifier)}`;
    const url = `${endpoint}/2015-03-31/functions/${encodeURIComponent(name)}/invocations${query}`;
    const response = await fetch(url, { method: "POST", body, headers, signal });
    const text = await response.text();
    const requestId = response.headers.get("x-amzn-requestid") ?? randomUUID();
    if (!response.ok) return refusal(response, text, requestId);
    if (response.headers.get("x-amz-function-error") !== null) return functionError(text);
    const outcome = answer(task, response, text, requestId);
    if (task.pattern !== "waitForTaskToken") return outcome;
    await submitted((outcome as { output: Json }).output, true);
    return "handed over";
  };
}
