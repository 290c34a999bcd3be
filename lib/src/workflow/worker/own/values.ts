// What goes into a handler and what comes out of it, wherever its execution lives.
import type { Json } from "../../../asl/contract.ts";
import { copyOf } from "../../../asl/index.ts";
import { toMs } from "../../../core/duration.ts";
import { isTuntasError } from "../../../core/error.ts";
import { describeIssues, type Schema } from "../../../core/schema.ts";
import { isStorable } from "../../../core/text.ts";
import { workflowErrors } from "../../contract.ts";
import type { TaskContext, TaskDefinition } from "../../declaration.ts";

/** By default as a Lambda function's longest. */
export const timeoutMsOf = ({ options }: Pick<TaskDefinition, "options">): number =>
  toMs(options.timeout ?? "15m");

/** What the handler is called with: the Payload of `lambda:invoke`, else the input itself; its own to change. */
export function inputOf(input: Json, invoked: boolean): unknown {
  if (!invoked) return copyOf(input);
  const payload = (input as { Payload?: Json }).Payload ?? {};
  if (typeof payload !== "string") return copyOf(payload);
  try {
    return JSON.parse(payload) as Json;
  } catch {
    return payload;
  }
}

async function parsed(schema: Schema, input: unknown, stateName: string): Promise<unknown> {
  const result = await schema["~standard"].validate(input);
  if (!result.issues) return result.value;
  throw workflowErrors.error("TUNTAS_TASK_INPUT", `state ${stateName}: ${describeIssues(result.issues)}`);
}

/** What a handler came to, as it will be kept. */
export interface Output {
  readonly value: Json;
  /** As JSON. */
  readonly text: string;
}

/** What JSON drops is dropped now, and what the handler changes later is not the value that is kept. */
function jsonOf(value: unknown): Output {
  const text = value === undefined ? "null" : JSON.stringify(value);
  if (text === undefined || !isStorable(typeof value === "string" ? value : text))
    throw workflowErrors.error("TUNTAS_TASK_OUTPUT", "expected plain data, got what JSON cannot hold");
  return { value: JSON.parse(text) as Json, text };
}

export function outputOf(value: unknown): Output {
  try {
    return jsonOf(value);
  } catch (cause) {
    if (isTuntasError(cause)) throw cause;
    throw workflowErrors.error("TUNTAS_TASK_OUTPUT", `expected plain data: ${(cause as Error).message}`);
  }
}

/** The answer of Lambda's Invoke API, which documents written for AWS take apart. */
export const enveloped = (output: Json, invoked: boolean): Json =>
  invoked ? { ExecutedVersion: "$LATEST", Payload: output, StatusCode: 200 } : output;

/** Calls the handler with what its schema makes of the input; a throw of a plain function and a rejection are one. */
export function call(definition: TaskDefinition, input: unknown, context: TaskContext): Promise<unknown> {
  const schema = definition.options.input as Schema | undefined;
  if (schema)
    return parsed(schema, input, context.stateName).then((valid) => definition.handle(valid, context));
  try {
    return Promise.resolve(definition.handle(input, context));
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
