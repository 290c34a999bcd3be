// Which runner carries out which task, and what becomes of a task whose runner broke.
import type { StartTask } from "../../../asl/contract.ts";
import { isTuntasError } from "../../../core/error.ts";
import type { Queues } from "../../../queue/client/index.ts";
import { makeEndpoint } from "./endpoint.ts";
import { invokeHttp } from "./http.ts";
import { makeLambda } from "./lambda.ts";
import { makeNested, type NestedOptions } from "./nested.ts";
import { makeSqsTask } from "./sqs.ts";
import type { TaskRunner } from "./task.ts";

export interface TaskOptions extends NestedOptions {
  readonly queues: Queues;
  readonly tokenOf: (reference: string) => string;
  readonly lambdaEndpoint: string | undefined;
  readonly taskEndpoint: string | undefined;
}

const without = (url: string | undefined): string | undefined => url?.replace(/\/+$/, "");

/** Whoever is to be reached is away: as AWS's own client errors, this may be retried. */
function unreachable(task: StartTask, cause: unknown) {
  const service = task.kind === "lambda" ? "Lambda" : (task.resource.split(":")[5] ?? "Task");
  const name = service.charAt(0).toUpperCase() + service.slice(1);
  const detail = (cause as { cause?: { message?: string } }).cause?.message ?? (cause as Error).message;
  return { error: `${name}.SdkClientException`, cause: `Unable to execute HTTP request: ${detail}` };
}

export function makeTasks(options: TaskOptions): TaskRunner {
  const lambda = makeLambda(without(options.lambdaEndpoint));
  const endpoint = makeEndpoint(without(options.taskEndpoint), options.tokenOf);
  const nested = makeNested(options);
  const sqs = makeSqsTask(options.queues, endpoint);

  function runnerOf({ kind, resource }: StartTask): TaskRunner {
    if (kind === "lambda") return lambda;
    const [service, action = ""] = resource.split(":").slice(5);
    if (service === "lambda") return lambda;
    if (service === "states" && action.startsWith("startExecution")) return nested;
    if (service === "sqs" && action.startsWith("sendMessage")) return sqs;
    if (service === "http" && options.taskEndpoint === undefined) return invokeHttp;
    return endpoint;
  }

  return async (task, context) => {
    try {
      return await runnerOf(task)(task, context);
    } catch (cause) {
      // What is our own fault, or our database's, is none of the task's: the call is made again.
      if (context.signal.aborted || isTuntasError(cause)) throw cause;
      return unreachable(task, cause);
    }
  };
}
