// Every resource that is not our own: one POST a task to TUNTAS_TASK_ENDPOINT (conformance/asl/README.md).
import type { Failure, Json } from "../../../asl/contract.ts";
import type { TaskRunner } from "./task.ts";

interface Answer extends Failure {
  readonly output?: Json;
  readonly submitted?: Json;
}

export function makeEndpoint(
  endpoint: string | undefined,
  tokenOf: (reference: string) => string,
): TaskRunner {
  return async (task, { execution, signal, submitted }) => {
    if (endpoint === undefined) {
      const cause = `TUNTAS_TASK_ENDPOINT is not set, so there is nobody to carry out ${task.resource}.`;
      return { error: "States.TaskFailed", cause };
    }
    const { resource, input, token, stateName, attempt, timeoutSeconds, heartbeatSeconds } = task;
    const response = await fetch(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      signal,
      body: JSON.stringify({
        resource,
        input,
        taskToken: tokenOf(token),
        executionArn: execution?.id,
        stateMachineArn: execution?.machineId,
        stateName,
        attempt,
        timeoutSeconds,
        heartbeatSeconds,
      }),
    });
    const text = await response.text();
    if (!response.ok) return { error: "States.TaskFailed", cause: `HTTP ${response.status}: ${text}` };
    const answer = JSON.parse(text) as Answer;
    if (answer.submitted !== undefined) {
      await submitted(answer.submitted, true);
      return "handed over";
    }
    if (answer.output !== undefined) {
      if (task.pattern === "requestResponse") return { output: answer.output };
      // Said to be done at once, though a token or an end was to be waited for: it was submitted, and is done.
      await submitted(answer.output, true);
      return task.pattern === "sync" ? { output: answer.output } : "handed over";
    }
    const { error, cause } = answer;
    const failure = { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
    return task.pattern === "requestResponse" ? failure : { ...failure, phase: "submit" };
  };
}
