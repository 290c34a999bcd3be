// The only place that builds things: database, clock of due instants, wakers, the rooms' clients, this process's
// presence. Everything else gets what it needs handed down.
import { announcedBy, hear } from "./hearing.ts";
import { refuseUnknown, type NamesOf } from "./core/options.ts";
import { makeAftermath } from "./engine/aftermath.ts";
import type { Agendum } from "./engine/agenda.ts";
import { makeChore, type ChoreOptions } from "./engine/chore.ts";
import { makeClosing, type Closing } from "./engine/closing.ts";
import { openDatabaseOf, type DatabaseOptions } from "./engine/opening.ts";
import { watchMemory } from "./engine/process/memory/watch.ts";
import { makePresence, selfOf, type Presence } from "./engine/process/presence.ts";
import type { OnBeat } from "./engine/handler/ease.ts";
import { makeDueClock } from "./engine/due.ts";
import { endDuties } from "./engine/duty.ts";
import { makeCompany, type Company } from "./engine/process/company.ts";
import { makeSlots, type SlotTable } from "./engine/process/slots.ts";
import { makeStillness, type Stillness } from "./engine/process/stillness.ts";
import { makeTargets, type Targets } from "./engine/target.ts";
import { makeWaker, type Waker } from "./engine/wake.ts";
import { makeChanges, type Changes } from "./change/client.ts";
import type { Alarms } from "./alarm/client.ts";
import { makeAccess, type Access } from "./access/client.ts";
import { forgetRates } from "./access/rate/index.ts";
import type { Backfills } from "./batch/backfill/client.ts";
import type { Batches } from "./batch/client.ts";
import { openJobs } from "./jobs.ts";
import { startLedger, type LedgerService } from "./ledger/service.ts";
import type { TimeSeries } from "./series/client.ts";
import { operationKey, type Operations } from "./operation/client.ts";
import type { Commands } from "./operation/command/client.ts";
import { readCommands } from "./operation/command/store.ts";
import { operationAgenda, startOperations, type OperationService } from "./operation/service.ts";
import { freeOperations } from "./operation/store.ts";
import { addAll, forgetPublished } from "./outbox/client.ts";
import { listEndpoints } from "./outbox/endpoints.ts";
import { workflowTarget } from "./outbox/start/index.ts";
import { outboxAgenda, startRelay } from "./outbox/relay/index.ts";
import { makeOwnerOf } from "./measure/owner.ts";
import { startWatch } from "./measure/watch.ts";
import type { Tally } from "./measure/tally.ts";
import type { Database } from "./pg/database.ts";
import { makeNotifier, type Notifier } from "./pg/notify.ts";
import type { QueueContext, Queues } from "./queue/client/index.ts";
import { makeQueues } from "./queue/client/index.ts";
import { makeMailbox } from "./queue/handover/mailbox.ts";
import { queueAgenda } from "./queue/agenda.ts";
import { rescueTexts } from "./queue/handover/rescue.ts";
import { makeStraySweep } from "./queue/strays.ts";
import { applyRetention, moveDue, sweepOrphans, takeOver } from "./queue/sweep.ts";
import { makeLog, type Log } from "./engine/log.ts";
import type { Schedules } from "./schedule/client.ts";
import { makeServices, type Services } from "./service/client.ts";
import { openStreams, type StreamRoom, type Streams } from "./stream/client/index.ts";
import { workflowAgenda } from "./workflow/agenda.ts";
import { makeWorkflows, type Workflows } from "./workflow/client/index.ts";
import { answerTarget } from "./workflow/client/answer.ts";
import { workflowStarter } from "./workflow/client/target.ts";

export interface PlatformOptions extends DatabaseOptions {
  /** What the process is called in the list of processes. */
  readonly name?: string;
  /** False for a process of a moment, which leaves it to the others to sample figures and to watch alarms. */
  readonly watches?: boolean;
  readonly log?: Log;
}

