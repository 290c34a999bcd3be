// Appending. What a process appends to a stream while a commit is on its way goes into the next one together; each promise
// resolves after the commit that holds its record. One commit at a time, so that what one caller appends keeps its order.
import { coalescer, type Coalescer } from "../../core/coalesce.ts";
import { describeIssues } from "../../core/schema.ts";
import { isStorable } from "../../core/text.ts";
import { keepsBack } from "../../engine/handler/replay.ts";
import type { Queryable } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { streamErrors, type Appended, type AppendOptions, type StreamDefinition } from "../contract.ts";
import { streamSignals } from "../signals.ts";
import { partitionOf } from "../state.ts";
import { appendRecords, arriveIn, type NewRecord } from "../store/records.ts";
import type { StreamRow } from "../store/streams.ts";
import { partitionKey, tell, type Telling } from "../wake.ts";

export interface Appender {
  append(definition: StreamDefinition, record: unknown, options: AppendOptions): Promise<Appended>;
  idle(): Promise<void>;
}

export interface AppenderOptions extends Telling {
  readonly database: Database;
  readonly find: (name: string) => Promise<StreamRow>;
  /** Another number of partitions was found: `find` is to look again. */
  readonly forget: (name: string) => void;
}

// A larger statement only makes others wait.
const [unitsMax, recordUnits] = [4 * 1024 * 1024, 4 * 1024];

const invalid = (name: string, why: string) =>
  streamErrors.error("TUNTAS_RECORD_INVALID", `record of ${name}: ${why}`);

/** The text of what was given: transforms and defaults of the schema apply when it is read. */
async function bodyOf({ name, options }: StreamDefinition, record: unknown): Promise<string> {
  const checked = options.record["~standard"].validate(record);
  const { issues } = checked instanceof Promise ? await checked : checked;
  if (issues) throw invalid(name, describeIssues(issues));
  const body = JSON.stringify(record) as string | undefined;
  if (body === undefined) throw invalid(name, `expected something that JSON can hold, got ${typeof record}`);
  return body;
}

function checkKey(name: string, options: AppendOptions | undefined): string {
  const key: unknown = options?.key;
  if (typeof key === "string" && key !== "" && isStorable(key)) return key;
  throw invalid(name, `expected a key, text without NUL or lone surrogates, got ${JSON.stringify(key)}`);
}

const gone = (name: string) =>
  streamErrors.error("TUNTAS_STREAM_MISSING", `stream ${JSON.stringify(name)} was removed`);

interface Waiting {
  readonly key: string;
  readonly body: string;
}

interface Placed {
  readonly partition: number;
  readonly offset: number;
}

export function makeAppender({ database, find, forget, ...telling }: AppenderOptions): Appender {
  const shared = new Map<number, Coalescer<Waiting, Placed>>();

  function told({ id, name }: StreamRow, records: readonly NewRecord[]): void {
    for (const partition of new Set(records.map((each) => each.partition)))
      tell(telling, partitionKey(id, partition));
    streamSignals.publish("stream.appended", { stream: name, count: records.length });
  }

  /** Looks again where the stream has got more partitions. */
  async function appendAll(name: string, waiting: readonly Waiting[]): Promise<Placed[] | undefined> {
    const stream = await find(name);
    const records = waiting.map((each) => ({ ...each, partition: partitionOf(each.key, stream.partitions) }));
    const offsets = await appendRecords(database, stream, records);
    if (offsets === "gone") return undefined;
    if (offsets === "changed") {
      forget(name);
      return appendAll(name, waiting);
    }
    told(stream, records);
    return records.map(({ partition }, at) => ({ partition, offset: offsets[at]! }));
  }

  function coalescerOf({ id, name }: StreamRow): Coalescer<Waiting, Placed> {
    const known = shared.get(id);
    if (known) return known;
    const made = coalescer<Waiting, Placed>({
      itemsMax: 1000,
      costMax: unitsMax,
      cost: ({ body }) => recordUnits + body.length,
      flushesMax: 1,
      linger: { turn: setImmediate, turnsMax: 12, emptyMax: 2, enough: 48 * recordUnits },
      flush: async (waiting) => (await appendAll(name, waiting)) ?? waiting.map(() => gone(name)),
    });
    shared.set(id, made);
    return made;
  }

  /** In the caller's transaction; answers the partition. Looks again once. */
  async function arrive(tx: Queryable, name: string, waiting: Waiting): Promise<number> {
    for (const isAgain of [false, true]) {
      if (isAgain) forget(name);
      const stream = await find(name);
      const partition = partitionOf(waiting.key, stream.partitions);
      if (await arriveIn(database, tx, { ...stream, record: { ...waiting, partition } })) return partition;
    }
    throw gone(name);
  }

  return {
    async append(definition, given, options) {
      const { name } = definition;
      const key = checkKey(name, options);
      const waiting = { key, body: await bodyOf(definition, given) };
      const stream = await find(name);
      if (keepsBack())
        return { status: "suppressed", partition: partitionOf(key, stream.partitions), offset: undefined };
      if (!options.tx) return { status: "created", ...(await coalescerOf(stream).add(waiting)) };
      const partition = await arrive(options.tx, name, waiting);
      streamSignals.publish("stream.appended", { stream: name, count: 1 });
      return { status: "created", partition, offset: undefined };
    },
    idle: async () => void (await Promise.all([...shared.values()].map((each) => each.idle()))),
  };
}
