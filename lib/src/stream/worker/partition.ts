// One partition, for as long as this process holds it: read, try, settle what it came to, and rest where there is nothing.
// It ends when it is told to, or when it finds that the partition is another's.
import { setTimeout as sleep } from "node:timers/promises";
import { retry, type Outcome } from "../../core/outcome.ts";
import { storable } from "../../core/text.ts";
import { fenced, type Prepared } from "../../engine/handler/transaction.ts";
import { makeBell, type Bell, type Waker } from "../../engine/wake.ts";
import { streamErrors, type StoredRecord } from "../contract.ts";
import { streamSignals, type StreamSignal } from "../signals.ts";
import { decideFailure, fewer, type FailurePolicy } from "../state.ts";
import * as store from "../store/checkpoints.ts";
import type { Checkpoint, Contested, Failure, Held } from "../store/checkpoints.ts";
import { endReplayOrRaise, failReplay, findReplay, parkRecord, type Replay } from "../store/parked.ts";
import { readRecords } from "../store/records.ts";
import { partitionKey, streamKey } from "../wake.ts";
import { Attempt, type AttemptDeps, type BatchToTry, type Came } from "./attempt.ts";
import type { Isolation } from "./isolation.ts";

export interface PartitionDeps extends Omit<AttemptDeps, "partition"> {
  readonly waker: Waker;
  readonly streamId: number;
  readonly policy: FailurePolicy;
  readonly isolation: Isolation;
}

const tryAgainMs = 500;
const [codeMax, reasonMax] = [100, 2000];

const prepared = (statement: Prepared["statement"], values: readonly unknown[]): Prepared => ({
  statement,
  values,
});

/** A partition that this process holds. */
export class HeldPartition {
  readonly held: Held;
  /** Resolves once nothing runs here any more. Never rejects. */
  readonly ended: Promise<void>;
  /** Whether the partition is this process's no more. */
  lost = false;
  readonly #deps: PartitionDeps;
  readonly #bell: Bell;
  readonly #unsubscribe: () => void;
  readonly #ending = new AbortController();
  #at: Checkpoint;
  #size: number;
  /** What is before this offset killed the owner before, perhaps, and is tried one by one. */
  readonly #suspectUntil: number;
  #attempt: Attempt | undefined;
  /** Whether it waits until it may begin, as what is to run alone does, and what comes after that. */
  #waits = false;
  /** Somebody may want a parked record again. */
  #woken = true;

  constructor(deps: PartitionDeps, checkpoint: Checkpoint) {
    const { waker, streamId, definition } = deps;
    const key = streamKey(partitionKey(streamId, checkpoint.partition));
    this.#deps = deps;
    this.#at = checkpoint;
    const { consumerId, partition, fence, suspect, nextOffset } = checkpoint;
    this.held = { consumerId, partition, fence };
    this.#size = definition.options.batch;
    this.#suspectUntil = suspect ? nextOffset + this.#size : 0;
    this.#bell = makeBell(waker, key);
    this.#unsubscribe = waker.subscribe(key, () => (this.#woken = true));
    this.ended = this.#run();
  }

  /** Whether a handler runs. */
  get running(): boolean {
    return this.#attempt !== undefined;
  }

  /** Who waits is not to be taken for blocked. */
  beat(): void {
    if (this.#waits) void store.noteWaiting(this.#deps.database, this.held).catch(() => undefined);
  }

  /** Ends after the batch under way. */
  end(): void {
    this.#ending.abort();
  }

  /** Ends at once; what the handler wrote is undone. */
  abandon(reason: unknown): void {
    this.end();
    this.#attempt?.abandon(reason);
  }

  /** The partition is another's. */
  lose(): void {
    this.lost = true;
    this.abandon(
      streamErrors.error("TUNTAS_CHECKPOINT_LOST", `partition ${this.held.partition} is another's now`),
    );
  }

  get #isOver(): boolean {
    return this.lost || this.#ending.signal.aborted;
  }

