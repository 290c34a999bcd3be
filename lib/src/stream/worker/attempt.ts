// One attempt at a batch: call the handler for each record, then commit what they wrote with the checkpoint. It answers what
// it came to, and decides nothing.
import { type Outcome, outcomeOfReturned, outcomeOfThrown, poison } from "../../core/outcome.ts";
import { describeIssues } from "../../core/schema.ts";
import { FenceLost, type Prepared } from "../../engine/handler/transaction.ts";
import { commitWrites } from "../../engine/handler/writes.ts";
import type { Database } from "../../pg/database.ts";
import { isConnectionLost, isExhausted } from "../../pg/faults.ts";
import { streamErrors, type ConsumerDefinition, type StoredRecord, type StreamRecord } from "../contract.ts";
import { Batch, RecordContext, type BatchDeps } from "./context.ts";

export type Came =
  /** The first `count` records are handled. */
  | { readonly kind: "committed"; readonly count: number }
  /** The fence is lost; nothing was written. */
  | { readonly kind: "lost" }
  /** The database failed, perhaps after the commit: the checkpoint knows. */
  | { readonly kind: "unsure"; readonly cause: unknown }
  /** Nothing was written; `at` is the place of the record that failed, where that is known. */
  | { readonly kind: "failed"; readonly at: number | undefined; readonly outcome: Outcome };

export interface AttemptDeps extends BatchDeps {
  readonly definition: ConsumerDefinition;
  readonly partition: number;
}

export interface BatchToTry {
  readonly records: readonly StoredRecord[];
  readonly attempt: number;
  /** The consumer has been past the records before this offset. */
  readonly reached: number;
  /** What ends the first `count` records, each raising where the fence is lost. */
  readonly closing: (count: number) => readonly Prepared[];
  /** The same in one statement that answers no row there, for a batch that wrote nothing. */
  readonly plain?: (count: number) => Prepared;
}

class Failed extends Error {
  readonly at: number | undefined;
  readonly outcome: Outcome;

  constructor(at: number | undefined, outcome: Outcome) {
    super(outcome.message);
    this.at = at;
    this.outcome = outcome;
  }
}

const isDone = ({ kind }: Outcome): boolean => kind === "done" || kind === "duplicate";

/** A handler that returns no outcome has done its work. */
async function settled(call: () => unknown): Promise<Outcome> {
  try {
    return outcomeOfReturned(await call());
  } catch (cause) {
    return outcomeOfThrown(cause);
  }
}

export class Attempt {
  readonly #deps: AttemptDeps;
  readonly #of: BatchToTry;
  readonly #batch: Batch;
  readonly #begunAt = performance.now();
  #interrupt: ((cause: unknown) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The place of the record under way; undefined where it is all of them. */
  #at: number | undefined;
  #lost = false;
  /** Whether it is over, though a handler may still run. */
  #over = false;

  constructor(deps: AttemptDeps, of: BatchToTry) {
    this.#deps = deps;
    this.#of = of;
    this.#batch = new Batch(deps);
  }

