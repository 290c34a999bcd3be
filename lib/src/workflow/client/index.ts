// The asking side of the workflow room, as the apps see it.
import type { TaskRunner } from "../worker/tasks/task.ts";
import type { NextOptions } from "../../asl/contract.ts";
import type { MachineRecord } from "../contract.ts";
import type { WorkflowDefinition } from "../declaration.ts";
import type { WorkerOptions, WorkflowWorker } from "../worker/index.ts";
import { makeWorkflowWorker } from "../worker/index.ts";
import { makeActivities, makeTags, type Activities, type Tags } from "./activities.ts";
import { makeExecutions, type Executions } from "./executions.ts";
import { makeMachines, type Machines } from "./machines.ts";

export interface Workflows {
  readonly machines: Machines;
  readonly executions: Executions;
  readonly activities: Activities;
  readonly tags: Tags;
  /** Carries out one task by itself: for TestState. */
  readonly runTask: TaskRunner;
  readonly next: NextOptions;
  readonly nowMs: () => number;
  /** The token that answers a task, by the reference that a handler may have stored. */
  tokenOf(reference: string): string;
  /** From now on this process carries out the workflow's tasks. Answers what ends that. */
  serve(workflow: WorkflowDefinition, machine: MachineRecord): Promise<() => void>;
  /** Takes no more tasks; those that run may finish until the signal aborts, the rest is left to others. */
  drain(hurry: AbortSignal): Promise<void>;
  /** Looks at once what has become due. */
  sweepDue(): Promise<void>;
}

/** What the platform makes of the room: the client, and the worker whose life it watches over. */
export interface WorkflowRoom {
  readonly workflows: Workflows;
  readonly worker: WorkflowWorker;
}

export function makeWorkflows(options: Omit<WorkerOptions, "resolve" | "start">): WorkflowRoom {
  const { database, waker, processId } = options;
  const machines = makeMachines(database);
  const worker = makeWorkflowWorker({
    ...options,
    resolve: machines.resolve,
    start: (target, name, input) => executions.start({ target, name, input }),
  });
  const executions = makeExecutions(database, worker);
  const workflows = {
    machines,
    executions,
    activities: makeActivities(database, { worker, waker, processId }),
    tags: makeTags(database),
    runTask: worker.runTask,
    next: worker.next,
    nowMs: worker.clock.nowMs,
    sweepDue: worker.due.sweep,
    tokenOf: worker.tokenOf,
    serve: worker.own.register,
    drain: worker.own.drain,
  };
  return { workflows, worker };
}

export type { Activities, ActivityTask, Tags, TaskRequest } from "./activities.ts";
export type { Executions } from "./executions.ts";
export type { MachineChange, Machines, NewMachine, Published } from "./machines.ts";
