// The asking side of the workflow room, as the apps see it.
import type { TaskRunner } from "../worker/tasks/task.ts";
import { makeApprovals, type ApprovalRoom, type Approvals } from "../approval/client.ts";
import type { NextOptions } from "../../asl/contract.ts";
import type { MachineRecord } from "../contract.ts";
import type { WorkflowDefinition } from "../declaration.ts";
import { makeWorkflowObserver, type WorkflowObserver } from "../observe/client.ts";
import { makeRedrives, type Redrives } from "../redrive/client.ts";
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
  /** Questions to people on which executions wait. */
  readonly approvals: Approvals;
  /** Looking before a redrive, and redriving on the record. */
  readonly redrives: Redrives;
  /** Lists to watch, and why an execution goes no further. */
  readonly observer: WorkflowObserver;
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
  readonly approvalRoom: ApprovalRoom;
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
  const activities = makeActivities(database, { worker, waker, processId });
  const { tokenOf } = worker;
  const approvalRoom = makeApprovals({ database, answering: activities, tokenOf, onError: options.onError });
  const { approvals } = approvalRoom;
  const stateOf = async (id: string) => (await worker.engine.load(id))?.state;
  const workflows: Workflows = {
    machines,
    executions,
    activities,
    approvals,
    redrives: makeRedrives({
      database,
      approvals,
      find: executions.find,
      redrive: executions.redrive,
      stateOf,
      isOwn: async (revision) => Boolean((await machines.atRevision(revision))?.handlers),
    }),
    observer: makeWorkflowObserver({ database, stateOf }),
    tags: makeTags(database),
    runTask: worker.runTask,
    next: worker.next,
    nowMs: worker.clock.nowMs,
    async sweepDue() {
      await worker.due.sweep();
      await approvalRoom.due.sweep();
    },
    tokenOf,
    serve: worker.own.register,
    drain: worker.own.drain,
  };
  return { workflows, worker, approvalRoom };
}

export type { Approvals } from "../approval/client.ts";
export type {
  ExecutionSearch,
  ExecutionSummary,
  MachinePage,
  MachineSurvey,
  WorkflowObserver,
} from "../observe/client.ts";
export type { Redrives } from "../redrive/client.ts";
export type { Activities, ActivityTask, Tags, TaskRequest } from "./activities.ts";
export type { Executions } from "./executions.ts";
export type { FailedFilter } from "../store/executions.ts";
export type { MachineChange, Machines, NewMachine, Published } from "./machines.ts";
