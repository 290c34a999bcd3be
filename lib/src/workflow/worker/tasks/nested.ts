// `states:startExecution`: another machine of this database. `.sync` answers its output as text, `.sync:2` as JSON,
// `.waitForTaskToken` leaves the end to whoever gets the token.
import { randomUUID } from "node:crypto";
import type { Json, JsonObject } from "../../../asl/contract.ts";
import type { StartResult, Target } from "../../contract.ts";
import type { Ended } from "../../store/executions.ts";
import { nameOf } from "../../token.ts";
import { sdkMetadata, serviceCause, type TaskOutcome, type TaskRunner } from "./task.ts";

export interface NestedOptions {
  readonly resolve: (machineArn: string) => Promise<Target | undefined>;
  readonly start: (target: Target, name: string, input: string) => Promise<StartResult & { id?: string }>;
  readonly idOf: (arn: string) => Promise<string | undefined>;
  readonly waitEnd: (id: string, signal: AbortSignal) => Promise<Ended>;
  readonly stop: (id: string) => Promise<void>;
}

const refused = (code: string, message: string): TaskOutcome => ({
  error: `StepFunctions.${code}Exception`,
  cause: serviceCause(message, {
    service: "AWSStepFunctions",
    status: 400,
    code,
    requestId: randomUUID(),
  }),
});

/** What `.sync` answers: DescribeExecution's answer with capital letters. */
function describe(
  ended: Ended,
  machineArn: string,
  { input, asJson }: { input: string; asJson: boolean },
): JsonObject {
  const value = (text: string | null): JsonObject[string] =>
    text === null ? null : asJson ? (JSON.parse(text) as Json) : text;
  const redrivable = ended.status !== "SUCCEEDED";
  return {
    ...(ended.cause === null ? {} : { Cause: ended.cause }),
    ...(ended.error === null ? {} : { Error: ended.error }),
    ExecutionArn: ended.arn,
    Input: value(input),
    InputDetails: { Included: true },
    Name: ended.name,
    ...(ended.output === null ? {} : { Output: value(ended.output), OutputDetails: { Included: true } }),
    RedriveCount: 0,
    RedriveStatus: redrivable ? "REDRIVABLE" : "NOT_REDRIVABLE",
    ...(redrivable ? {} : { RedriveStatusReason: "Execution is SUCCEEDED and cannot be redriven" }),
    StartDate: ended.startedAtMs,
    StateMachineArn: machineArn,
    Status: ended.status,
    StopDate: ended.stoppedAtMs,
  };
}

export function makeNested({ resolve, start, idOf, waitEnd, stop }: NestedOptions): TaskRunner {
  return async (task, { signal, submitted }) => {
    const given = task.input as JsonObject;
    const arn = String(given.StateMachineArn ?? "");
    const target = await resolve(arn);
    if (!target) return refused("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
    const input = typeof given.Input === "string" ? given.Input : JSON.stringify(given.Input ?? {});
    // The same task that is run again after a take-over meets the execution that it had begun.
    const name = typeof given.Name === "string" ? given.Name : nameOf(task.token);
    const started = await start(target, name, input);
    if (started.status === "conflict")
      return refused("ExecutionAlreadyExists", `Execution Already Exists: '${started.arn}'`);
    const output: Json = {
      ExecutionArn: started.arn,
      ...sdkMetadata(200, randomUUID()),
      StartDate: new Date(started.startedAtMs).toISOString(),
    };
    if (task.pattern === "requestResponse") return { output };
    await submitted(output, task.pattern === "waitForTaskToken");
    if (task.pattern === "waitForTaskToken") return "handed over";
    const id = (await idOf(started.arn))!;
    const ended = await waitEnd(id, signal).catch(async (cause: unknown) => {
      if (signal.reason === "cancelled") await stop(id);
      throw cause;
    });
    const described = describe(ended, target.machine.arn, { input, asJson: task.resource.endsWith(":2") });
    if (ended.status === "SUCCEEDED") return { output: described };
    return { error: "States.TaskFailed", cause: JSON.stringify(described) };
  };
}