export interface Platform {
  readonly database: Database;
  readonly queues: Queues;
  readonly workflows: Workflows;
  readonly context: QueueContext;
  readonly waker: Waker;
  /** Where announcements of the outbox go; an application binds its own kinds and names. */
  readonly targets: Targets;
  readonly ledger: LedgerService;
  /** When what is due, and what became of it. */
  readonly schedules: Schedules;
  /** Jobs of batches: what was started, how far each is, what failed. */
  readonly batches: Batches;
  /** Runs of backfills: their dry runs, approvals, progress and rate. */
  readonly backfills: Backfills;
  /** Ordered records in partitions, and how far each consumer has read them. */
  readonly streams: Streams;
  /** Long-running services: revisions, deployments, instances. */
  readonly services: Services;
  /** Governed acts by people upon many things: replay, redrive, purge, and what an application registers. */
  readonly operations: Operations;
  /** Changes of columns and messages on a live system: how far each has come, and who may run beside whom. */
  readonly changes: Changes;
  /** One-off commands that code declares: their runs, forms and results. */
  readonly commands: Commands;
  readonly serveCommands: OperationService["serveCommands"];
  /** Users, sessions, keys, and the record of acts. */
  readonly access: Access;
  /** Figures over time, and what happened beside them. */
  readonly series: TimeSeries;
  /** What this process counted. */
  readonly tally: Tally;
  /** Which alarms there are, how they stand, what to do about them. */
  readonly alarms: Alarms;
  /** Brings the time series and the usage of tenants up to date now, as far as this process does it at all, instead of within ten seconds. */
  sample(): Promise<void>;
  readonly slots: SlotTable;
  readonly log: Log;
  /** The id under which this process holds messages; changes if it was taken for dead and began anew. */
  processId(): string;
  /** Called when everything that this process holds was lost to others. */
  onLost(handler: () => void): void;
  /** Tells, about once a second, how many milliseconds the database took for this process's heartbeat. */
  readonly onBeat: OnBeat;
  close(): Promise<void>;
}

interface Parts {
  readonly database: Database;
  readonly waker: Waker;
  readonly notifier: Notifier;
  readonly company: Company;
  readonly stillness: Stillness;
  readonly log: Log;
  readonly processId: () => string;
  readonly onBeat: OnBeat;
  readonly slots: SlotTable;
}

/** Looks for what a loss left behind, and removes what is over, in one process of all. */
const makeSweep = (
  { database, stillness: { isStill } }: Parts,
  onError: ChoreOptions["onError"],
  work: ChoreOptions["work"],
) => makeChore({ database, name: "sweep", isStill, work, onError });

const openStreamRoom = ({ database, waker, notifier, company, log, processId }: Parts): StreamRoom =>
  openStreams({
    database,
    waker,
    processId,
    log,
    announce: (word) => void (company.isThere() && notifier.notify("stream", word)),
  });

/** What all parts of the queue room have. */
const sharedOf = ({ database, waker, notifier, company }: Parts, trouble: () => void) => ({
  database,
  waker,
  announce: (queueIds: Iterable<number>) => {
    if (!company.isThere()) return;
    for (const queueId of queueIds) notifier.notify("ready", String(queueId));
  },
  announceChange: (queueId: number) => notifier.notify("queue", String(queueId)),
  trouble,
});

/** Removes what is over. */
const retentionOf = (context: QueueContext, database: Database) => [
  () => applyRetention(context),
  () => forgetPublished(database),
  () => forgetRates(database),
];

