// Task: schedules work outside and waits for its outcome. A Lambda function, an activity and an integrated service
// differ in how the history calls things, not in what happens.
import type { Event, Failure, Json, StartTask, TaskKind, TaskPattern } from "../contract.ts";
import { StateFailure } from "../failure.ts";
import { argumentsOf, leaveWithResult, maybe, parametersOf, type Work } from "../flow.ts";
import { exceedsBytes, limits } from "../limits.ts";
import type { Asking } from "../query/query.ts";
import {
  dataLimit,
  emit,
  noteSize,
  type Place,
  retryCount,
  type ScopeExtras,
  scopeOf,
  serial,
  setWait,
  textOf,
  type Visit,
} from "../run.ts";
import { secondsOf } from "../settings.ts";

export interface Resource {
  readonly kind: TaskKind;
  readonly pattern: TaskPattern;
  /** Prefix of the history events. */
  readonly events: "LambdaFunction" | "Activity" | "Task";
  /** `sqs` and `sendMessage.waitForTaskToken`; only of a service. */
  readonly type: string;
  readonly action: string;
}

// A definition's few resources are looked at again and again.
const known = new Map<string, Resource>();
const knownMax = 2_000;

export function resourceOf(arn: string): Resource {
  const before = known.get(arn);
  if (before) return before;
  if (known.size >= knownMax) known.clear();
  const resource = readResource(arn);
  known.set(arn, resource);
  return resource;
}

function readResource(arn: string): Resource {
  const service = /^arn:[^:]*:states:[^:]*:[^:]*:((?:aws-sdk:)?[^:]+):(.+)$/.exec(arn);
  if (service && service[1] !== "activity") {
    const [type, action] = [service[1]!, service[2]!];
    return { kind: "service", pattern: patternOf(action), events: "Task", type, action };
  }
  const isActivity = /^arn:[^:]*:states:[^:]*:[^:]*:activity:/.test(arn);
  const names = isActivity
    ? ({ kind: "activity", events: "Activity" } as const)
    : ({ kind: "lambda", events: "LambdaFunction" } as const);
  return { ...names, pattern: "requestResponse", type: "", action: "" };
}

function patternOf(action: string): TaskPattern {
  if (action.endsWith(".waitForTaskToken")) return "waitForTaskToken";
  return /\.sync(:\d+)?$/.test(action) ? "sync" : "requestResponse";
}

/** What the events of one task have in common. */
const shared = ({ kind, type, action }: Resource): Record<string, unknown> =>
  kind === "service" ? { resourceType: type, resource: action } : {};

export function enterTask(visit: Visit): Work {
  const { run, spec } = visit;
  const resource = resourceOf(spec.resource!);
  const token = isNamed(resource) ? run.random.uuid() : "";
  const isAnswered = resource.pattern !== "requestResponse";
  const extras = isAnswered ? { taskToken: run.tokenOf?.(token) ?? token } : none;
  const isPlain = spec.language === "JSONPath" && !spec.roleArn && !spec.timeout && !spec.heartbeat;
  if (!isPlain) return enterAsking(visit, { resource, token }, extras);
  schedule(visit, { resource, token }, { input: parametersOf(visit, extras), roleArn: undefined });
}

const none: ScopeExtras = {};

interface Called {
  readonly resource: Resource;
  readonly token: string;
}

function* enterAsking(visit: Visit, called: Called, extras: ScopeExtras): Asking<void> {
  const { branch, spec } = visit;
  const input = yield* argumentsOf(visit, extras);
  const roleArn = yield* maybe(spec.roleArn, scopeOf(visit, branch.input));
  const clocks = yield* clocksOf(visit);
  schedule(visit, called, { input, roleArn, ...clocks });
}

function schedule(visit: Visit, { resource, token }: Called, scheduling: Scheduling): void {
  const { run, branch, spec } = visit;
  emit(visit, `${resource.events}Scheduled`, scheduled(visit, resource, scheduling));
  const task = serial(run);
  const own = run.isOwn?.(spec.resource!, scheduling.input) ? { own: true as const } : {};
  run.commands.push(command(visit, resource, { task, token, ...own, ...scheduling }));
  const timed = spec.timeout || spec.heartbeat ? { timed: true as const } : {};
  setWait(branch, { for: "task", task, token, phase: "scheduled", ...own, ...timed });
}

/** A call that ends when it answers needs no token; that of another service gives names to what it begins. */
const isNamed = ({ kind, type, pattern }: Resource): boolean =>
  kind === "activity" || (kind === "service" && (type !== "lambda" || pattern !== "requestResponse"));

interface Clocks {
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
}

function* clocksOf(visit: Visit): Asking<Clocks> {
  const { branch, spec } = visit;
  const scope = scopeOf(visit, branch.input);
  return {
    ...(spec.timeout && { timeoutSeconds: yield* secondsOf(spec.timeout, scope) }),
    ...(spec.heartbeat && { heartbeatSeconds: yield* secondsOf(spec.heartbeat, scope) }),
  };
}

interface Scheduling extends Clocks {
  readonly input: Json;
  readonly roleArn: Json | undefined;
}

