// Runs a whole machine in memory: a virtual clock, a queue of what is due, and tasks that the caller answers. Days pass
// at once, and the same seed gives the same run. It is the smallest engine there can be on top of `next`.
import type {
  ChildResult,
  Command,
  Decision,
  Event,
  ExecutionIdentity,
  ExecutionState,
  ExecutionStatus,
  Failure,
  Happening,
  HistoryEvent,
  Json,
  JsonObject,
  NextOptions,
  StartMapRun,
  StartTask,
} from "./contract.ts";
import { exceedsTolerance } from "./map-run.ts";
import { next } from "./next.ts";
import { compileMachine, type Machine, processorOf } from "./parse.ts";
import { formatTimestamp } from "../core/timestamp.ts";

/** One thing that a mocked task does, some time after the one before. */
export type TaskStep = { readonly afterMs?: number } & (
  | { readonly does: "start"; readonly workerName?: string }
  | { readonly does: "submit"; readonly output: Json }
  | { readonly does: "heartbeat" }
  | { readonly does: "succeed"; readonly output: Json }
  | ({ readonly does: "fail"; readonly phase?: "schedule" | "start" | "submit" | "run" } & Failure)
);

export interface SimulationOptions extends NextOptions {
  /** What a task does; no steps mean that nobody ever answers. */
  readonly tasks?: (task: StartTask, nowMs: number) => readonly TaskStep[] | Promise<readonly TaskStep[]>;
  /** The text that an ItemReader finds, or how the reading fails. */
  readonly objects?: (resource: string, parameters: JsonObject) => string | Failure;
  /** What happens besides: a stop, a redrive. */
  readonly happenings?: readonly { readonly atMs: number; readonly happening: Happening }[];
  readonly execution?: Partial<ExecutionIdentity>;
  readonly startMs?: number;
  readonly seed?: string;
  /** Sees each decision; what it returns is the state that goes on. */
  readonly observe?: (decision: Decision, event: Event) => ExecutionState;
}

export interface Simulation {
  /** RUNNING where nothing is due any more, yet the execution waits. */
  readonly status: ExecutionStatus;
  readonly output?: Json;
  readonly error?: string;
  readonly cause?: string;
  readonly history: readonly HistoryEvent[];
  readonly state: ExecutionState;
  readonly endMs: number;
}

const account = "arn:aws:states:us-east-1:000000000000";

export const defaultExecution = (startMs: number): ExecutionIdentity => ({
  id: `${account}:execution:machine:run`,
  name: "run",
  roleArn: "arn:aws:iam::000000000000:role/none",
  startTime: formatTimestamp(startMs),
  redriveCount: 0,
  machineId: `${account}:stateMachine:machine`,
  machineName: "machine",
});

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly act: () => void | Promise<void>;
}

export async function simulate(
  definition: JsonObject | Machine,
  input: Json,
  options: SimulationOptions = {},
): Promise<Simulation> {
  const machine = isMachine(definition) ? definition : compileMachine(definition);
  const world = new World(machine, options);
  await world.happen({
    type: "started",
    execution: { ...defaultExecution(world.nowMs), ...options.execution },
    input,
  });
  for (const { atMs, happening } of options.happenings ?? []) world.at(atMs, () => world.happen(happening));
  await world.run();
  return world.result();
}

const isMachine = (definition: JsonObject | Machine): definition is Machine =>
  definition.states instanceof Map;

/** The time, the queue, and the one execution. */
class World {
  nowMs: number;
  readonly machine: Machine;
  readonly options: SimulationOptions;
  state: ExecutionState | undefined;
  readonly history: HistoryEvent[] = [];
  end: Extract<Command, { type: "end" }> | undefined;
  queue: Due[] = [];
  order = 0;
  /** Things under way, by a key that a cancellation removes. */
  readonly live = new Set<string>();
  /** Map runs by ARN, with what became of their children. */
  readonly mapRuns = new Map<string, { command: StartMapRun; children: readonly ChildResult[] }>();

  constructor(machine: Machine, options: SimulationOptions) {
    this.machine = machine;
    this.options = options;
    this.nowMs = options.startMs ?? 0;
  }

  at(atMs: number, act: () => void | Promise<void>): void {
    const due = { atMs: Math.max(atMs, this.nowMs), order: this.order++, act };
    let place = this.queue.length;
    while (place > 0 && this.queue[place - 1]!.atMs > due.atMs) place--;
    this.queue.splice(place, 0, due);
  }

  async run(): Promise<void> {
    for (let due = this.queue.shift(); due; due = this.queue.shift()) {
      this.nowMs = due.atMs;
      await due.act();
    }
  }

  async happen(happening: Happening): Promise<void> {
    const event: Event = {
      ...happening,
      nowMs: this.nowMs,
      seed: `${this.options.seed ?? "seed"}/${this.order++}`,
    };
    const decision = await next(this.machine, this.state, event, this.options);
    this.state = this.options.observe?.(decision, event) ?? decision.state;
    this.history.push(...decision.events);
    for (const command of decision.commands) await this.obey(command);
  }

