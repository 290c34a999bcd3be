// The asking side: declare, append, look, rewind, replay, swap, and what any one process does for all now and then. Each act
// of a person goes on the record.
import type { Agendum } from "../../engine/agenda.ts";
import { writeAudit } from "../../engine/audit.ts";
import type { Log } from "../../engine/log.ts";
import { again } from "../../pg/faults.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { streamAgenda } from "../agenda.ts";
import {
  streamErrors,
  type Act,
  type ConsumerDefinition,
  type Hot,
  type Parked,
  type RewindTo,
  type StoredRecord,
  type StreamDefinition,
  type StreamReport,
} from "../contract.ts";
import { consumerSettingsOf, streamSettingsOf } from "../declaration.ts";
import { hotPartitions } from "../state.ts";
import { moveCheckpoint, resumePartitions } from "../store/checkpoints.ts";
import { discardParked, listParked, replayParked, type ParkedFilter } from "../store/parked.ts";
import { peekRecords, type Range } from "../store/records.ts";
import { readHeat, readStreams } from "../store/standing.ts";
import * as store from "../store/streams.ts";
import { forgetSuccession, noteSuccession, undeclareReplaced } from "../store/succession.ts";
import { endOld, findApart, type Apart } from "../store/swap.ts";
import { takeCheckpoints } from "../store/taking.ts";
import { consumerKey, tell, type Telling } from "../wake.ts";
import { makeUpkeep } from "../upkeep.ts";
import { startConsumers, type Consumers } from "../worker/index.ts";
import { makeIsolation } from "../worker/isolation.ts";
import { makeAppender, type Appender } from "./append.ts";
import { readReports } from "./reports.ts";
import { placesOf } from "./rewind.ts";

/** A consumer by name. */
export interface ConsumerName {
  readonly stream: string;
  readonly consumer: string;
}

/** Which of the parked records of a consumer: those of the ids, or all. */
export type ParkedChoice = ConsumerName & { readonly ids?: readonly string[] | undefined };

export interface Streams {
  /** Keeps what an application declares; more partitions are added. Errors: TUNTAS_STREAM_PARTITIONS. */
  declare(streams: readonly StreamDefinition[], consumers: readonly ConsumerDefinition[]): Promise<void>;
  readonly append: Appender["append"];
  list(): Promise<StreamReport[]>;
  /** Errors: TUNTAS_STREAM_MISSING. */
  find(name: string): Promise<StreamReport>;
  /** Has a consumer read on from elsewhere; what runs commits nothing. Errors: TUNTAS_STREAM_MISSING, TUNTAS_STREAM_OFFSET. */
  rewind(of: ConsumerName, to: RewindTo, act: Act): Promise<void>;
  /** Has stopped partitions tried again; answers which. Errors: TUNTAS_STREAM_MISSING. */
  resume(of: ConsumerName, act: Act): Promise<number[]>;
  /** The latest first. Errors: TUNTAS_STREAM_MISSING. */
  parked(stream: string, filter?: ParkedFilter): Promise<Parked[]>;
  /** Records from an offset of a partition on, as they are kept. Errors: TUNTAS_STREAM_MISSING. */
  records(stream: string, from: Omit<Range, "streamId">): Promise<StoredRecord[]>;
  /** Which partitions get far more than their share at the moment. Errors: TUNTAS_STREAM_MISSING. */
  hot(stream: string): Promise<Hot[]>;
  /** Has parked records handled again; answers the ids. Errors: TUNTAS_STREAM_MISSING. */
  replay(of: ParkedChoice, act: Act): Promise<string[]>;
  /** Removes parked records for good; answers the ids. Errors: TUNTAS_STREAM_MISSING. */
  discard(of: ParkedChoice, act: Act): Promise<string[]>;
  /**
   * Forgets a consumer that no code declares any more, with its checkpoints and what it has parked; of one whose place another has
   * taken, its name, which may be declared again. Errors: TUNTAS_STREAM_MISSING.
   */
  forget(of: ConsumerName, act: Act): Promise<void>;
  /**
   * Puts a consumer in the place of another that it has caught up with: what the work writes, and the end of the other, are
   * one commit, in which neither moves. One that began later takes its place once the other has read up to there, with what that
   * one has parked before. The other's name is not declared again until it is forgotten: a deployment from before may begin again.
   * Where the database ends it for another's sake, the work is done again. Errors: TUNTAS_STREAM_MISSING, TUNTAS_STREAM_BEHIND.
   */
  swap(
    of: { readonly stream: string; readonly from: string; readonly to: string },
    act: Act,
    work: (tx: Tx) => Promise<unknown>,
  ): Promise<void>;
  /** Serves consumers in this process, until what it answers is stopped. Errors: TUNTAS_STREAM_MISSING. */
  serve(definitions: readonly ConsumerDefinition[]): Promise<Consumers>;
  /** Drops what is beyond its retention, and frees what nobody works on, instead of within a minute. */
  sweep(): Promise<void>;
}