  async #run(): Promise<void> {
    this.#publish("stream.claimed");
    if (this.#at.retryInMs !== null) await this.#pause(this.#at.retryInMs);
    while (!this.#isOver) {
      try {
        if (!(await this.#round())) await this.#bell.wait(Infinity, this.#ending.signal);
      } catch (cause) {
        this.#deps.log.warn({ cause, ...this.#names }, "a partition could not be read on; tried again soon");
        await this.#pause(tryAgainMs);
        await this.#resync().catch(() => undefined);
      }
    }
    this.#bell.close();
    this.#unsubscribe();
  }

  /** One batch, or one parked record; answers whether there was anything. */
  async #round(): Promise<boolean> {
    const replayed = this.#woken && (await this.#replay());
    if (this.#isOver || this.#at.stopped) return replayed;
    const { nextOffset: offset } = this.#at;
    const { streamId, database } = this.#deps;
    const { consumerId, partition } = this.held;
    const limit = this.#isSuspect ? 1 : this.#size;
    const records = await readRecords(database, consumerId, { streamId, partition, offset, limit });
    if (records.length === 0) return replayed;
    // Whatever ended meanwhile, nothing was begun.
    if (!this.#isOver) await this.#handle(records);
    return true;
  }

  get #isSuspect(): boolean {
    return this.#at.nextOffset < this.#suspectUntil;
  }

  /** Once it may begin; a death meanwhile counts against the record. */
  #tryAlone(record: StoredRecord & Contested, of: BatchToTry): Promise<Came> {
    return this.#begin(record.contested ? "alone" : "beside", async () => {
      const begins = await store.beginAlone(this.#deps.database, this.held, record.offset);
      return begins ? this.#try(of) : { kind: "lost" };
    });
  }

