// The queues themselves: found (from a short-lived cache), created, changed, deleted.
import type { Tx } from "../../pg/contract.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";
import type { QueueCounts, QueueRecord, QueueSettings, Scope } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import { queueSignals } from "../signals.ts";
import { writeAudit, type AuditEntry } from "../store/audit.ts";
import { purgeMessages } from "../store/queues/purge.ts";
import * as store from "../store/queues/index.ts";

export interface Page {
  readonly prefix: string;
  readonly after: string;
  readonly limit: number;
}

export interface Catalog {
  /** The queue, or undefined. The answer may be up to 5 seconds old where another process changed it and no notification came. */
  find(scope: Scope, name: string): Promise<QueueRecord | undefined>;
  /** What `find` would answer at once, without asking the database. */
  known(scope: Scope, name: string): QueueRecord | undefined;
  /** The queue. Errors: TUNTAS_QUEUE_MISSING. */
  get(scope: Scope, name: string): Promise<QueueRecord>;
  byId(ids: readonly number[]): Promise<QueueRecord[]>;
  list(scope: Scope, page: Page): Promise<QueueRecord[]>;
  sources(queue: QueueRecord, page: Omit<Page, "prefix">): Promise<QueueRecord[]>;
  /** Creates the queue unless it exists; the caller compares the settings of one that existed. */
  create(
    scope: Scope,
    name: string,
    settings: QueueSettings,
  ): Promise<{ status: "created" | "exists"; queue: QueueRecord }>;
  /** Errors: TUNTAS_QUEUE_MISSING. */
  update(queue: QueueRecord, settings: QueueSettings): Promise<QueueRecord>;
  /** Changes what `decide` says, which sees the record as it is while nobody else changes it; it may throw to change nothing. */
  amend(queue: QueueRecord, decide: (current: QueueRecord) => QueueSettings): Promise<QueueRecord>;
  /** Workers and receives get nothing of the queue until it is resumed. Both acts go on the record. */
  pause(queue: QueueRecord, actor: string, reason: string): Promise<void>;
  resume(queue: QueueRecord, actor: string, reason: string): Promise<void>;
  /** Deletes the queue with its messages; false where it was gone already. */
  delete(queue: QueueRecord, actor?: string, reason?: string): Promise<boolean>;
  /** Empties the queue; false where it was purged within the last 60 seconds. */
  purge(queue: QueueRecord, actor?: string, reason?: string): Promise<boolean>;
  /** A person's change of settings: it goes on the record, with what was before. */
  configure(queue: QueueRecord, settings: QueueSettings, act: Act): Promise<QueueRecord>;
  count(queue: QueueRecord): Promise<QueueCounts>;
  /** How many messages of the queue are in flight, counting to `limit` at most. */
  countInFlight(queue: QueueRecord, limit: number): Promise<number>;
  tags(queue: QueueRecord): Promise<Record<string, string>>;
  tag(queue: QueueRecord, tags: Readonly<Record<string, string>>): Promise<void>;
  untag(queue: QueueRecord, keys: readonly string[]): Promise<void>;
  /** Forgets what the cache knows of the queue, or of all. */
  forget(queueId?: number): void;
}

/** Who does it and why; both go on the record. */
export interface Act {
  readonly actor: string;
  readonly reason: string;
}

const cacheMs = 5000;

const keyOf = ({ account, region }: Scope, name: string): string => `${account}/${region}/${name}`;

function makeCache() {
  const known = new Map<string, { queue: QueueRecord; until: number }>();
  let age = 0;
  return {
    /** Rises whenever something is forgotten: what was asked for before may be old. */
    age: () => age,
    get(key: string): QueueRecord | undefined {
      const entry = known.get(key);
      return entry && entry.until > performance.now() ? entry.queue : undefined;
    },
    put(queue: QueueRecord): QueueRecord {
      known.set(keyOf(queue, queue.name), { queue, until: performance.now() + cacheMs });
      return queue;
    },
    forget(queueId?: number): void {
      age++;
      if (queueId === undefined) known.clear();
      for (const [key, { queue }] of known) if (queue.id === queueId) known.delete(key);
    },
  };
}

/** Who acts where nobody says it: a client of the gateway, whose signature may not even be checked. */
export const overTheWire = "wire";

const audit = (
  tx: Tx,
  queue: QueueRecord,
  act: Pick<AuditEntry, "actor" | "action"> & Partial<AuditEntry>,
): Promise<string> => writeAudit(tx, { subject: `queue ${queue.name}`, reason: null, details: {}, ...act });

/** What a change of settings was, for the record. */
const change = (current: QueueRecord, settings: QueueSettings) => ({
  before: Object.fromEntries(
    Object.keys(settings).map((key) => [key, current[key as keyof QueueSettings] ?? null]),
  ),
  after: settings,
});

