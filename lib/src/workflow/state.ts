// What decisions come to as rows: pure, so that an advance whose commit was lost is decided and written again.
import type { Command, ExecutionState, Happening, Json, StartTask } from "../asl/contract.ts";
import type { Effects, Ending } from "./store/advance.ts";
import { hashToken } from "./token.ts";

/** Keys under which an execution's timers and calls are kept; the number is the language's. */
export const timerKey = (timer: number): string => `timer:${timer}`;

/** A branch waits for one task at a time, so an own task's row can stay from one to the next. */
export const taskKey = ({
  task,
  branch,
  own,
}: {
  readonly task: number;
  readonly branch: number;
  readonly own?: true;
}): string => (own ? `own:${branch}` : `task:${task}`);

const clockKeys = (task: number): readonly string[] => [`timeout:${task}`, `heartbeat:${task}`];

export function callKey(command: Command): string | undefined {
  switch (command.type) {
    case "startTask":
      return taskKey(command);
    case "readItems":
      return `read:${command.reader}`;
    case "startMapRun":
    case "redriveMapRun":
      return `map:${command.mapRun}`;
    case "writeResults":
      return `write:${command.mapRun}`;
    default:
      return undefined;
  }
}

export function branchOf(state: ExecutionState, task: number) {
  for (const branch of state.branches)
    if (branch.wait?.for === "task" && branch.wait.task === task) return { branch, wait: branch.wait };
  return undefined;
}

const none: readonly never[] = [];

const without = <T extends { readonly key: string }>(rows: readonly T[], key: string): readonly T[] =>
  rows.some((row) => row.key === key) ? rows.filter((row) => row.key !== key) : rows;

function keysOfTask(state: ExecutionState, task: number): readonly string[] {
  const found = branchOf(state, task);
  if (!found) return [`task:${task}`, ...clockKeys(task)];
  const { branch, wait } = found;
  const key = wait.own ? `own:${branch.id}` : `task:${task}`;
  return wait.timed ? [key, ...clockKeys(task)] : [key];
}

function overBy(happening: Happening, before: ExecutionState): readonly string[] {
  switch (happening.type) {
    case "timerFired":
      return [timerKey(happening.timer)];
    case "taskSucceeded":
    case "taskFailed":
    case "taskTimedOut":
      return keysOfTask(before, happening.task);
    case "itemsRead":
    case "itemsFailed":
      return [`read:${happening.reader}`];
    case "mapRunEnded":
      return [`map:${happening.mapRun}`];
    case "resultsWritten":
    case "resultsFailed":
      return [`write:${happening.mapRun}`];
    default:
      return none;
  }
}

/** What the clock brought, out of the key that it was kept under. */
export function happeningOf(key: string): Happening | undefined {
  const [kind, number] = key.split(":");
  const n = Number(number);
  if (kind === "timer") return { type: "timerFired", timer: n };
  if (kind === "timeout" || kind === "heartbeat") return { type: "taskTimedOut", task: n, clock: kind };
  return undefined;
}

/** What a plan needs to know of the process that decides. */
export interface Planner {
  /** Makes the calls that are decided upon. */
  readonly owner: string;
  readonly nowMs: number;
  /** The revision: own tasks are for processes that have its handlers. */
  readonly pool: string;
  /** Whether an own task of that key can begin in this process; where it can, a place is kept for it. */
  readonly takes: (key: string) => boolean;
  /** Whether the row of that key is this process's, so that it may stay for the branch's next own task. */
  readonly holds: (key: string) => boolean;
  /** The token that an answer must show, by what stands for it. */
  readonly tokenOf: (reference: string) => string;
}

/** Collects what the decisions of one advance mean. */
export class Plan {
  readonly planner: Planner;
  readonly commands: Command[] = [];
  ending: Ending | undefined;
  /** Whether one of the decisions began the execution anew. */
  redriven = false;
  /** Own tasks that begin and are left to whoever has room, and how many have a place here. */
  readonly left: number[] = [];
  places = 0;
  // Few of anything in one advance, and nothing at all in most.
  #due: Effects["due"] = none;
  #calls: Effects["calls"] = none;
  #over: readonly string[] = none;
  #handedOver: readonly string[] = none;
  #tokens: readonly { readonly token: string; readonly reference: string }[] = none;

  constructor(planner: Planner) {
    this.planner = planner;
  }

  happened(happening: Happening, before: ExecutionState, handedOver: boolean): void {
    for (const key of overBy(happening, before)) this.#end(key);
    if (handedOver && "task" in happening)
      this.#handedOver = [...this.#handedOver, keysOfTask(before, happening.task)[0]!];
  }