export interface StreamRoom {
  readonly streams: Streams;
  readonly agenda: readonly Agendum[];
  /** Frees what the dead held. */
  takeOver(processIds: readonly string[]): Promise<void>;
  /** Everything that this process holds was lost. */
  abandon(): void;
  close(): Promise<void>;
}

export interface StreamRoomOptions extends Telling {
  readonly database: Database;
  readonly processId: () => string;
  readonly log: Log;
}

const missing = ({ stream, consumer }: { readonly stream: string; readonly consumer?: string | undefined }) =>
  streamErrors.error(
    "TUNTAS_STREAM_MISSING",
    consumer === undefined
      ? `there is no stream ${JSON.stringify(stream)}`
      : `stream ${JSON.stringify(stream)} has no consumer ${JSON.stringify(consumer)}`,
    consumer === undefined ? { details: { name: stream } } : {},
  );

const audit = (tx: Tx, verb: string, of: ConsumerName, act: Act, details: object = {}) =>
  writeAudit(tx, {
    actor: act.by,
    action: `stream.${verb}`,
    subject: `stream ${of.stream} consumer ${of.consumer}`,
    reason: act.reason,
    details: { ...details },
  });

function apart(of: { readonly stream: string; readonly from: string; readonly to: string }, at: Apart) {
  const { stream, from, to } = of;
  const { partition, oldAt, newAt, began } = at;
  const why =
    newAt < oldAt
      ? `consumer ${to} has read up to ${newAt} of partition ${partition}, ${from} up to ${oldAt}`
      : `consumer ${from} has read up to ${oldAt} of partition ${partition}, and ${to} has begun at ${began}: nobody has read what is between`;
  return streamErrors.error("TUNTAS_STREAM_BEHIND", `stream ${stream}: ${why}`);
}