/** The rooms' clients, and what the clock, a death or a notification has them do. */
function makeRooms(parts: Parts) {
  const { database, waker, notifier, log, processId, onBeat, slots } = parts;
  const shared = sharedOf(parts, () => aftermath.trouble());
  const mailbox = makeMailbox({ ...shared, slots, processId });
  const complain = (cause: unknown) => log.warn({ cause }, "a sweep failed and will be tried again");
  const sweepStrays = makeStraySweep({ context: shared, slots, processId, log });
  const due = makeDueClock({ move: () => moveDue(shared, queues.moves), onError: complain });
  const context: QueueContext = { ...shared, due, mailbox, processId };
  const queues = makeQueues(context);
  const { workflows, worker, approvalRoom } = makeWorkflows({
    database,
    waker,
    queues,
    processId,
    onBeat,
    environment: process.env,
    ...announcedBy(notifier),
    log,
    onError: complain,
  });

  const jobs = openJobs({ database, waker, context, queues, workflows, onError: complain });
  const streamRoom = openStreamRoom(parts);

  async function takeOverAll(processIds: readonly string[]): Promise<void> {
    await endDuties(database, processIds);
    notifier.notify("duty", "");
    await streamRoom.takeOver(processIds);
    await freeOperations(database, processIds);
    waker.wake(operationKey);
    await worker.takeOver(processIds);
    await takeOver(context, processIds);
  }

  async function lookForOrphans(): Promise<void> {
    await worker.sweepOrphans();
    await sweepOrphans(context);
    await sweepStrays();
  }

  const aftermath = makeAftermath({ look: lookForOrphans, onError: complain });
  database.onConnectionLost(aftermath.trouble);

  const retain = retentionOf(context, database);
  const sweep = makeSweep(parts, complain, [lookForOrphans, ...retain, jobs.tidy, streamRoom.streams.sweep]);

  return {
    context,
    queues,
    workflows,
    worker,
    approvalRoom,
    jobs,
    streamRoom,
    agenda: [
      ...queueAgenda(context),
      ...workflowAgenda({ waker, worker, approvals: approvalRoom, onStray: aftermath.trouble }),
      ...outboxAgenda(waker),
      ...operationAgenda(waker),
      ...jobs.agenda,
      ...streamRoom.agenda,
      sweep.agendum,
    ],
    onDead(processIds: readonly string[]) {
      aftermath.trouble();
      void takeOverAll(processIds).catch(complain);
    },
    open: () => Promise.all([sweep.register(), worker.open()]),
    async close() {
      await aftermath.close();
      await sweep.close();
      await jobs.close();
      await streamRoom.close();
      await approvalRoom.due.close();
      await worker.close();
      await queues.sender.idle();
      await mailbox.idle();
      await due.close();
    },
  };
}

const clientsOf = ({ context, queues, workflows, jobs, streamRoom }: ReturnType<typeof makeRooms>) => ({
  context,
  queues,
  workflows,
  schedules: jobs.schedules,
  batches: jobs.batches,
  backfills: jobs.backfills,
  streams: streamRoom.streams,
  changes: makeChanges({
    database: context.database,
    queues,
    runsOf: (backfill) => jobs.backfills.runs({ backfill }),
  }),
});

/** Who takes announcements: queues, workflows and batches of this database; an application binds more. */
function bindRooms({
  database,
  workflows,
  approvalRoom,
  jobs,
}: ReturnType<typeof makeRooms> & Pick<Parts, "database">): Targets {
  const targets = makeTargets();
  targets.bind({ kind: "queue" }, jobs.targets.queue);
  targets.bind({ kind: "batch" }, jobs.targets.batch);
  targets.bind({ kind: "workflow" }, workflowTarget(database, workflowStarter(workflows)));
  targets.bind({ kind: "approval" }, approvalRoom.callback);
  targets.bind(
    { kind: "task" },
    answerTarget({ database, answering: workflows.activities, tokenOf: workflows.tokenOf }),
  );
  return targets;
}

interface Place extends Pick<Parts, "database" | "log" | "slots"> {
  readonly rooms: ReturnType<typeof makeRooms>;
  readonly agenda: readonly Agendum[];
  readonly name: string;
}

/** This process among the others: what it tells them, and what it does when one of them dies. */
function makePlace({ rooms, ...place }: Place): Presence {
  const { onDead, worker, context, streamRoom } = rooms;
  const onWithdrawn = context.mailbox.offers.forget;
  const presence = makePresence({ ...place, texts: rescueTexts, onDead, onWithdrawn });
  presence.onLost(worker.calls.abandon);
  presence.onLost(worker.own.abandon);
  presence.onLost(streamRoom.abandon);
  return presence;
}