  /** A redrive was taken: an ending that was decided before it is none. One that is refused leaves it. */
  begunAnew(): void {
    this.redriven = true;
    this.ending = undefined;
  }

  take(command: Command): void {
    switch (command.type) {
      case "startTimer":
        this.#setDue(timerKey(command.timer), command.dueMs);
        break;
      case "cancelTimer":
        this.#end(timerKey(command.timer));
        break;
      case "cancelTask":
        for (const key of [taskKey(command), ...clockKeys(command.task)]) this.#end(key);
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
    if (task) this.#startClocks(task);
    if (task?.own) return this.#callOwn(key, task);
    const isActivity = task?.kind === "activity";
    const token = task ? this.#tokenHash(task) : null;
    this.#setCall({
      key,
      command: this.withoutTokens(JSON.stringify(command)),
      owner: isActivity ? null : this.planner.owner,
      pool: null,
      token,
      activity: isActivity ? task.resource : null,
      heartbeat: task?.heartbeatSeconds ?? null,
    });
  }

  #callOwn(key: string, task: StartTask): void {
    const { owner, pool, holds } = this.planner;
    const takes = this.planner.takes(key);
    const isPlain = task.pattern === "requestResponse" && task.heartbeatSeconds === undefined;
    const isNext = this.#over.includes(key);
    if (isNext) this.#over = this.#over.filter((each) => each !== key);
    const stays = isNext && takes && isPlain && holds(key);
    if (takes) this.places++;
    else this.left.push(task.task);
    if (stays) return;
    const token = task.pattern === "waitForTaskToken" ? this.#tokenHash(task) : null;
    this.#setCall({
      key,
      command: this.withoutTokens(JSON.stringify(task)),
      owner: takes ? owner : null,
      pool,
      token,
      activity: null,
      heartbeat: task.heartbeatSeconds ?? null,
    });
  }

  #tokenHash(task: StartTask): string | null {
    if (!hasToken(task)) return null;
    const token = this.planner.tokenOf(task.token);
    if (task.pattern === "waitForTaskToken")
      this.#tokens = [...this.#tokens, { token, reference: task.token }];
    return hashToken(token).toString("hex");
  }

  /** The text as it may be stored: what stands for a token in its place. */
  withoutTokens(text: string): string {
    return this.#tokens.reduce((kept, { token, reference }) => kept.replaceAll(token, reference), text);
  }

  #startClocks({ task, timeoutSeconds, heartbeatSeconds }: StartTask): void {
    const { nowMs } = this.planner;
    if (timeoutSeconds !== undefined) this.#setDue(`timeout:${task}`, nowMs + timeoutSeconds * 1000);
    if (heartbeatSeconds !== undefined) this.#setDue(`heartbeat:${task}`, nowMs + heartbeatSeconds * 1000);
  }

  /** What began in this very advance leaves no row; what began before is removed. An own key may be both. */
  #end(key: string): void {
    const before = this.#due.length + this.#calls.length;
    this.#due = without(this.#due, key);
    this.#calls = without(this.#calls, key);
    const began = this.#due.length + this.#calls.length < before;
    if (!began || key.startsWith("own:")) this.#over = [...this.#over, key];
  }

  #setDue(key: string, at: number): void {
    this.#due = [...without(this.#due, key), { key, at }];
  }

  #setCall(call: Effects["calls"][number]): void {
    this.#calls = [...without(this.#calls, call.key), call];
  }

  effects(): Effects | undefined {
    if (this.ending) return undefined;
    const effects = { due: this.#due, calls: this.#calls, over: this.#over, handedOver: this.#handedOver };
    const count = effects.due.length + effects.calls.length + effects.over.length + effects.handedOver.length;
    return count > 0 ? effects : undefined;
  }

  /** In how many ms the first of the new timers is due. */
  firstDueMs(): number | undefined {
    if (this.#due.length === 0) return undefined;
    return Math.min(...this.#due.map(({ at }) => at)) - this.planner.nowMs;
  }
}

const hasToken = (task: StartTask): boolean => task.kind === "activity" || task.pattern !== "requestResponse";

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

/** What ties what an execution does together: its input's `correlationId`, else its name. */
export function correlationOf(input: unknown, executionName: string): string {
  const given = (input as { correlationId?: unknown } | null | undefined)?.correlationId;
  return typeof given === "string" ? given : executionName;
}
