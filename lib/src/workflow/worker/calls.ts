// The calls that this process makes: each runs beside the executions, and brings what came of it as an event.
import type {
  Command,
  ExecutionIdentity,
  Failure,
  Happening,
  ResultFile,
  RedriveMapRun,
  StartMapRun,
  StartTask,
} from "../../asl/contract.ts";
import { callKey, taskKey } from "../state.ts";
import type { DispatchOptions } from "./engine/index.ts";
import type { Objects } from "./objects.ts";
import type { TaskOutcome, TaskRunner } from "./tasks/task.ts";

/** The execution on whose behalf a call is made, wherever it is kept. */
export interface Caller {
  readonly execution: ExecutionIdentity;
  dispatch(happening: Happening, options?: DispatchOptions): Promise<unknown>;
  /** Runs the children of a distributed Map to their end; nothing comes of a run that nobody waits for any more. */
  runMap(command: StartMapRun | RedriveMapRun, signal: AbortSignal): Promise<Happening | undefined>;
  /** The results of its map run were written, or could not be. */
  noteResults(mapRun: number, written: boolean): Promise<unknown>;
  /** Refuses or offers an activity's task; undefined where it waits for a worker now. */
  offer(task: StartTask): Promise<Failure | undefined>;
}

export interface Calls {
  /** Carries the command out if it is a call or cancels one. `scope` names the execution. */
  obey(scope: string, caller: Caller, command: Command): void;
  has(scope: string, key: string): boolean;
  /** Drops every call: they belong to other processes now, and what comes of them here is not told. */
  abandon(): void;
  /** Ends the execution's calls, whatever they are. */
  cancelAll(scope: string): void;
  close(): Promise<void>;
}

export interface CallsOptions {
  readonly runTask: TaskRunner;
  readonly objects: Objects;
  readonly onError: (cause: unknown) => void;
}

type ReadItems = Extract<Command, { type: "readItems" }>;
type WriteResults = Extract<Command, { type: "writeResults" }>;

const endOf = (task: number, outcome: Exclude<TaskOutcome, "handed over">): Happening =>
  "output" in outcome
    ? { type: "taskSucceeded", task, output: outcome.output }
    : { type: "taskFailed", task, ...outcome };

/** The result of a short call implies its start; that of a long one is written down, for whoever looks meanwhile. */
const lastingMs = 500;

const pauseMsFirst = 250;
const pauseMsMax = 5000;

/** Resolves after the time, or as soon as the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });

export function makeCalls({ runTask, objects, onError }: CallsOptions): Calls {
  const running = new Map<string, Map<string, AbortController>>();
  const works = new Set<Promise<void>>();
  let closed = false;

  async function perform(
    caller: Caller,
    command: StartTask,
    signal: AbortSignal,
  ): Promise<Happening | undefined> {
    const { task } = command;
    if (command.kind === "activity") {
      const failure = await caller.offer(command);
      return failure && { type: "taskFailed", task, phase: "schedule", ...failure };
    }
    const started = setTimeout(() => {
      caller.dispatch({ type: "taskStarted", task }).catch(onError);
    }, lastingMs);
    const outcome = await runTask(command, {
      execution: caller.execution,
      signal,
      submitted: async (output, toOutside) => {
        clearTimeout(started);
        await caller.dispatch({ type: "taskSubmitted", task, output }, { handedOver: toOutside });
      },
    }).finally(() => clearTimeout(started));
    return outcome === "handed over" ? undefined : endOf(task, outcome);
  }

  async function read({ reader, resource, parameters }: ReadItems, signal: AbortSignal): Promise<Happening> {
    const found = await objects.read(resource, parameters, signal);
    return typeof found === "string"
      ? { type: "itemsRead", reader, body: found }
      : { type: "itemsFailed", reader, ...found };
  }

  async function write(
    caller: Caller,
    { mapRun, bucket, files }: WriteResults,
    signal: AbortSignal,
  ): Promise<Happening> {
    const failure = await objects.write(bucket, files as readonly ResultFile[], signal);
    await caller.noteResults(mapRun, !failure);
    return failure ? { type: "resultsFailed", mapRun, ...failure } : { type: "resultsWritten", mapRun };
  }

  function happeningOf(
    caller: Caller,
    command: Command,
    signal: AbortSignal,
  ): Promise<Happening | undefined> {
    switch (command.type) {
      case "startTask":
        return perform(caller, command, signal);
      case "readItems":
        return read(command, signal);
      case "writeResults":
        return write(caller, command, signal);
      case "startMapRun":
      case "redriveMapRun":
        return caller.runMap(command, signal);
      default:
        return Promise.resolve(undefined);
    }
  }

  /** Until it is done: a database that is away must not lose a call, which nobody else would make. */
  async function persist<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    for (let pauseMs = pauseMsFirst; !signal.aborted; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      try {
        return await step();
      } catch (cause) {
        if (signal.aborted) break;
        onError(cause);
        await pause(pauseMs, signal);
      }
    }
    return undefined;
  }

  function cancel(scope: string, key: string): void {
    running.get(scope)?.get(key)?.abort("cancelled");
  }

  function abortAll(reason: string): void {
    running.forEach((own) => own.forEach((controller) => controller.abort(reason)));
    running.clear();
  }

  function begin(scope: string, caller: Caller, command: Command): void {
    const key = callKey(command)!;
    const controller = new AbortController();
    const own = running.get(scope) ?? new Map<string, AbortController>();
    running.set(scope, own.set(key, controller));
    const { signal } = controller;
    const work = persist(() => happeningOf(caller, command, signal), signal)
      .then(async (happening) => {
        if (happening) await persist(() => caller.dispatch(happening), signal);
      })
      .catch((cause: unknown) => {
        if (!signal.aborted) onError(cause);
      })
      .finally(() => {
        works.delete(work);
        own.delete(key);
        if (own.size === 0 && running.get(scope) === own) running.delete(scope);
      });
    works.add(work);
  }

  return {
    obey(scope, caller, command) {
      if (closed) return;
      if (callKey(command) !== undefined) begin(scope, caller, command);
      else if (command.type === "cancelTask") cancel(scope, taskKey(command));
      else if (command.type === "cancelMapRun") cancel(scope, `map:${command.mapRun}`);
    },
    has: (scope, key) => running.get(scope)?.has(key) ?? false,
    abandon: () => abortAll("lost"),
    cancelAll(scope) {
      running.get(scope)?.forEach((controller) => controller.abort("cancelled"));
    },
    async close() {
      closed = true;
      abortAll("closed");
      await Promise.all(works);
    },
  };
}
