// What an application declares, by kind, and what cannot be declared together.
import type { AlarmDefinition } from "./alarm/contract.ts";
import { backfillErrors, type BackfillDefinition } from "./batch/backfill/contract.ts";
import { batchErrors, type BatchDefinition } from "./batch/contract.ts";
import type { ChangeDefinition } from "./change/contract.ts";
import { describeIssues } from "./core/schema.ts";
import type { Provider } from "./ledger/effect/provider.ts";
import type { Reconciliation } from "./ledger/reconcile/contract.ts";
import type { CommandDefinition } from "./operation/command/contract.ts";
import { outboxErrors, type EndpointDefinition } from "./outbox/contract.ts";
import { checkTogether } from "./operation/command/declaration.ts";
import { queueErrors } from "./queue/contract.ts";
import type { QueueDefinition, WorkerDefinition } from "./queue/declaration.ts";
import { scheduleErrors, type ScheduleDefinition } from "./schedule/contract.ts";
import { sampleOf } from "./schedule/declaration.ts";
import { serviceErrors, type ServiceDefinition } from "./service/contract.ts";
import { streamErrors, type ConsumerDefinition, type StreamDefinition } from "./stream/contract.ts";
import { workflowErrors } from "./workflow/contract.ts";
import type { WorkflowDefinition } from "./workflow/declaration.ts";

export type Definition =
  | QueueDefinition<any>
  | WorkerDefinition<any>
  | WorkflowDefinition<any>
  | Reconciliation
  | Provider
  | AlarmDefinition
  | ScheduleDefinition
  | StreamDefinition<any>
  | ConsumerDefinition<any>
  | BatchDefinition<any, any>
  | BackfillDefinition<any, any, any>
  | CommandDefinition<any>
  | ServiceDefinition
  | ChangeDefinition
  | EndpointDefinition;

const kinds: readonly unknown[] = [
  "queue",
  "worker",
  "workflow",
  "reconciliation",
  "provider",
  "alarm",
  "schedule",
  "stream",
  "consumer",
  "batch",
  "backfill",
  "command",
  "service",
  "change",
  "http",
] satisfies Definition["kind"][];

export type Parts = Readonly<Record<string, Definition>>;

/** Errors: of the room whose declaration does not fit. */
export function checkParts(parts: Parts): void {
  for (const [name, part] of Object.entries(parts)) {
    if (!kinds.includes(part?.kind)) {
      throw queueErrors.error(
        "TUNTAS_QUEUE_OPTIONS",
        `app: expected ${name} to be a queue, a worker, a workflow, a schedule, a batch, a backfill, a command, a stream, a consumer, a service, a change, an endpoint, an alarm, a provider or a reconciliation, got ${typeof part}`,
      );
    }
  }
  const twice = namedTwice(workersOf(parts).map((worker) => worker.queue));
  if (twice !== undefined)
    throw queueErrors.error("TUNTAS_WORKER_REGISTERED", `app: queue ${twice} has more than one worker`);
  checkWorkflows(partsOf(parts, "workflow"));
  checkServices(partsOf(parts, "service"));
  checkEndpoints(partsOf(parts, "http"));
  checkQueues(parts);
  checkJobs(parts);
  checkTogether(partsOf(parts, "command"));
  checkSchedules(parts);
  checkStreams(parts);
}

/** A name that two of these have. */
function namedTwice(all: readonly { readonly name: string }[]): string | undefined {
  const names = all.map(({ name }) => name);
  return names.find((name, index) => names.indexOf(name) !== index);
}

function checkWorkflows(workflows: readonly WorkflowDefinition[]): void {
  const twice = namedTwice(workflows);
  if (twice !== undefined)
    throw workflowErrors.error("TUNTAS_WORKFLOW_NAME", `app: two workflows have the name ${twice}`);
}

function checkServices(services: readonly ServiceDefinition[]): void {
  const twice = namedTwice(services);
  if (twice !== undefined)
    throw serviceErrors.error("TUNTAS_SERVICE_REGISTERED", `app: two services have the name ${twice}`);
}

function checkEndpoints(endpoints: readonly EndpointDefinition[]): void {
  const twice = namedTwice(endpoints);
  if (twice !== undefined)
    throw outboxErrors.error("TUNTAS_OUTBOX_OPTIONS", `app: two endpoints have the name ${twice}`);
}