export function openStreams({ database, processId, log, ...telling }: StreamRoomOptions): StreamRoom {
  const serving = new Set<Consumers>();
  // Of the process, which may serve several applications: what one of them is killed by must not be another's.
  const isolation = makeIsolation();
  const known = new Map<string, Promise<store.StreamRow>>();

  async function look(name: string): Promise<store.StreamRow> {
    const [found] = await store.findStreams(database, name);
    if (found) return found;
    throw missing({ stream: name });
  }

  /** One look for all who want it at once, so that what they append keeps its order. */
  function row(name: string): Promise<store.StreamRow> {
    const found = known.get(name) ?? look(name);
    known.set(name, found);
    found.catch(() => known.delete(name));
    return found;
  }

  const appender = makeAppender({
    database,
    find: row,
    forget: (name) => void known.delete(name),
    ...telling,
  });
  const upkeep = makeUpkeep({ database, log, ...telling });

  /** A deployment that is taken back declares the number before, and works by the one that there is. Errors: TUNTAS_STREAM_PARTITIONS. */
  async function checkFewer(tx: Tx, { id, name, partitions }: store.StreamRow, declared: number) {
    const said = `stream ${name} has ${partitions} partitions, and is declared with ${declared}`;
    if (!(await store.hadPartitions(tx, id, declared)))
      throw streamErrors.error("TUNTAS_STREAM_PARTITIONS", said);
    log.warn(
      { stream: name, partitions, declared },
      `${said}, as before it got more; it keeps those that it has`,
    );
  }

  async function declareStream(definition: StreamDefinition): Promise<void> {
    const settings = streamSettingsOf(definition);
    const declared = await database.transaction(async (tx) => {
      const found = await store.declareStream(tx, settings);
      if (found.partitions > settings.partitions) await checkFewer(tx, found, settings.partitions);
      if (found.segment > 0) return found;
      await store.addPartitions(tx, found);
      await store.roll(tx, found.id);
      return { ...found, partitions: settings.partitions };
    });
    if (declared.partitions >= settings.partitions) return;
    // It gives up where a transaction that has appended stays open.
    await again(() => store.widen(database, declared.id, settings.partitions));
    known.delete(settings.name);
    for (const { id } of await store.findConsumers(database, declared.id)) tell(telling, consumerKey(id));
  }

  const declareConsumer = (definition: ConsumerDefinition): Promise<void> =>
    database.transaction(async (tx) => {
      const { stream, options } = definition;
      const [found] = await store.findStreams(tx, stream.name);
      if (!found) throw missing({ stream: stream.name });
      const id = await store.declareConsumer(tx, found.id, consumerSettingsOf(definition));
      // Another has taken its place: who serves it says so.
      if (id === undefined || (await undeclareReplaced(tx, id))) return;
      await store.sequence(tx, found.id);
      await store.beginCheckpoints(tx, id, { streamId: found.id, fromStart: options.from === "start" });
    });

  /** Does it with the consumer held, again where it collided with others, then tells whoever shares its partitions. */
  async function acting<T>(
    of: ConsumerName,
    work: (tx: Tx, consumer: store.ConsumerRow) => Promise<T>,
  ): Promise<T> {
    let id = 0;
    const once = async (tx: Tx): Promise<T> => {
      const consumer = await store.lockConsumer(tx, of.stream, of.consumer);
      if (!consumer) throw missing(of);
      ({ id } = consumer);
      return work(tx, consumer);
    };
    const answer = await again(() => database.transaction(once));
    tell(telling, consumerKey(id));
    return answer;
  }

  /** Frees a name that is nobody's since another has taken its place; answers whether it was. */
  const freeName = (of: ConsumerName, act: Act): Promise<boolean> =>
    database.transaction(async (tx) => {
      const isFreed = await forgetSuccession(tx, of.stream, of.consumer);
      if (isFreed) await audit(tx, "forget", of, act);
      return isFreed;
    });

  async function find(name: string): Promise<StreamReport> {
    const [report] = await readReports(database, name);
    if (!report) throw missing({ stream: name });
    return report;
  }

  const streams: Streams = {
    append: appender.append,
    async declare(definitions, consumers) {
      for (const each of definitions) await declareStream(each);
      for (const each of consumers) await declareConsumer(each);
    },
    list: () => readReports(database, null),
    find,
    rewind: (of, to, act) =>
      acting(of, async (tx, { id, streamId }) => {
        await store.sequence(tx, streamId);
        const [standing] = await readStreams(tx, of.stream);
        const places = await placesOf(tx, streamId, standing!, to);
        await takeCheckpoints(tx, id);
        for (const place of places) await moveCheckpoint(tx, id, place);
        await audit(tx, "rewind", of, act, { to: places });
      }),
    resume: (of, act) =>
      acting(of, async (tx, { id }) => {
        await takeCheckpoints(tx, id);
        const partitions = await resumePartitions(tx, id);
        if (partitions.length > 0) await audit(tx, "resume", of, act, { partitions });
        return partitions;
      }),
    async parked(stream, filter = {}) {
      await row(stream);
      return listParked(database, stream, filter);
    },
    records: async (stream, from) => peekRecords(database, { ...from, streamId: (await row(stream)).id }),
    async hot(stream) {
      await row(stream);
      return hotPartitions(await readHeat(database, stream));
    },
    replay: ({ ids, ...of }, act) =>
      acting(of, async (tx, { id }) => {
        const replayed = await replayParked(tx, id, ids ?? null);
        if (replayed.length > 0) await audit(tx, "replay", of, act, { ids: replayed });
        return replayed;
      }),
    discard: ({ ids, ...of }, act) =>
      acting(of, async (tx, { id }) => {
        const gone = await discardParked(tx, id, ids ?? null);
        if (gone.length > 0) await audit(tx, "discard", of, act, { ids: gone });
        return gone;
      }),
    async forget(of, act) {
      if (await freeName(of, act)) return;
      await acting(of, async (tx, { id }) => {
        await takeCheckpoints(tx, id);
        await store.removeConsumer(tx, id);
        await audit(tx, "forget", of, act);
      });
    },
    swap: (of, act, work) =>
      acting({ stream: of.stream, consumer: of.from }, async (tx, old) => {
        const { stream, from, to } = of;
        if (from === to) throw missing({ stream, consumer: `other than ${to}` });
        const successor = await store.lockConsumer(tx, stream, to);
        if (!successor) throw missing({ stream, consumer: to });
        await takeCheckpoints(tx, old.id, successor.id);
        const [first] = await findApart(tx, old.id, successor.id);
        if (first) throw apart(of, first);
        await work(tx);
        const parked = await endOld(tx, old.id, successor.id);
        await noteSuccession(tx, old.streamId, of);
        await audit(tx, "swap", { stream, consumer: from }, act, { to, parked });
      }),
    async serve(definitions) {
      const consumers = await startConsumers(
        { database, processId, log, isolation, ...telling },
        definitions,
      );
      serving.add(consumers);
      return {
        ...consumers,
        stop: (...how) => consumers.stop(...how).finally(() => serving.delete(consumers)),
      };
    },
    sweep: upkeep.sweep,
  };

  return {
    streams,
    agenda: streamAgenda({
      waker: telling.waker,
      processId,
      onBeat: (memberOf) => serving.forEach((each) => each.beat(memberOf)),
    }),
    takeOver: upkeep.takeOver,
    abandon: () => serving.forEach((each) => each.abandon()),
    close: appender.idle,
  };
}
