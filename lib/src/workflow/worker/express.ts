// A synchronous Express execution: it lives in this process's memory and is over when the caller has its answer.
import { randomUUID } from "node:crypto";
import { next, type Machine } from "../../asl/index.ts";
import type {
  Command,
  Event,
  ExecutionIdentity,
  ExecutionState,
  Happening,
  Json,
  NextOptions,
} from "../../asl/contract.ts";
import type { Calls, Caller } from "./calls.ts";

export type ExpressEnd = Extract<Command, { type: "end" }>;

export interface ExpressOptions {
  readonly machine: Machine;
  readonly execution: ExecutionIdentity;
  readonly input: Json;
  readonly calls: Calls;
  readonly nowMs: () => number;
  readonly next: NextOptions;
}

const timerMsMax = 2 ** 31 - 1;

export function runExpress(options: ExpressOptions): Promise<ExpressEnd> {
  const { machine, execution, calls, nowMs } = options;
  const timers = new Map<number, NodeJS.Timeout>();
  let state: ExecutionState | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  return new Promise((resolve, reject) => {
    function finish(end: ExpressEnd): void {
      timers.forEach(clearTimeout);
      calls.cancelAll(execution.id);
      resolve(end);
    }

    async function take(happening: Happening): Promise<void> {
      const event: Event = { ...happening, nowMs: nowMs(), seed: randomUUID() };
      const decision = await next(machine, state, event, { ...options.next, history: false });
      state = decision.state;
      decision.commands.forEach(obey);
    }

    /** One event after another. */
    function dispatch(happening: Happening): Promise<unknown> {
      turn = turn.then(() => take(happening)).catch(reject);
      return turn;
    }

    const caller: Caller = {
      execution,
      dispatch,
      runMap: () => Promise.reject(new Error("an Express execution has no distributed Map")),
      noteResults: () => Promise.resolve(),
      offer: () =>
        Promise.resolve({ error: "States.Runtime", cause: "Express does not support activities." }),
    };

    function obey(command: Command): void {
      if (command.type === "startTimer") {
        const { timer, dueMs } = command;
        const fire = () => void dispatch({ type: "timerFired", timer });
        timers.set(timer, setTimeout(fire, Math.min(Math.max(0, dueMs - nowMs()), timerMsMax)));
      } else if (command.type === "cancelTimer") clearTimeout(timers.get(command.timer));
      else if (command.type === "end") finish(command);
      else {
        if (command.type === "startTask") watch(command);
        calls.obey(execution.id, caller, command);
      }
    }

    function watch({ task, timeoutSeconds }: Extract<Command, { type: "startTask" }>): void {
      if (timeoutSeconds === undefined) return;
      const fire = () => void dispatch({ type: "taskTimedOut", task, clock: "timeout" });
      timers.set(-task, setTimeout(fire, Math.min(timeoutSeconds * 1000, timerMsMax)));
    }

    void dispatch({ type: "started", execution, input: options.input });
  });
}