function checkQueues(parts: Parts): void {
  const twice = namedTwice(queuesOf(parts));
  if (twice !== undefined)
    throw queueErrors.error("TUNTAS_QUEUE_REGISTERED", `app: two queues have the name ${twice}`);
}

function checkJobs(parts: Parts): void {
  const { batches, backfills } = jobsOf(parts);
  const twiceAmong = (jobs: readonly (BatchDefinition | BackfillDefinition)[]) =>
    namedTwice(jobs) ?? namedTwice([...queuesOf(parts), ...jobs.map((job) => job.queue)]);
  const [batch, backfill] = [twiceAmong(batches), twiceAmong(backfills)];
  if (batch !== undefined)
    throw batchErrors.error("TUNTAS_BATCH_REGISTERED", `app: the name ${batch} is there twice`);
  if (backfill !== undefined)
    throw backfillErrors.error("TUNTAS_BACKFILL_REGISTERED", `app: the name ${backfill} is there twice`);
}

function checkSchedules(parts: Parts): void {
  const schedules = partsOf(parts, "schedule");
  const twice = namedTwice(schedules);
  if (twice !== undefined)
    throw scheduleErrors.error("TUNTAS_SCHEDULE_REGISTERED", `app: two schedules have the name ${twice}`);
  for (const each of schedules)
    checkTarget(each, [...queuesOf(parts), ...partsOf(parts, "workflow"), ...partsOf(parts, "batch")]);
}

/** What a schedule starts is declared here, and takes what the schedule gives. */
function checkTarget(
  schedule: ScheduleDefinition,
  declared: readonly (QueueDefinition | WorkflowDefinition | BatchDefinition)[],
): void {
  const { target: wanted, deadLetter } = schedule.options;
  const refuse = (why: string) =>
    scheduleErrors.error("TUNTAS_SCHEDULE_TARGET", `app: schedule ${schedule.name}: ${why}`);
  if (deadLetter && !declared.some((each) => each.kind === "queue" && each.name === deadLetter.name))
    throw refuse(`expected its dead letters' queue ${deadLetter.name} among what the application declares`);
  const { kind, name } = wanted;
  if (kind !== "queue" && kind !== "workflow" && kind !== "batch") return;
  const target = declared.find((each) => each.kind === kind && each.name === name);
  if (!target) throw refuse(`expected its ${kind} ${name} among what the application declares`);
  const schema = target.kind === "queue" ? target.options.message : target.options.input;
  const result = schema?.["~standard"].validate(sampleOf(schedule));
  if (result && "issues" in result && result.issues)
    throw refuse(`its ${kind} ${name} does not take what it gives: ${describeIssues(result.issues)}`);
}

function checkStreams(parts: Parts): void {
  const refuse = (what: string) =>
    streamErrors.error("TUNTAS_STREAM_REGISTERED", `app: two ${what} have one name`);
  const twice = namedTwice(streamsOf(parts));
  if (twice !== undefined) throw refuse(`streams (${twice})`);
  const names = partsOf(parts, "consumer").map((each) => ({ name: `${each.stream.name} ${each.name}` }));
  const twin = namedTwice(names);
  if (twin !== undefined) throw refuse(`consumers of a stream (${twin})`);
}

export const partsOf = <Kind extends Definition["kind"]>(parts: Parts, kind: Kind) =>
  Object.values(parts).filter((part): part is Extract<Definition, { kind: Kind }> => part.kind === kind);

export const jobsOf = (parts: Parts) => ({
  batches: partsOf(parts, "batch"),
  backfills: partsOf(parts, "backfill"),
});

export const workersOf = (parts: Parts): WorkerDefinition[] => partsOf(parts, "worker");

export function queuesOf(parts: Parts): QueueDefinition[] {
  return [...new Set([...partsOf(parts, "queue"), ...workersOf(parts).map((worker) => worker.queue)])];
}

export function streamsOf(parts: Parts): StreamDefinition[] {
  return [
    ...new Set([...partsOf(parts, "stream"), ...partsOf(parts, "consumer").map(({ stream }) => stream)]),
  ];
}