type Servants = Omit<Parts, "slots" | "company" | "stillness" | "onBeat"> &
  Pick<Platform, "targets" | "queues" | "workflows" | "services">;

/** What goes on in the background of every process: the relay and operations. */
function startServants({ targets, processId: owner, notifier, ...parts }: Servants) {
  const relay = startRelay({ ...parts, targets, owner });
  const acts = startOperations({ ...parts, owner, announce: () => notifier.notify("operation", "") });
  return { acts, close: () => Promise.all([relay.close(), acts.close()]) };
}

/** What only the database knows to be declared. */
const declaredIn = (database: Database) => ({
  commands: { list: () => readCommands(database) },
  endpoints: { list: () => listEndpoints(database) },
});

const servicesOf = (
  { database, waker, notifier }: Pick<Parts, "database" | "waker" | "notifier">,
  alarms: Alarms,
): Services => makeServices({ database, waker, alarms, announce: () => notifier.notify("service", "") });

export const platformOptionNames: NamesOf<PlatformOptions> = {
  databaseUrl: true,
  dataDir: true,
  schema: true,
  handlerConnectionsMax: true,
  name: true,
  watches: true,
  log: true,
};

/**
 * Opens the database (embedded unless a URL is given), brings the schema up to date, and joins the other processes. Errors:
 * TUNTAS_OPTION_UNKNOWN, those of the database.
 */
export async function openPlatform(options: PlatformOptions = {}): Promise<Platform> {
  refuseUnknown("openPlatform", options, platformOptionNames);
  const log = options.log ?? makeLog();
  const closing = makeClosing();
  let opened = false;
  closing.add(() => opened && log.info({ event: "service.closed" }, "every connection is closed"));
  try {
    const platform = await build(options, log, closing);
    opened = true;
    return platform;
  } catch (cause) {
    await closing.close().catch(() => undefined);
    throw cause;
  }
}

async function build(options: PlatformOptions, log: Log, closing: Closing): Promise<Platform> {
  const database = await openDatabaseOf(options, log, closing);
  const [waker, slots, company, notifier] = [makeWaker(), makeSlots(), makeCompany(), makeNotifier(database)];
  const self = selfOf(() => presence);
  const stillness = makeStillness();
  const rooms = makeRooms({ database, waker, notifier, company, stillness, log, ...self, slots });
  const { context, queues, workflows, jobs, streamRoom } = rooms;
  const ledger = startLedger({ database, waker, log, announce: addAll });
  const agenda = [company.agendum, stillness.agendum, ...rooms.agenda, ...ledger.agenda];
  const presence = makePlace({ database, slots, log, rooms, agenda, name: options.name ?? "tuntas" });
  for (const part of [notifier, presence, rooms, ledger, watchMemory({ log })]) closing.add(part.close);
  await Promise.all([presence.begin(), rooms.open()]);
  const targets = bindRooms({ database, ...rooms });
  const watch = startWatch({
    database,
    log,
    ...self,
    targets,
    watches: options.watches ?? true,
    stillness,
    onLeft: () => notifier.notify("duty", ""),
    ownerOf: makeOwnerOf({ queues, ...jobs, streams: streamRoom.streams, ...declaredIn(database) }),
  });
  const hearing = hear(database, { waker, notifier, company, queues, watch, mailbox: context.mailbox });
  const services = servicesOf({ database, waker, notifier }, watch.alarms);
  const parts = { database, targets, waker, log, ...self, queues, workflows, services, notifier };
  const servants = startServants(parts);
  for (const part of [watch, hearing, servants]) closing.add(part.close);

  return {
    ...clientsOf(rooms),
    database,
    waker,
    targets,
    ledger,
    services,
    operations: servants.acts.operations,
    commands: servants.acts.commands,
    serveCommands: servants.acts.serveCommands,
    access: makeAccess({ database, installationSecret: process.env.TUNTAS_ACCESS_SECRET }),
    series: watch.series,
    tally: watch.tally,
    alarms: watch.alarms,
    sample: watch.sample,
    slots,
    log,
    ...self,
    onLost: presence.onLost,
    close: closing.close,
  };
}
