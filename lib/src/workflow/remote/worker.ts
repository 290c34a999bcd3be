// The worker of a machine's task queue: the handlers of its workflow, called with what the messages say.
import type { Context } from "../../queue/index.ts";
import { worker, type WorkerDefinition } from "../../queue/declaration.ts";
import type { WorkflowDefinition } from "../declaration.ts";
import { hashToken } from "../token.ts";
import { RemoteAttempt, type AttemptParts } from "./attempt.ts";
import type { TaskMessage } from "./contract.ts";
import { taskQueueOf } from "./queue.ts";

/** More would only wait for a connection. */
const concurrencyDefault = 100;
const concurrencyMax = 1000;

// Who answers for the queue was said where it was deployed, and stands in its tags.
const responsible = { owner: "as deployed", runbook: "as deployed" };

/** Undefined for a workflow without tasks of its own. */
export function taskWorker(
  parts: Omit<AttemptParts, "workflow">,
  workflow: WorkflowDefinition,
): WorkerDefinition | undefined {
  if (workflow.tasks.size === 0) return undefined;
  const { queue, timeoutMs } = taskQueueOf(workflow, responsible);
  const attempts = new WeakMap<object, RemoteAttempt>();
  const made = worker(queue, {
    // A token is good for one answer, so whatever comes with it again is the same work; what is kept of it answers nothing.
    idempotencyKey: ({ token }) => hashToken(token).toString("base64url"),
    timeout: `${timeoutMs}ms`,
    concurrency: Math.min(workflow.options.concurrency ?? concurrencyDefault, concurrencyMax),
    ...(workflow.options.slowAbove && { slowAbove: workflow.options.slowAbove }),
    backoff: { base: "1s", max: "1m" },
    async handle(message: TaskMessage, context: Context) {
      const attempt = new RemoteAttempt({ ...parts, workflow }, message, context);
      attempts.set(message, attempt);
      await attempt.run();
    },
  });
  const of = (message: unknown): RemoteAttempt | undefined => attempts.get(message as object);
  return {
    ...(made as unknown as WorkerDefinition),
    hooks: {
      instead: (message, cause) => of(message)?.instead(cause),
      ended: (message) => of(message)?.ended(),
    },
  };
}
