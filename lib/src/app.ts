// An application: the exported values that belong together, and what starts and ends them.
import type { Payload, PayloadKind } from "./access/contract.ts";
import { pathsOf } from "./access/mask.ts";
import type { AlarmDefinition } from "./alarm/contract.ts";
import { backfillErrors, type BackfillDefinition } from "./batch/backfill/contract.ts";
import { batchErrors, type BatchDefinition } from "./batch/contract.ts";
import type { Duration } from "./core/duration.ts";
import { toMs } from "./core/duration.ts";
import { beginJobs, unbindJobs } from "./serve-jobs.ts";
import { beginQueues, bindQueues } from "./serve-queues.ts";
import { beginWorkflows, checkElsewhere, openMachines, taskWorkers } from "./serve-workflows.ts";
import { describeIssues, jsonSchemaOf, type Schema } from "./core/schema.ts";
import type { CommandDefinition } from "./operation/command/contract.ts";
import { checkTogether } from "./operation/command/declaration.ts";
import type { Provider } from "./ledger/effect/provider.ts";
import type { Reconciliation } from "./ledger/reconcile/contract.ts";
import { serviceName } from "./measure/own.ts";
import { findTracing } from "./measure/trace.ts";
import { migrateApplication, type Migrations } from "./pg/migrate/application.ts";
import { openPlatform, type Platform, type PlatformOptions } from "./platform.ts";
import { queueErrors } from "./queue/contract.ts";
import type { QueueDefinition, WorkerDefinition } from "./queue/declaration.ts";
import { bindQueue } from "./queue/declaration.ts";
import type { Remotes } from "./queue/remote/serve.ts";
import type { QueueService } from "./queue/remote/contract.ts";
import { startWorkers, type Workers } from "./queue/worker/index.ts";
import { scheduleErrors, type ScheduleDefinition } from "./schedule/contract.ts";
import { firedOf, sampleOf } from "./schedule/declaration.ts";
import { serviceErrors, type ServiceDefinition } from "./service/contract.ts";
import { workflowErrors } from "./workflow/contract.ts";
import { bindWorkflow, type WorkflowDefinition } from "./workflow/declaration.ts";
import type { MachineService } from "./workflow/remote/contract.ts";
import type { Elsewhere } from "./workflow/remote/serve.ts";
import { streamErrors, type ConsumerDefinition, type StreamDefinition } from "./stream/contract.ts";
import { bindStream } from "./stream/declaration.ts";
import type { Consumers } from "./stream/worker/index.ts";

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
  | ServiceDefinition;

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
] satisfies Definition["kind"][];

export interface AppOptions {
  /** The application's own tables: each process that starts it brings them up to date before anything of it works. */
  readonly migrations?: Migrations;
}

export interface AppDefinition extends AppOptions {
  readonly kind: "app";
  readonly parts: Readonly<Record<string, Definition>>;
}