const totalOf = ({ ready, inFlight, delayed }: QueueCounts): number => ready + inFlight + delayed;

export function makeCatalog(context: QueueContext): Catalog {
  const { database, announceChange, due } = context;
  const cache = makeCache();

  async function find(scope: Scope, name: string): Promise<QueueRecord | undefined> {
    const cached = cache.get(keyOf(scope, name));
    if (cached) return cached;
    const age = cache.age();
    const queue = await store.findQueue(database, scope, name);
    return queue && age === cache.age() ? cache.put(queue) : queue;
  }

  function missing(name: string) {
    return queueErrors.error("TUNTAS_QUEUE_MISSING", `queue ${name} does not exist`, {
      details: { queue: name },
    });
  }

  function changed(queueId: number): void {
    cache.forget(queueId);
    announceChange(queueId);
  }

  async function amend(
    queue: QueueRecord,
    decide: (current: QueueRecord) => QueueSettings,
    act?: Act,
  ): Promise<QueueRecord> {
    const updated = await database.transaction(async (tx) => {
      const current = await store.lockQueue(tx, queue.id);
      if (!current) return undefined;
      const settings = decide(current);
      if (act)
        await audit(tx, queue, { ...act, action: "queue.configure", details: change(current, settings) });
      if (current.fifo && settings.delaySeconds !== undefined)
        await store.redelayFifo(tx, queue.id, settings.delaySeconds);
      return store.updateQueue(tx, queue.id, settings);
    });
    changed(queue.id);
    if (!updated) throw missing(queue.name);
    if (queue.fifo) due.note(0); // its delayed messages may be due earlier now
    return cache.put(updated);
  }

  async function setPaused(queue: QueueRecord, paused: boolean, { actor, reason }: Act): Promise<void> {
    await database.transaction(async (tx) => {
      await store.pauseQueue(tx, queue.id, paused ? actor : null);
      await audit(tx, queue, { actor, action: paused ? "queue.pause" : "queue.resume", reason });
    });
    changed(queue.id);
    wakeQueues(context, [queue.id]);
  }

  return {
    find,
    known: (scope, name) => cache.get(keyOf(scope, name)),
    forget: cache.forget,
    byId: (ids) => store.findQueuesById(database, ids),
    list: (scope, page) => store.listQueues(database, scope, page),
    sources: (queue, page) => store.listSources(database, queue, queue.name, page),
    count: (queue) => store.countMessages(database, queue.id),
    countInFlight: (queue, limit) => store.countInFlight(database, queue.id, limit),
    tags: (queue) => store.readTags(database, queue.id),
    async get(scope, name) {
      const queue = await find(scope, name);
      if (!queue) throw missing(name);
      return queue;
    },
    async create(scope, name, settings) {
      const made = await store.insertQueue(database, scope, name, settings);
      if (made) return { status: "created", queue: cache.put(made) };
      const existing = await store.findQueue(database, scope, name);
      if (!existing) throw missing(name); // deleted between the two statements; the caller's retry creates it
      return { status: "exists", queue: cache.put(existing) };
    },
    update: (queue, settings) => amend(queue, () => settings),
    configure: (queue, settings, act) => amend(queue, () => settings, act),
    amend: (queue, decide) => amend(queue, decide),
    pause: (queue, actor, reason) => setPaused(queue, true, { actor, reason }),
    resume: (queue, actor, reason) => setPaused(queue, false, { actor, reason }),
    async delete(queue, actor = overTheWire, reason = "") {
      const count = totalOf(await store.countMessages(database, queue.id));
      await purgeMessages(database, queue);
      const deleted = await database.transaction(async (tx) => {
        const gone = await store.deleteQueue(tx, queue.id);
        if (gone) await audit(tx, queue, { actor, action: "queue.delete", reason, details: { count } });
        return gone;
      });
      await purgeMessages(database, queue); // what came since
      changed(queue.id);
      wakeQueues(context, [queue.id]); // who waits there waits for nothing
      return deleted;
    },
    async purge(queue, actor = overTheWire, reason = "") {
      const count = await database.transaction(async (tx) => {
        if (!(await store.markQueuePurged(tx, queue.id))) return undefined;
        const found = totalOf(await store.countMessages(tx, queue.id));
        await audit(tx, queue, { actor, action: "queue.purge", reason, details: { count: found } });
        return found;
      });
      if (count === undefined) return false;
      await purgeMessages(database, queue);
      changed(queue.id);
      queueSignals.publish("queue.purged", { queueId: queue.id, count });
      return true;
    },
    async tag(queue, tags) {
      await store.writeTags(database, queue.id, tags);
    },
    async untag(queue, keys) {
      await store.removeTags(database, queue.id, keys);
    },
  };
}
