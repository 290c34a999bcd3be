// What decisions come to as rows: pure, so that an advance whose commit was lost is decided and written again.
import type { Command, Happening, Json } from "../asl/contract.ts";
import type { Effects, Ending } from "./store/advance.ts";
import { hashToken } from "./token.ts";

/** Keys under which an execution's timers and calls are kept; the number is the language's. */
export const timerKey = (timer: number): string => `timer:${timer}`;
export const taskKey = (task: number): string => `task:${task}`;
const clockKeys = (task: number): readonly string[] => [`timeout:${task}`, `heartbeat:${task}`];

export function callKey(command: Command): string | undefined {
  switch (command.type) {
    case "startTask":
      return taskKey(command.task);
    case "readItems":
      return `read:${command.reader}`;
    case "startMapRun":
      return `map:${command.mapRun}`;
    case "writeResults":
      return `write:${command.mapRun}`;
    default:
      return undefined;
  }
}

const overByHappening = (happening: Happening): readonly string[] => {
  switch (happening.type) {
    case "timerFired":
      return [timerKey(happening.timer)];
    case "taskSucceeded":
    case "taskFailed":
    case "taskTimedOut":
      return [taskKey(happening.task), ...clockKeys(happening.task)];
    case "itemsRead":
    case "itemsFailed":
      return [`read:${happening.reader}`];
    case "mapRunEnded":
      return [`map:${happening.mapRun}`];
    case "resultsWritten":
    case "resultsFailed":
      return [`write:${happening.mapRun}`];
    default:
      return [];
  }
};

/** What the clock brought, out of the key that it was kept under. */
export function happeningOf(key: string): Happening | undefined {
  const [kind, number] = key.split(":");
  const n = Number(number);
  if (kind === "timer") return { type: "timerFired", timer: n };
  if (kind === "timeout" || kind === "heartbeat") return { type: "taskTimedOut", task: n, clock: kind };
  return undefined;
}

/** Collects what the decisions of one advance mean; `owner` makes the calls that they begin. */
export class Plan {
  readonly owner: string;
  readonly nowMs: number;
  readonly commands: Command[] = [];
  ending: Ending | undefined;
  readonly #due = new Map<string, number>();
  readonly #calls = new Map<string, Effects["calls"][number]>();
  readonly #over = new Set<string>();
  readonly #handedOver = new Set<string>();

  constructor(owner: string, nowMs: number) {
    this.owner = owner;
    this.nowMs = nowMs;
  }

  happened(happening: Happening, handedOver: boolean): void {
    for (const key of overByHappening(happening)) this.#end(key);
    if (happening.type === "redriven") this.ending = undefined;
    if (handedOver && "task" in happening) this.#handedOver.add(taskKey(happening.task));
  }

  take(command: Command): void {
    switch (command.type) {
      case "startTimer":
        this.#due.set(timerKey(command.timer), command.dueMs);
        break;
      case "cancelTimer":
        this.#end(timerKey(command.timer));
        break;
      case "cancelTask":
        for (const key of [taskKey(command.task), ...clockKeys(command.task)]) this.#end(key);
        break;
      case "cancelMapRun":
        this.#end(`map:${command.mapRun}`);
        break;
      case "end":
        this.ending = endingOf(command);
        break;
      default:
        this.#call(command);
    }
    this.commands.push(command);
  }

  #call(command: Command): void {
    const key = callKey(command)!;
    const task = command.type === "startTask" ? command : undefined;
    const isActivity = task?.kind === "activity";
    this.#calls.set(key, {
      key,
      command: JSON.stringify(command),
      owner: isActivity ? null : this.owner,
      token: task && hasToken(task) ? hashToken(task.token).toString("hex") : null,
      activity: isActivity ? task.resource : null,
      heartbeat: task?.heartbeatSeconds ?? null,
    });
    if (task?.timeoutSeconds !== undefined)
      this.#due.set(`timeout:${task.task}`, this.nowMs + task.timeoutSeconds * 1000);
    if (task?.heartbeatSeconds !== undefined)
      this.#due.set(`heartbeat:${task.task}`, this.nowMs + task.heartbeatSeconds * 1000);
  }

  /** What began in this very advance leaves no row; what began before is removed. */
  #end(key: string): void {
    const began = this.#due.delete(key) || this.#calls.delete(key);
    if (!began) this.#over.add(key);
  }

  effects(): Effects | undefined {
    if (this.ending) return undefined;
    const effects = {
      due: [...this.#due].map(([key, at]) => ({ key, at })),
      calls: [...this.#calls.values()],
      over: [...this.#over],
      handedOver: [...this.#handedOver],
    };
    return Object.values(effects).some((list) => list.length > 0) ? effects : undefined;
  }

  /** In how many ms the first of the new timers is due. */
  firstDueMs(): number | undefined {
    return this.#due.size === 0 ? undefined : Math.min(...this.#due.values()) - this.nowMs;
  }
}

const hasToken = (task: Extract<Command, { type: "startTask" }>): boolean =>
  task.kind === "activity" || task.pattern !== "requestResponse";

const textOf = (value: Json | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value);

/** Errors are plain text, and an execution must be able to end whatever they hold. */
const storable = (text: string | undefined): string | null =>
  text === undefined ? null : text.replaceAll("\0", "\ufffd").toWellFormed();

const endingOf = (command: Extract<Command, { type: "end" }>): Ending => ({
  status: command.status,
  output: textOf(command.output),
  error: storable(command.error),
  cause: storable(command.cause),
});