  async obey(command: Command): Promise<void> {
    switch (command.type) {
      case "startTask":
        return this.startTask(command);
      case "startTimer":
        this.live.add(`timer ${command.timer}`);
        return this.at(command.dueMs, () =>
          this.ifLive(`timer ${command.timer}`, { type: "timerFired", timer: command.timer }),
        );
      case "cancelTask":
        return void this.live.delete(`task ${command.task}`);
      case "cancelTimer":
        return void this.live.delete(`timer ${command.timer}`);
      case "readItems":
        return this.at(this.nowMs, () => this.happen(this.readItems(command)));
      case "startMapRun":
        this.live.add(`mapRun ${command.mapRun}`);
        return this.runMap(command, command.mapRun, []);
      case "redriveMapRun": {
        const { command: first, children } = this.mapRuns.get(command.arn)!;
        this.live.add(`mapRun ${command.mapRun}`);
        return this.runMap(first, command.mapRun, children);
      }
      case "cancelMapRun":
        return void this.live.delete(`mapRun ${command.mapRun}`);
      case "writeResults":
        return this.at(this.nowMs, () => this.happen({ type: "resultsWritten", mapRun: command.mapRun }));
      case "end":
        this.end = command;
    }
  }

  async ifLive(key: string, happening: Happening): Promise<void> {
    if (this.live.delete(key)) await this.happen(happening);
  }

  async startTask(command: StartTask): Promise<void> {
    const { task, timeoutSeconds } = command;
    const key = `task ${task}`;
    this.live.add(key);
    const steps = (await this.options.tasks?.(command, this.nowMs)) ?? [];
    const clock = { beats: 0 };
    this.watchHeartbeat(command, clock);
    let atMs = this.nowMs;
    for (const step of steps) {
      atMs += step.afterMs ?? 0;
      this.at(atMs, () => this.takeStep(command, step, clock));
    }
    if (timeoutSeconds !== undefined)
      this.at(this.nowMs + timeoutSeconds * 1000, () =>
        this.ifLive(key, { type: "taskTimedOut", task, clock: "timeout" }),
      );
  }

  /** The heartbeat is missed where no sign of life came since this moment. */
  watchHeartbeat({ task, heartbeatSeconds }: StartTask, clock: { beats: number }): void {
    if (heartbeatSeconds === undefined) return;
    const seen = ++clock.beats;
    this.at(this.nowMs + heartbeatSeconds * 1000, async () => {
      if (clock.beats === seen)
        await this.ifLive(`task ${task}`, { type: "taskTimedOut", task, clock: "heartbeat" });
    });
  }

  async takeStep(command: StartTask, step: TaskStep, clock: { beats: number }): Promise<void> {
    const { task } = command;
    const key = `task ${task}`;
    if (!this.live.has(key)) return;
    if (step.does === "succeed")
      return this.ifLive(key, { type: "taskSucceeded", task, output: step.output });
    if (step.does === "fail") {
      const { does: _does, afterMs: _afterMs, ...failure } = step;
      return this.ifLive(key, { type: "taskFailed", task, ...failure });
    }
    this.watchHeartbeat(command, clock);
    if (step.does === "submit") return this.happen({ type: "taskSubmitted", task, output: step.output });
    if (step.does === "start")
      return this.happen({
        type: "taskStarted",
        task,
        ...(step.workerName === undefined ? {} : { workerName: step.workerName }),
      });
  }

  readItems({ reader, resource, parameters }: Extract<Command, { type: "readItems" }>): Happening {
    const found = this.options.objects?.(resource, parameters) ?? {
      error: "States.ItemReaderFailed",
      cause: "There is no such object.",
    };
    return typeof found === "string"
      ? { type: "itemsRead", reader, body: found }
      : { type: "itemsFailed", reader, ...found };
  }

  /** Children run one after another in real time, side by side in virtual time; a redrive runs them from their start. */
  async runMap(command: StartMapRun, mapRun: number, before: readonly ChildResult[]): Promise<void> {
    const { inputs, maxConcurrency, tolerance } = command;
    const children = before.filter(({ status }) => status === "SUCCEEDED");
    const done = new Set(children.map(({ index }) => index));
    const lanes: number[] = Array.from(
      { length: Math.min(maxConcurrency || inputs.length, inputs.length) },
      () => this.nowMs,
    );
    for (const [index, input] of inputs.entries()) {
      if (done.has(index)) continue;
      const failed = children.filter(({ status }) => status !== "SUCCEEDED").length;
      if (exceedsTolerance(tolerance, inputs.length, failed)) break;
      const lane = lanes.indexOf(Math.min(...lanes));
      const child = await this.runChild(command, index, input, lanes[lane]!);
      lanes[lane] = child.endMs;
      children.push(child.result);
    }
    this.mapRuns.set(command.arn, { command, children });
    this.at(Math.max(...lanes, this.nowMs), () =>
      this.ifLive(`mapRun ${mapRun}`, { type: "mapRunEnded", mapRun, children }),
    );
  }

  async runChild(
    { stateName, arn }: StartMapRun,
    index: number,
    input: Json,
    startMs: number,
  ): Promise<{ result: ChildResult; endMs: number }> {
    const { happenings: _happenings, ...options } = this.options;
    const seed = `${options.seed ?? "seed"}/${arn}/${index}`;
    const child = await simulate(processorOf(this.machine, stateName)!, input, { ...options, startMs, seed });
    const status = child.status === "RUNNING" ? "TIMED_OUT" : child.status;
    const { output, error, cause, endMs } = child;
    const failure = { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
    return {
      result: {
        index,
        status,
        ...(output === undefined ? {} : { output }),
        ...failure,
        startMs,
        stopMs: endMs,
      },
      endMs,
    };
  }

  result(): Simulation {
    const { type: _type, ...end } = this.end ?? { type: "end", status: "RUNNING" as const };
    return { ...end, history: this.history, state: this.state!, endMs: this.nowMs };
  }
}