  async #begin(how: keyof Isolation, work: () => Promise<Came>): Promise<Came> {
    this.#waits = true;
    return this.#deps.isolation[how](async () => {
      this.#waits = false;
      return this.#isOver ? { kind: "lost" } : this.#known(work);
    });
  }

  /** Keeps its place until it is known what came of it: noted as tried, it would be charged with what is begun meanwhile. */
  async #known(work: () => Promise<Came>): Promise<Came> {
    const came = await work().catch((cause: unknown): Came => ({ kind: "unsure", cause }));
    if (came.kind === "unsure") await this.#doubt(came.cause);
    return came;
  }

  async #try(of: BatchToTry): Promise<Came> {
    this.#attempt = new Attempt({ ...this.#deps, partition: this.held.partition }, of);
    const came = await this.#attempt.run();
    this.#attempt = undefined;
    return came;
  }

  async #handle(records: readonly StoredRecord[]): Promise<void> {
    const [first] = records as [StoredRecord];
    const { attempts, code, reason } = this.#at;
    // Who tried it last has died of it.
    if (attempts >= this.#deps.policy.attemptsMax)
      return this.#settle(first, retry({ code: code! }), { attempts, code: code!, reason: reason! });
    const begunAt = performance.now();
    const { held } = this;
    const valuesOf = (count: number) => store.advanceValues(held, records[count - 1]!.offset + 1);
    const batch: BatchToTry = {
      records,
      attempt: attempts + 1,
      reached: this.#at.reached,
      closing: (count) => [fenced(prepared(store.advanceOrRaise, valuesOf(count)))],
      plain: (count) => prepared(store.advance, valuesOf(count)),
    };
    const { contested } = this.#at;
    const came = await (this.#isSuspect
      ? this.#tryAlone({ ...first, contested }, batch)
      : this.#begin("beside", () => this.#try(batch)));
    if (came.kind === "committed") return this.#moved(records.slice(0, came.count), begunAt);
    if (came.kind === "lost") return this.#isOver ? undefined : this.#lost();
    if (came.kind === "failed") return this.#failed(records, came);
  }

  #moved(records: readonly StoredRecord[], begunAt: number): void {
    const { reached } = this.#at;
    const nextOffset = records.at(-1)!.offset + 1;
    this.#at = {
      ...this.#at,
      attempts: 0,
      contested: false,
      nextOffset,
      reached: Math.max(reached, nextOffset),
    };
    this.#size = Math.min(this.#deps.definition.options.batch, Math.max(this.#size, records.length) * 2);
    this.#publish("stream.handled", {
      count: records.length,
      replayed: records.filter(({ offset }) => offset < reached).length,
      durationMs: performance.now() - begunAt,
    });
  }

  #lost(): void {
    if (this.lost) return;
    this.#publish("stream.lost");
    this.lost = true;
    this.end();
  }

  /** The commit may have taken place: the checkpoint says how far it is. */
  async #doubt(cause: unknown): Promise<void> {
    this.#deps.log.warn(
      { cause, ...this.#names },
      "a commit was lost; the checkpoint tells whether it took place",
    );
    let isKnown = false;
    while (!isKnown && !this.#isOver) {
      await this.#pause(tryAgainMs);
      isKnown = await this.#resync().then(
        () => true,
        () => false,
      );
    }
  }

  async #resync(): Promise<void> {
    const found = await store.restCheckpoint(this.#deps.database, this.held);
    if (found) this.#at = found;
    else this.#lost();
  }

  async #failed(records: readonly StoredRecord[], { at, outcome }: Came & { kind: "failed" }): Promise<void> {
    const record = records[at ?? 0]!;
    const isAlone = records.length === 1;
    const attempt = isAlone || at === 0 ? this.#at.attempts + 1 : 1;
    const why = { attempts: attempt, code: storable(outcome.code, codeMax), reason: reasonOf(outcome) };
    this.#tellFailure("stream.failed", record, { ...why, cause: outcome.cause });
    this.#size = fewer(records.length, at);
    if (!isAlone && at !== 0) return;
    await this.#settle(record, outcome, why);
  }

  async #settle(record: StoredRecord, outcome: Outcome, why: Failure): Promise<void> {
    const { database, policy } = this.#deps;
    const decision = decideFailure(outcome, why.attempts, policy, Math.random());
    if (decision.kind === "park") return this.#park(record, why);
    if (decision.kind === "stop") {
      if (!(await store.stopPartition(database, this.held, why))) return this.#lost();
      this.#at = { ...this.#at, attempts: why.attempts, stopped: true };
      return this.#tellFailure("stream.stopped", record, why);
    }
    if (!(await store.noteRetry(database, this.held, { ...why, ...decision }))) return this.#lost();
    this.#at = { ...this.#at, attempts: why.attempts };
    await this.#pause(decision.delayMs);
  }

  async #park(record: StoredRecord, why: Failure): Promise<void> {
    if (!(await parkRecord(this.#deps.database, this.held, record, why))) return this.#lost();
    const nextOffset = record.offset + 1;
    this.#at = {
      ...this.#at,
      attempts: 0,
      contested: false,
      nextOffset,
      reached: Math.max(this.#at.reached, nextOffset),
    };
    this.#tellFailure("stream.parked", record, why);
  }

  /** Handles a parked record that somebody wants again; answers whether there was one. */
  async #replay(): Promise<boolean> {
    this.#woken = false;
    const { database } = this.#deps;
    const record = await findReplay(database, this.held);
    if (!record) return false;
    this.#woken = true;
    const came = await this.#tryAlone(record, {
      records: [record],
      attempt: record.attempts + 1,
      reached: Infinity,
      closing: () => [
        fenced(prepared(store.endAloneOrRaise, store.endAloneValues(this.held))),
        fenced(prepared(endReplayOrRaise, [record.id])),
      ],
    });
    await this.#replayCame(record, came);
    return true;
  }

  async #replayCame(record: Replay, came: Came): Promise<void> {
    if (came.kind === "committed") return this.#publish("stream.replayed", recordFields(record));
    if (came.kind === "unsure") return;
    // Somebody may have discarded it meanwhile, which is no loss of the partition.
    if (came.kind === "lost") return this.#isOver ? undefined : this.#resync();
    const { outcome } = came;
    const attempts = record.attempts + 1;
    const why = { attempts, code: storable(outcome.code, codeMax), reason: reasonOf(outcome) };
    await failReplay(this.#deps.database, this.held, { id: record.id, ...why });
    this.#tellFailure("stream.failed", record, { ...why, cause: outcome.cause });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#ending.signal, ref: false }).catch(
      () => undefined,
    );
  }

  get #names() {
    const { definition } = this.#deps;
    return { stream: definition.stream.name, consumer: definition.name, partition: this.held.partition };
  }

  #publish(name: StreamSignal, fields: Readonly<Record<string, unknown>> = {}): void {
    streamSignals.publish(name, { ...fields, ...this.#names });
  }

  #tellFailure(
    name: StreamSignal,
    record: StoredRecord,
    failure: Failure & { readonly cause?: Outcome["cause"] },
  ): void {
    const { attempts: attempt, code, reason, cause } = failure;
    const fields = { ...recordFields(record), code, reason, attempt };
    this.#publish(name, fields);
    const stack = cause && { stack: cause.stack };
    this.#deps.log.warn({ event: name, ...fields, ...this.#names, ...stack }, reason || code);
  }
}

const recordFields = ({ offset, key }: StoredRecord) => ({ offset, key });
const reasonOf = ({ message, code }: Outcome): string => storable(message || code, reasonMax);
