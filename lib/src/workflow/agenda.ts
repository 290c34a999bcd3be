// What the workflow room asks at each beat: when a timer ends or an approval is due; whether an activity that a worker
// waits for, or a workflow whose tasks are carried out here, has a task; and whether what runs here was changed or ended by
// another process.
import { dueAgendum, type Agendum } from "../engine/agenda.ts";
import type { DueClock } from "../engine/due.ts";
import type { Waker } from "../engine/wake.ts";
import { nextApprovalInstant } from "./approval/store.ts";
import { nextDueInstant, offeredActivities, offeredTasks, strayTasks } from "./store/calls.ts";
import { changedMapRuns } from "./store/map-runs.ts";
import { activityKey, mapRunKey, runningMapRuns, sleepingActivities } from "./worker/index.ts";
import type { WorkflowWorker } from "./worker/index.ts";

const runningMax = 500;

export interface WorkflowAgendaParts {
  readonly waker: Waker;
  readonly worker: Pick<WorkflowWorker, "due" | "own">;
  readonly approvals: { readonly due: DueClock };
  /** Something that runs here may have ended elsewhere. */
  readonly onStray: () => void;
}

export function workflowAgenda({ waker, worker, approvals, onStray }: WorkflowAgendaParts): Agendum[] {
  const { due, own } = worker;
  const running = () => own.running().map(({ executionId }) => executionId);
  return [
    dueAgendum(nextDueInstant, due.note),
    dueAgendum(nextApprovalInstant, approvals.due.note),
    {
      ask: offeredActivities,
      given: { type: "text[]", read: () => sleepingActivities(waker) },
      hear: (arns) => (arns as string[]).forEach((arn) => waker.wake(activityKey(arn))),
    },
    {
      ask: offeredTasks,
      given: { type: "bigint[]", read: own.pools },
      hear: (offered) => offered === true && own.look(),
    },
    {
      ask: changedMapRuns,
      given: { type: "text[]", read: () => runningMapRuns(waker).slice(0, runningMax) },
      hear: (arns) => (arns as string[]).forEach((arn) => waker.wake(mapRunKey(arn))),
    },
    {
      ask: strayTasks,
      given: { type: "bigint[]", read: () => running().slice(0, runningMax) },
      hear: (stray) => stray === true && onStray(),
    },
  ];
}
