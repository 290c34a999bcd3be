// An application: the exported values that belong together, and what starts and ends them.
import { declaring } from "./core/place.ts";
import type { Payload, PayloadKind } from "./access/contract.ts";
import { pathsOf } from "./access/mask.ts";
import { changeErrors } from "./change/contract.ts";
import type { Duration } from "./core/duration.ts";
import { toMs } from "./core/duration.ts";
import { refuseUnknown, type NamesOf } from "./core/options.ts";
import { beginJobs, unbindJobs } from "./serve-jobs.ts";
import { beginQueues, bindQueues } from "./serve-queues.ts";
import { beginWorkflows, checkElsewhere, openMachines, taskWorkers } from "./serve-workflows.ts";
import { jsonSchemaOf, type Schema } from "./core/schema.ts";
import {
  checkParts,
  jobsOf,
  partsOf,
  queuesOf,
  streamsOf,
  workersOf,
  type Definition,
  type Parts,
} from "./declared.ts";
import { serviceName } from "./measure/own.ts";
import { findTracing } from "./measure/trace.ts";
import { beginMigrated, type Migrations, type Ran } from "./pg/migrate/application/index.ts";
import { openPlatform, platformOptionNames, type Platform, type PlatformOptions } from "./platform.ts";
import { endpointTarget } from "./outbox/declaration.ts";
import { declareEndpoints } from "./outbox/endpoints.ts";
import { bindQueue } from "./queue/declaration.ts";
import type { Remotes } from "./queue/remote/serve.ts";
import type { QueueService } from "./queue/remote/contract.ts";
import { startWorkers, type Workers } from "./queue/worker/index.ts";
import { firedOf } from "./schedule/declaration.ts";
import { bindWorkflow } from "./workflow/declaration.ts";
import type { MachineService } from "./workflow/remote/contract.ts";
import type { Elsewhere } from "./workflow/remote/serve.ts";
import { bindStream } from "./stream/declaration.ts";
import type { Consumers } from "./stream/worker/index.ts";

export interface AppOptions {
  /** The application's own tables: up to date before anything of it works. */
  readonly migrations?: Migrations;
}

export interface AppDefinition extends AppOptions {
  readonly kind: "app";
  readonly parts: Readonly<Record<string, Definition>>;
}

const appOptionNames: NamesOf<AppOptions> = {
  migrations: { folder: true, schema: true, run: true, lockTimeout: true, statementTimeout: true },
};

function declareApp(parts: Readonly<Record<string, Definition>>, options: AppOptions = {}): AppDefinition {
  refuseUnknown("app", options, appOptionNames);
  checkParts(parts);
  return { ...options, kind: "app", parts };
}

/** Puts declarations together. A worker brings its queue along, a consumer its stream. */
export const app = declaring(declareApp);

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
  /** Unbinds its endpoints, and says that this process no longer works on its tables. */
  readonly leave: (() => Promise<void>) | undefined;
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

/** What lies elsewhere cannot be looked at: nobody would know when a change of its messages is through. */
function refuseElsewhere(parts: Parts, queues: QueueService | undefined): void {
  const [change] = queues ? partsOf(parts, "change").filter(({ spec }) => spec.kind === "message") : [];
  if (change)
    throw changeErrors.error(
      "TUNTAS_CHANGE_OPTIONS",
      `change ${change.name}: expected a queue of this database, got one that lives elsewhere`,
    );
}

/** Brings the application's tables up to date, sees that it may run, and binds its endpoints; answers what ends all of it. */
async function enter({ parts, migrations }: AppDefinition, { database, targets, log, changes }: Platform) {
  const tell = ({ name, ms }: Ran) =>
    log.info({ event: "migration.ran", file: name, durationMs: Math.round(ms) }, "a migration has run");
  const leaveTables =
    migrations && (await beginMigrated(database, migrations, { onRan: tell, judge: changes.judge }));
  const endpoints = partsOf(parts, "http");
  const entering = { queues: queuesOf(parts), schema: migrations?.schema, changes: partsOf(parts, "change") };
  const declare = async () => {
    await declareEndpoints(database, endpoints);
    return changes.enter(entering);
  };
  const leaveChanges = await declare().catch(async (cause: unknown) => {
    await leaveTables?.();
    throw cause;
  });
  const ends = endpoints.map((each) => targets.bind(each, endpointTarget(each)));
  return async (): Promise<void> => {
    for (const end of ends) end();
    await leaveChanges();
    await leaveTables?.();
  };
}

/** What has been opened, and is closed where the rest fails. */
type Opened = Pick<Working, "elsewhere"> & { remotes?: Remotes | undefined; leave?: () => Promise<void> };

async function beginAll(
  definition: AppDefinition,
  platform: Platform,
  { opened, options }: { opened: Opened; options: StartOptions },
): Promise<Working> {
  const { parts } = definition;
  const { workers: withWorkers = true, queues: service } = options;
  const { elsewhere } = opened;
  refuseElsewhere(parts, service);
  const { queues, context, slots, log, processId, onLost, onBeat } = platform;
  opened.leave = await enter(definition, platform);
  const tracing = findTracing();
  const declared = partsOf(parts, "workflow");
  const tasks = withWorkers ? taskWorkers(declared, elsewhere, tracing) : [];
  const working = [...workersOf(parts), ...tasks];
  const { records, remotes } = await beginQueues(platform, service, {
    queues: [...new Set([...queuesOf(parts), ...tasks.map(({ queue }) => queue)])],
    workers: working,
  });
  opened.remotes = remotes;
  bindQueues(queuesOf(parts), platform, { tracing, remotes, changes: partsOf(parts, "change") });
  const unannounce = await announce(definition, platform);
  const workflows = await beginWorkflows(declared, platform, { tracing, elsewhere });
  const jobPairs = await beginJobs(jobsOf(parts), platform);
  await platform.schedules.declare(serviceName(), firedOf(partsOf(parts, "schedule"), options.schedules));
  await beginStreams(parts, platform);
  const commands = partsOf(parts, "command");
  await platform.commands.declare(commands);
  const begun = { platform: workflows.platform, remotes, elsewhere, leave: opened.leave };
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
  const catalog = queues.catalog;
  const workers = startWorkers({ context, catalog, slots, log, processId, onLost, onBeat }, pairs);
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
    await opened.leave?.();
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

export const startOptionNames: NamesOf<StartOptions> = {
  ...platformOptionNames,
  platform: true,
  workers: true,
  queues: true,
  workflows: true,
  schedules: true,
  drain: true,
};

/** Those of the options that open the platform. */
export const platformOptionsOf = (options: StartOptions): PlatformOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(platformOptionNames, name)));

/** Starts the application: the database with its tables, the declared queues, the workers. */
export async function start(definition: AppDefinition, options: StartOptions = {}): Promise<RunningApp> {
  refuseUnknown("start", options, startOptionNames);
  const drainMs = toMs(options.drain ?? "25s", "start: drain");
  const platform = options.platform ?? (await openPlatform(platformOptionsOf(options)));
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
    await working.leave?.();
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