  /** Never rejects. */
  async run(): Promise<Came> {
    try {
      const count = await this.#guarded(() => this.#handle());
      this.#batch.end();
      return await this.#commit(count);
    } catch (cause) {
      await this.#batch.undo();
      return this.#meaningOf(cause);
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** Aborts the handler; what it wrote is undone. */
  abandon(reason: unknown): void {
    this.#lost = true;
    this.#stop(reason);
  }

  /** Tells the handler by its signal, and goes on without it. */
  #stop(reason: unknown, cause = reason): void {
    this.#over = true;
    this.#batch.abort(reason);
    this.#interrupt?.(cause);
  }

  #meaningOf(cause: unknown): Came {
    if (this.#lost || cause instanceof FenceLost) return { kind: "lost" };
    if (cause instanceof Failed) return { kind: "failed", at: cause.at, outcome: cause.outcome };
    if (isConnectionLost(cause) || isExhausted(cause)) return { kind: "unsure", cause };
    // One of the statements that were handed over, or a constraint that is looked at in the end.
    const at = this.#of.records.length === 1 ? 0 : undefined;
    return { kind: "failed", at, outcome: outcomeOfThrown(cause) };
  }

  /** Ends at the timeout of the record under way and at an abort, also where the handler does not look at its signal. */
  #guarded<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      work().then(resolve, reject);
    });
  }

  /** Gives the record its time. */
  #time(at: number | undefined): void {
    this.#at = at;
    if (this.#timer) {
      this.#timer.refresh();
      return;
    }
    const { timeoutMs, definition } = this.#deps;
    const expire = () => {
      const text = `a record of ${definition.stream.name} took consumer ${definition.name} longer than ${definition.options.timeout}`;
      const cause = streamErrors.error("TUNTAS_RECORD_TIMEOUT", text);
      this.#stop(cause, new Failed(this.#at, outcomeOfThrown(cause)));
    };
    this.#timer = setTimeout(expire, timeoutMs);
  }

  async #handle(): Promise<number> {
    const { handle, handleBatch } = this.#deps.definition.options;
    if (handleBatch) return this.#handleAll(handleBatch as never);
    const { records } = this.#of;
    for (const [at, record] of records.entries()) {
      if (this.#over) return at;
      // What is done by then is committed, so that a batch does not take many times as long as one record may.
      if (at > 0 && performance.now() - this.#begunAt > this.#deps.timeoutMs / 2) return at;
      this.#time(at);
      const value = await this.#valueOf(record, at);
      const outcome = await settled(() => handle!(value as never, this.#contextOf(record)));
      if (!isDone(outcome)) throw new Failed(at, outcome);
    }
    return records.length;
  }

  async #handleAll(handle: (records: readonly StreamRecord[], context: RecordContext) => unknown) {
    const { records } = this.#of;
    this.#time(records.length === 1 ? 0 : undefined);
    const values: StreamRecord[] = [];
    for (const [at, record] of records.entries()) values.push(await this.#valueOf(record, at));
    const outcome = await settled(() => handle(values, this.#contextOf(records[0]!)));
    if (!isDone(outcome)) throw new Failed(records.length === 1 ? 0 : undefined, outcome);
    return records.length;
  }

  #idOf({ offset }: StoredRecord): string {
    const { definition, partition } = this.#deps;
    return `${definition.stream.name}/${partition}/${offset}`;
  }

  #contextOf(record: StoredRecord): RecordContext {
    const { definition } = this.#deps;
    const { attempt, reached } = this.#of;
    return new RecordContext(this.#batch, {
      stream: definition.stream.name,
      consumer: definition.name,
      caller: this.#idOf(record),
      attempt,
      replayed: record.offset < reached,
    });
  }

  async #valueOf(record: StoredRecord, at: number): Promise<StreamRecord> {
    const { offset, key, body, appendedAtMs } = record;
    const { partition, definition } = this.#deps;
    const value = await parsed(definition, body, at);
    return { id: this.#idOf(record), key, partition, offset, appendedAtMs, value };
  }

  async #commit(count: number): Promise<Came> {
    const { database, timeoutMs } = this.#deps;
    const { transaction, writes } = this.#batch;
    const { closing, plain } = this.#of;
    if (transaction) {
      for (const { text, values } of writes) await transaction.tx.query(text, values as unknown[]);
      await transaction.commit(closing(count));
    } else if (writes.length > 0 || !plain)
      await commitWrites(database, { closing: closing(count), writes, timeoutMs });
    else if (!(await moves(database, plain(count)))) throw new FenceLost();
    return { kind: "committed", count };
  }
}

const moves = async (database: Database, { statement, values }: Prepared): Promise<boolean> =>
  (await database.run(statement, values)).length > 0;

async function parsed({ stream }: ConsumerDefinition, body: string, at: number): Promise<unknown> {
  const fail = (message: string) => new Failed(at, poison({ code: "TUNTAS_RECORD_INVALID", message }));
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch (cause) {
    throw fail(`expected JSON: ${(cause as Error).message}`);
  }
  const checked = stream.options.record["~standard"].validate(given);
  const result = checked instanceof Promise ? await checked : checked;
  if (result.issues) throw fail(describeIssues(result.issues));
  return result.value;
}
