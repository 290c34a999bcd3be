// Why an execution goes no further: pure, from its state and the rows of what it waits for.
import type { Branch, ExecutionState, StartTask, Wait } from "../../asl/contract.ts";
import { taskKey, timerKey } from "../state.ts";
import type { CallRow, DueRow } from "../store/survey.ts";
import type { Hold, Position } from "./contract.ts";

export interface Rows {
  readonly due: readonly DueRow[];
  readonly calls: readonly CallRow[];
}

interface Holding {
  readonly hold: Hold;
  readonly reason: string;
  readonly remedy?: string;
  readonly untilMs?: number | undefined;
}

type TaskWait = Extract<Wait, { for: "task" }>;

const dueOf = ({ due }: Rows, ...keys: readonly string[]): number | undefined => {
  const found = due.filter(({ key }) => keys.includes(key)).map(({ dueAtMs }) => dueAtMs);
  return found.length === 0 ? undefined : Math.min(...found);
};

const timers: Readonly<Record<Extract<Wait, { for: "timer" }>["reason"], readonly [Hold, string]>> = {
  wait: ["timer", "It waits for the time that its Wait state gives."],
  retry: ["retry", "The last attempt failed; it waits for the interval of its Retry."],
  turn: ["turn", "It has decided much at once and lets others go first."],
};

function atTimer({ timer, reason }: Extract<Wait, { for: "timer" }>, rows: Rows): Holding {
  const [hold, text] = timers[reason];
  return { hold, reason: text, untilMs: dueOf(rows, timerKey(timer)) };
}

const nested = /states:startExecution/;

/** By what kind of call it is, who has to move. */
function byCall(call: CallRow, { resource, pattern }: Pick<StartTask, "resource" | "pattern">): Holding {
  if (call.activityArn !== null)
    return {
      hold: "activity",
      reason: call.started
        ? `A worker of activity ${call.activityArn} has the task.`
        : `No worker of activity ${call.activityArn} has asked for the task yet.`,
      remedy: "Start a worker that calls GetActivityTask for it.",
    };
  if (pattern === "waitForTaskToken" && call.process === null)
    return {
      hold: "token",
      reason: "Its call was made; it waits until somebody answers with its task token.",
      remedy: "Answer with SendTaskSuccess or SendTaskFailure, decide its approval, or stop the execution.",
    };
  if (nested.test(resource) && pattern === "sync")
    return { hold: "nested", reason: "It waits for the end of the execution that it started." };
  if (call.own && call.process === null)
    return {
      hold: "handler",
      reason: `No live process has taken ${resource}: none runs the application, or all have their hands full.`,
      remedy: "Start the application that declares this workflow, at this revision.",
    };
  if (call.process === null)
    return { hold: "call", reason: `The process that called ${resource} died; another takes over.` };
  return { hold: call.own ? "handler" : "call", reason: `${resource} is carried out by ${call.process}.` };
}

function atTask({ id }: Branch, wait: TaskWait, rows: Rows): Holding {
  const key = taskKey({ task: wait.task, branch: id, ...(wait.own && { own: true as const }) });
  const call = rows.calls.find((each) => each.key === key);
  const untilMs = dueOf(rows, `timeout:${wait.task}`, `heartbeat:${wait.task}`);
  if (!call) return { hold: "call", reason: "Its call is about to be made.", untilMs };
  return { ...byCall(call, JSON.parse(call.command) as StartTask), untilMs };
}

function holdingOf(branch: Branch, rows: Rows): Holding {
  const { wait, halted } = branch;
  if (halted) return { hold: "halted", reason: "It failed here and stands still until it is redriven." };
  if (!wait) return { hold: "ready", reason: "It goes on as soon as a process decides it." };
  switch (wait.for) {
    case "timer":
      return atTimer(wait, rows);
    case "task":
      return atTask(branch, wait, rows);
    case "children":
      return { hold: "children", reason: `${wait.done} of ${wait.total} branches are done.` };
    case "mapRun":
      return { hold: "map run", reason: `Its map run of ${wait.children} children is not over.` };
    case "items":
      return { hold: "call", reason: "Its items are being read." };
    case "results":
      return { hold: "call", reason: "Its results are being written." };
  }
}

/** The states around a branch, from the outside in. */
function pathOf(state: ExecutionState, { parent, index }: Branch): string[] {
  const outer = state.branches.find(({ id }) => id === parent);
  return outer ? [...pathOf(state, outer), `${outer.state}[${index ?? 0}]`] : [];
}

/** Every line of control, those that wait for others last. */
export function positionsOf(state: ExecutionState, rows: Rows): Position[] {
  const all = state.branches
    .filter(({ state: name }) => name !== "")
    .map((branch): Position => {
      const { hold, reason, remedy = null, untilMs = null } = holdingOf(branch, rows);
      const retries = (branch.retries ?? []).reduce((sum, each) => sum + each, 0);
      const { id, state: name, enteredMs } = branch;
      const path = pathOf(state, branch);
      return { branch: id, path, state: name, hold, reason, remedy, untilMs, retries, sinceMs: enteredMs };
    });
  return all.toSorted((one, other) => Number(one.hold === "children") - Number(other.hold === "children"));
}
