// Appending. What a process appends to a stream while a commit is on its way goes into the next one together; each promise
// resolves after the commit that holds its record. One commit at a time, so that what one caller appends keeps its order.
import { coalescer, type Coalescer } from "../../core/coalesce.ts";
import { describeIssues } from "../../core/schema.ts";
import { isStorable } from "../../core/text.ts";
import { keepsBack } from "../../engine/handler/replay.ts";
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

export function makeAppender({ database, find, ...telling }: AppenderOptions): Appender {
  const shared = new Map<number, Coalescer<NewRecord, number>>();

  function told({ id, name }: StreamRow, records: readonly NewRecord[]): void {
    for (const partition of new Set(records.map((each) => each.partition)))
      tell(telling, partitionKey(id, partition));
    streamSignals.publish("stream.appended", { stream: name, count: records.length });
  }

  function coalescerOf(stream: StreamRow): Coalescer<NewRecord, number> {
    const known = shared.get(stream.id);
    if (known) return known;
    const made = coalescer<NewRecord, number>({
      itemsMax: 1000,
      costMax: unitsMax,
      cost: ({ body }) => recordUnits + body.length,
      flushesMax: 1,
      linger: { turn: setImmediate, turnsMax: 12, emptyMax: 2, enough: 48 * recordUnits },
      async flush(records) {
        const offsets = await appendRecords(database, stream.id, records);
        if (offsets.length === 0) return records.map(() => gone(stream.name));
        told(stream, records);
        return offsets;
      },
    });
    shared.set(stream.id, made);
    return made;
  }

  return {
    async append(definition, given, options) {
      const { name } = definition;
      const key = checkKey(name, options);
      const body = await bodyOf(definition, given);
      const stream = await find(name);
      const partition = partitionOf(key, stream.partitions);
      const record = { partition, key, body };
      if (keepsBack()) return { status: "suppressed", partition, offset: undefined };
      if (!options.tx) return { status: "created", partition, offset: await coalescerOf(stream).add(record) };
      if (!(await arriveIn(database, options.tx, stream.id, record))) throw gone(name);
      streamSignals.publish("stream.appended", { stream: name, count: 1 });
      return { status: "created", partition, offset: undefined };
    },
    idle: async () => void (await Promise.all([...shared.values()].map((each) => each.idle()))),
  };
}