/** Puts declarations together. A worker brings its queue along, a consumer its stream. */
export function app(parts: Readonly<Record<string, Definition>>, options: AppOptions = {}): AppDefinition {
  for (const [name, part] of Object.entries(parts)) {
    if (!kinds.includes(part?.kind)) {
      throw queueErrors.error(
        "TUNTAS_QUEUE_OPTIONS",
        `app: expected ${name} to be a queue, a worker, a workflow, a schedule, a batch, a backfill, a command, a stream, a consumer, a service, an alarm, a provider or a reconciliation, got ${typeof part}`,
      );
    }
  }
  const twice = namedTwice(workersOf(parts).map((worker) => worker.queue));
  if (twice !== undefined)
    throw queueErrors.error("TUNTAS_WORKER_REGISTERED", `app: queue ${twice} has more than one worker`);
  checkWorkflows(partsOf(parts, "workflow"));
  checkServices(partsOf(parts, "service"));
  checkJobs(parts);
  checkTogether(partsOf(parts, "command"));
  checkSchedules(parts);
  checkStreams(parts);
  return { ...options, kind: "app", parts };
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

type Parts = Readonly<Record<string, Definition>>;

const partsOf = <Kind extends Definition["kind"]>(parts: Parts, kind: Kind) =>
  Object.values(parts).filter((part): part is Extract<Definition, { kind: Kind }> => part.kind === kind);

const jobsOf = (parts: Parts) => ({
  batches: partsOf(parts, "batch"),
  backfills: partsOf(parts, "backfill"),
});

const workersOf = (parts: Parts): WorkerDefinition[] => partsOf(parts, "worker");

function queuesOf(parts: Parts): QueueDefinition[] {
  return [...new Set([...partsOf(parts, "queue"), ...workersOf(parts).map((worker) => worker.queue)])];
}

function streamsOf(parts: Parts): StreamDefinition[] {
  return [
    ...new Set([...partsOf(parts, "stream"), ...partsOf(parts, "consumer").map(({ stream }) => stream)]),
  ];
}

export interface StartOptions extends PlatformOptions {
  /** Runs the application on this platform instead of opening one; it stays open when the application stops. */
  readonly platform?: Platform;
  /** False for a process that only sends. */
  readonly workers?: boolean;
  /** Where the declared queues live: this database by default, Amazon SQS with `sqs()` of `@tuntas/aws`. */
  readonly queues?: QueueService;
  /**
   * Where the declared workflows run: this database by default, AWS Step Functions with `stepFunctions()` of `@tuntas/aws`. Their
   * tasks then come by queues, so `queues` must say where those live.
   */
  readonly workflows?: MachineService;
  /** The names of the declared schedules that this application fires; all by default, `[]` where EventBridge fires them. */
  readonly schedules?: readonly string[];
  /** How long what runs may take to finish when the application stops; 25s by default, under the usual 30s kill. */
  readonly drain?: Duration;
}

/** A started application. `await using` stops it. */
export interface RunningApp extends AsyncDisposable {
  readonly platform: Platform;
  /** What each worker holds in this process. */
  active(): ReturnType<Workers["active"]>;
  /** Stops claiming, lets what runs finish, writes outcomes, closes. Called again, it hurries: what runs is aborted and given back. */
  stop(): Promise<void>;
}

/** What works in this process, and what ends what it does by the clock. */
interface Working {
  readonly platform: Platform;
  /** Undefined in a process that only sends. */
  readonly workers: Workers | undefined;
  readonly consumers?: Consumers;
  readonly unwatch: () => void;
  readonly remotes: Remotes | undefined;
  readonly elsewhere: Elsewhere | undefined;
}

/** Unknown calls of the providers are asked about, and reconciliations run on their periods. */
async function watchOver(parts: Parts, { ledger }: Platform): Promise<() => void> {
  const unregister = await ledger.register(partsOf(parts, "reconciliation"));
  const ends = partsOf(parts, "provider").map((provider) => ledger.watch(provider));
  return () => [unregister, ...ends].forEach((end) => end());
}

/** What people who watch are to know: the alarms, what payloads are, and that something else may run now. */
async function announce({ parts }: AppDefinition, { alarms, access, series }: Platform): Promise<() => void> {
  for (const [kind, payloads] of Object.entries(payloadsOf(parts)))
    await access.declarePayloads(kind as PayloadKind, new Map(payloads));
  const service = serviceName();
  const { TUNTAS_REVISION: revision } = process.env;
  if (revision) await series.deployed(service, revision);
  return alarms.declare(service, partsOf(parts, "alarm"));
}

function payloadOf(schema: Schema, sensitive: readonly string[] = []): Payload {
  const described = jsonSchemaOf(schema);
  return {
    sensitive: [...new Set([...pathsOf(schema), ...sensitive])],
    schema: described ? JSON.stringify(described) : null,
  };
}

const payloadsOf = (parts: Parts): Record<PayloadKind, [name: string, Payload][]> => ({
  queue: queuesOf(parts).map(({ name, options }) => [name, payloadOf(options.message, options.sensitive)]),
  workflow: partsOf(parts, "workflow").flatMap(({ name, options: { input } }) =>
    input ? [[name, payloadOf(input)]] : [],
  ),
  stream: streamsOf(parts).map(({ name, options }) => [name, payloadOf(options.record, options.sensitive)]),
  batch: partsOf(parts, "batch").map(({ name, options }) => [name, payloadOf(options.input)]),
});

/** Makes the database agree with the declared streams and consumers; from now on records can be appended. */
async function beginStreams(parts: Parts, { streams }: Platform): Promise<void> {
  await streams.declare(streamsOf(parts), partsOf(parts, "consumer"));
  for (const stream of streamsOf(parts)) bindStream(stream, streams.append);
}

/** What has been opened, and is closed where the rest fails. */
type Opened = Pick<Working, "elsewhere"> & { remotes?: Remotes | undefined };

async function beginAll(
  definition: AppDefinition,
  platform: Platform,
  { opened, options }: { opened: Opened; options: StartOptions },
): Promise<Working> {
  const { parts, migrations } = definition;
  const { workers: withWorkers = true, queues: service } = options;
  const { elsewhere } = opened;
  const { queues, context, slots, log, processId, onLost } = platform;
  if (migrations) await migrateApplication(platform.database, migrations);
  const tracing = findTracing();
  const declared = partsOf(parts, "workflow");
  const tasks = withWorkers ? taskWorkers(declared, elsewhere, tracing) : [];
  const working = [...workersOf(parts), ...tasks];
  const { records, remotes } = await beginQueues(platform, service, {
    queues: [...new Set([...queuesOf(parts), ...tasks.map(({ queue }) => queue)])],
    workers: working,
  });
  opened.remotes = remotes;
  bindQueues(queuesOf(parts), platform, { tracing, remotes });
  const unannounce = await announce(definition, platform);
  const workflows = await beginWorkflows(declared, platform, { tracing, elsewhere });
  const jobPairs = await beginJobs(jobsOf(parts), platform);
  await platform.schedules.declare(serviceName(), firedOf(partsOf(parts, "schedule"), options.schedules));
  await beginStreams(parts, platform);
  const commands = partsOf(parts, "command");
  await platform.commands.declare(commands);
  const begun = { platform: workflows.platform, remotes, elsewhere };
  if (!withWorkers) return { ...begun, workers: undefined, unwatch: unannounce };
  await workflows.serve();
  const queuePairs = working.map((worker) => ({
    worker,
    queue: records.get(worker.queue)!,
    remote: remotes?.of(worker.queue),
  }));
  const pairs = [...queuePairs, ...jobPairs].map((pair) => ({
    ...pair,
    worker: tracing?.worker(pair.worker) ?? pair.worker,
  }));
  const unwatch = await watchOver(parts, platform);
  const workers = startWorkers({ context, catalog: queues.catalog, slots, log, processId, onLost }, pairs);
  const consumers = await platform.streams.serve(partsOf(parts, "consumer"));
  const ends = [unwatch, unannounce, platform.serveCommands(commands)];
  return { ...begun, workers, consumers, unwatch: () => ends.forEach((end) => end()) };
}

async function begin(definition: AppDefinition, platform: Platform, options: StartOptions): Promise<Working> {
  const { parts } = definition;
  const { queues, workflows, schedules } = options;
  if (workflows) checkElsewhere({ queues, fired: firedOf(partsOf(parts, "schedule"), schedules) });
  const elsewhere = await openMachines(workflows, partsOf(parts, "workflow"), platform);
  const opened: Opened = { elsewhere };
  try {
    return await beginAll(definition, platform, { opened, options });
  } catch (cause) {
    await opened.remotes?.close();
    await elsewhere?.close();
    throw cause;
  }
}

/** Who sends or starts from now on is told that nothing is started. */
function unbind(parts: Parts): void {
  for (const queue of queuesOf(parts)) bindQueue(queue, undefined);
  for (const workflow of partsOf(parts, "workflow")) bindWorkflow(workflow, undefined);
  for (const stream of streamsOf(parts)) bindStream(stream, undefined);
  unbindJobs(jobsOf(parts));
}

/** Starts the application: the database with its tables, the declared queues, the workers. */
export async function start(definition: AppDefinition, options: StartOptions = {}): Promise<RunningApp> {
  const drainMs = toMs(options.drain ?? "25s", "start: drain");
  const platform = options.platform ?? (await openPlatform(options));
  const working = await begin(definition, platform, options).catch(async (cause: unknown) => {
    unbind(definition.parts);
    if (!options.platform) await platform.close();
    throw cause;
  });
  const hurry = new AbortController();
  let stopping: Promise<void> | undefined;

  async function stopOnce(): Promise<void> {
    working.unwatch();
    const end = AbortSignal.any([hurry.signal, AbortSignal.timeout(drainMs)]);
    await Promise.all([
      working.workers?.stop(drainMs, hurry.signal),
      working.workers && platform.workflows.drain(end),
      working.consumers?.stop(end),
    ]);
    unbind(definition.parts);
    await platform.queues.sender.idle();
    await working.remotes?.close();
    await working.elsewhere?.close();
    platform.log.info(
      { event: "service.acknowledged" },
      "what was sent is durable, what was done is acknowledged",
    );
    if (!options.platform) await platform.close();
  }

  function stop(): Promise<void> {
    if (stopping) hurry.abort();
    stopping ??= stopOnce();
    return stopping;
  }

  const { platform: seen } = working;
  return { platform: seen, active: () => working.workers?.active() ?? [], stop, [Symbol.asyncDispose]: stop };
}