function scheduled(
  { run, spec }: Visit,
  resource: Resource,
  { input, roleArn, timeoutSeconds, heartbeatSeconds }: Scheduling,
): Record<string, unknown> {
  const text = textOf(run, input);
  return {
    ...(resource.kind === "service"
      ? { ...shared(resource), region: run.state.execution.id.split(":")[3] ?? "", parameters: text }
      : { resource: spec.resource, input: text }),
    ...(timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds }),
    ...(heartbeatSeconds === undefined || resource.kind === "lambda"
      ? {}
      : { heartbeatInSeconds: heartbeatSeconds }),
    ...(roleArn === undefined ? {} : { taskCredentials: { roleArn } }),
  };
}

function command(
  { branch, spec }: Visit,
  resource: Resource,
  work: Scheduling & { readonly task: number; readonly token: string },
): StartTask {
  const { roleArn, ...rest } = work;
  return {
    type: "startTask",
    branch: branch.id,
    entry: branch.enteredEventId,
    stateName: spec.name,
    kind: resource.kind,
    pattern: resource.pattern,
    resource: spec.resource!,
    attempt: retryCount(branch),
    ...(typeof roleArn === "string" ? { roleArn } : {}),
    ...rest,
  };
}

type TaskEvent = Extract<Event, { readonly task: number }>;

/** Takes what the engine tells about the task that the branch waits for. */
export function resumeTask(visit: Visit, event: TaskEvent): Work {
  const { branch, spec } = visit;
  const resource = resourceOf(spec.resource!);
  const unstarted = branch.wait?.for === "task" && branch.wait.phase === "scheduled";
  if (unstarted && startsWith(event)) noteStarted(visit, resource, event);
  switch (event.type) {
    case "taskStarted":
      return;
    case "taskSubmitted":
      return submitted(visit, resource, event.output);
    case "taskSucceeded":
      return succeeded(visit, resource, event.output);
    case "taskFailed":
      return failed(visit, resource, event);
    case "taskTimedOut":
      return timedOut(visit, resource, event.clock);
  }
}

/** An activity that nobody has polled times out unstarted; a task that could not be scheduled never starts. */
function startsWith(event: TaskEvent): boolean {
  if (event.type === "taskTimedOut") return true;
  return (
    event.type !== "taskFailed" ||
    event.phase === undefined ||
    event.phase === "run" ||
    event.phase === "submit"
  );
}

function noteStarted(place: Place, resource: Resource, event: TaskEvent): void {
  const { branch } = place;
  if (resource.kind === "activity" && event.type !== "taskStarted") return;
  const workerName =
    event.type === "taskStarted" && event.workerName !== undefined
      ? { workerName: event.workerName }
      : undefined;
  emit(place, `${resource.events}Started`, resource.kind === "service" ? shared(resource) : workerName);
  if (branch.wait?.for === "task") branch.wait = { ...branch.wait, phase: "started" };
}

function submitted(visit: Visit, resource: Resource, output: Json): void {
  const { branch } = visit;
  emit(visit, "TaskSubmitted", { ...shared(resource), output: checked(visit, resource, output) });
  if (branch.wait?.for === "task") branch.wait = { ...branch.wait, phase: "submitted" };
}

function checked({ run, spec }: Visit, resource: Resource, output: Json): string {
  const text = textOf(run, output);
  if (exceedsBytes(text, limits.dataBytes))
    throw dataLimit(resource.kind === "service" ? resource.type : spec.resource!);
  noteSize(run, text);
  return text;
}

function succeeded(visit: Visit, resource: Resource, output: Json): Work {
  const { branch } = visit;
  let text: string;
  try {
    text = checked(visit, resource, output);
  } catch (error) {
    setWait(branch, undefined);
    if (error instanceof StateFailure)
      emit(visit, `${resource.events}Failed`, { ...shared(resource), ...error.failure });
    throw error;
  }
  setWait(branch, undefined);
  emit(visit, `${resource.events}Succeeded`, { ...shared(resource), output: text });
  return leaveWithResult(visit, output);
}

const failedEvents = {
  schedule: "ScheduleFailed",
  start: "StartFailed",
  submit: "SubmitFailed",
  run: "Failed",
} as const;

function failed(
  place: Place,
  resource: Resource,
  { error, cause, final, phase = "run" }: Extract<TaskEvent, { readonly type: "taskFailed" }>,
): never {
  const { branch } = place;
  setWait(branch, undefined);
  const failure: Failure = {
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  };
  emit(place, resource.events + failedEvents[phase], { ...shared(resource), ...failure });
  throw new StateFailure(failure, final ? { final } : {});
}

function timedOut(place: Place, resource: Resource, clock: "timeout" | "heartbeat"): never {
  const { branch } = place;
  setWait(branch, undefined);
  emit(place, `${resource.events}TimedOut`, { ...shared(resource), error: "States.Timeout" });
  throw new StateFailure(
    { error: "States.Timeout", cause: "" },
    clock === "heartbeat" ? { alias: "States.HeartbeatTimeout" } : {},
  );
}
