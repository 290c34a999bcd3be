// The queue by which the tasks of a machine that runs elsewhere reach the workers: declared as any other, so that all that holds
// for queues holds for it.
import type { Schema } from "../../core/schema.ts";
import { queue, type QueueDefinition } from "../../queue/declaration.ts";
import type { WorkflowDefinition } from "../declaration.ts";
import { timeoutMsOf } from "../worker/own/values.ts";
import type { TaskMessage } from "./contract.ts";

export const taskQueueNameOf = (workflow: string): string => `${workflow}-tasks`;

const types: Readonly<Record<keyof Omit<TaskMessage, "input">, "string" | "number" | "boolean">> = {
  task: "string",
  token: "string",
  invoke: "boolean",
  waits: "boolean",
  execution: "string",
  executionName: "string",
  startedAt: "string",
  state: "string",
  enteredAt: "string",
  retries: "number",
  redrives: "number",
  item: "number",
  timeoutSeconds: "number",
  heartbeatSeconds: "number",
};

const message: Schema<TaskMessage> = {
  "~standard": {
    version: 1,
    vendor: "tuntas",
    validate(value) {
      const given = (value ?? {}) as Record<string, unknown>;
      const wrong = Object.entries(types).filter(([field, type]) => typeof given[field] !== type);
      if (wrong.length === 0) return { value: value as TaskMessage };
      return { issues: wrong.map(([field, type]) => ({ message: `expected a ${type}`, path: [field] })) };
    },
  },
};

/** A worker that dies is no failure of the task; one that dies of the same message time and again is looked at by a person. */
const receivesMax = 10;

export interface TaskQueue {
  readonly queue: QueueDefinition<Schema<TaskMessage>>;
  /** The longest that one of the tasks may take. */
  readonly timeoutMs: number;
}

/** Who answers for a workflow that is deployed; said where that is done. */
export interface Responsible {
  readonly owner: string;
  readonly runbook: string;
}

/** Errors: TUNTAS_QUEUE_NAME where the workflow's name leaves no room for the queue's. */
export function taskQueueOf(
  { name, tasks }: Pick<WorkflowDefinition<any>, "name" | "tasks">,
  { owner, runbook }: Responsible,
): TaskQueue {
  const deadLetter = { after: receivesMax, owner, runbook, retention: "14d" } as const;
  return {
    // A token answers for its execution: nobody who looks at messages may see it.
    queue: queue(taskQueueNameOf(name), { message, sensitive: ["token"], retention: "14d", deadLetter }),
    timeoutMs: Math.max(...[...tasks.values()].map(timeoutMsOf)),
  };
}
