// What a caller of the stream room sees: what a stream and a consumer are declared by, what a handler gets, how they stand,
// and the error codes.
import type { Duration } from "../core/duration.ts";
import { catalogue } from "../core/error.ts";
import type { InputOf, OutputOf, Schema } from "../core/schema.ts";
import type { HandlerTx } from "../engine/handler/contract.ts";
import type { Log } from "../engine/log.ts";
import type { Queryable, Sql } from "../pg/contract.ts";

export interface StreamOptions<S extends Schema> {
  /** What a record is: any Standard Schema (zod, valibot, …). `append` checks it, consumers parse by it. */
  readonly record: S;
  /** 1 to 256, for good: another number would send a key elsewhere than where its records are. */
  readonly partitions: number;
  /** What a key is, and why records of one key must stay in order: `"order id: what happens to an order"`. */
  readonly key: string;
  /** How long records are kept, 1 minute to 366 days; longer where a consumer has not read them. */
  readonly retention: Duration;
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
  /** Fields that only approvers and admins may see, by path, beside those that the schema itself marks. */
  readonly sensitive?: readonly string[];
}

export interface AppendOptions {
  /** Records of one key keep their order. */
  readonly key: string;
  /** Appends in this transaction: the record is there when it commits. */
  readonly tx?: Queryable | undefined;
}

/** Where a record is; one that was appended in the caller's transaction gets its offset after that has committed. */
export type Appended = {
  /** `suppressed`: a backfill's handler would have appended it, and what it works on is no news. */
  readonly status: "created" | "suppressed";
  readonly partition: number;
  readonly offset: number | undefined;
};

/** A declared stream; also the typed way to append to it, once an application that holds it has started. */
export interface StreamDefinition<S extends Schema = Schema> {
  readonly kind: "stream";
  readonly name: string;
  readonly options: StreamOptions<S>;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
  /** Makes a record durable. Errors: TUNTAS_RECORD_INVALID, TUNTAS_STREAM_NOT_STARTED, TUNTAS_STREAM_MISSING, database errors. */
  append(record: InputOf<S>, options: AppendOptions): Promise<Appended>;
}

/** A record as a handler gets it. */
export interface StreamRecord<Value = unknown> {
  /** The same at each delivery and in each consumer: what an effect is to be known by. */
  readonly id: string;
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
  readonly appendedAtMs: number;
  readonly value: Value;
}

export interface StreamContext {
  /**
   * The transaction of the batch, opened at its first statement. What is written through it commits together with the
   * checkpoint, or not at all.
   */
  readonly tx: HandlerTx;
  /** Whether a statement of `tx` has run, so that locks may be held. */
  readonly transactionOpen: boolean;
  /** The database, for what must commit by itself before the handler goes on (`effect` of the ledger). */
  readonly database: Sql;
  /** Hands a statement over: it runs after the batch is handled, in one round trip with its checkpoint. */
  write(text: string, values?: readonly unknown[]): void;
  /** Aborts when the attempt times out, the partition was lost to another owner, or the process stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** 1 for the first time. */
  readonly attempt: number;
  /** Whose side effects they are, for the ledger: the id of the record, of the first one where it is a batch. */
  readonly caller: string;
  /** Whether the consumer has been past this record before: it was rewound, or the record had been parked. */
  readonly replayed: boolean;
}

interface ConsumerSettings {
  /** What its checkpoints are kept under; a new name begins anew. */
  readonly name: string;
  /** Where it begins when it is new: with the oldest record that is kept, or with what is appended from then on. */
  readonly from: "start" | "end";
  /** The most records of one commit, 1 to 1000. */
  readonly batch: number;
  /** What becomes of a record that cannot be handled: it is parked and the rest goes on, or its partition stops. */
  readonly onBadRecord: "park" | "stop";
  readonly retry: {
    /** So many failures of one record, 1 to 100, make it a bad one. */
    readonly attempts: number;
    /** How long to wait after the first failure, and at most. */
    readonly base?: Duration;
    readonly max?: Duration;
  };
  /** A record (or batch, for `handleBatch`) that takes longer has failed. */
  readonly timeout: Duration;
  /** How old the oldest unread record may be; the alarm `stream-behind` tells where it is older. */
  readonly lagWithin: Duration;
}

/** Handles one record after another; records of a batch share the transaction and its commit. */
export interface HandlesEach<S extends Schema> {
  readonly handle: (record: StreamRecord<OutputOf<S>>, context: StreamContext) => unknown;
  readonly handleBatch?: never;
}

/** Handles all records of a batch in one call. */
export interface HandlesBatches<S extends Schema> {
  readonly handleBatch: (records: readonly StreamRecord<OutputOf<S>>[], context: StreamContext) => unknown;
  readonly handle?: never;
}

export type ConsumerOptions<S extends Schema> = ConsumerSettings & (HandlesEach<S> | HandlesBatches<S>);

export interface ConsumerDefinition<S extends Schema = Schema> {
  readonly kind: "consumer";
  readonly stream: StreamDefinition<S>;
  readonly name: string;
  readonly options: ConsumerOptions<S>;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

/** How a consumer stands in one partition. */
export interface PartitionReport {
  readonly partition: number;
  /** The offset that it reads next. */
  readonly nextOffset: number;
  /** Records that it has not read. */
  readonly lag: number;
  /** How old the oldest of them is; null where there is none. */
  readonly lagMs: number | null;
  /** The process that reads it, as host and number; null where none does. */
  readonly owner: string | null;
  /** Failures of the record that it stands at, and what the last of them said. */
  readonly attempts: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly stoppedAtMs: number | null;
}

export interface ConsumerReport {
  readonly name: string;
  readonly stream: string;
  readonly onBadRecord: "park" | "stop";
  readonly lagWithinMs: number;
  /** Processes that share its partitions. */
  readonly members: number;
  readonly lag: number;
  readonly lagMs: number | null;
  readonly behind: boolean;
  readonly parked: number;
  readonly partitions: readonly PartitionReport[];
}

/** A stream's declaration as the database keeps it. */
export interface StreamSettings {
  readonly name: string;
  readonly key: string;
  readonly partitions: number;
  readonly retentionMs: number;
  readonly owner: string;
  readonly runbook: string;
}

export interface StreamReport extends StreamSettings {
  /** Records that are kept, those that wait for their offset included. */
  readonly records: number;
  /** By partition, the oldest offset that is kept and the one that comes next. */
  readonly offsets: readonly { readonly first: number; readonly next: number }[];
  readonly consumers: readonly ConsumerReport[];
}

/** A partition that gets far more than its share of the records of the last minute. */
export interface Hot {
  readonly stream: string;
  readonly partition: number;
  /** The key that most of them have. */
  readonly key: string;
  /** How many times its share it gets. */
  readonly times: number;
}

/** A record as it is kept. */
export interface StoredRecord {
  readonly offset: number;
  readonly key: string;
  readonly body: string;
  readonly appendedAtMs: number;
}

/** A record that a consumer has gone past without handling it. */
export interface Parked {
  readonly id: string;
  readonly stream: string;
  readonly consumer: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly body: string;
  readonly attempts: number;
  readonly code: string;
  readonly reason: string;
  readonly parkedAtMs: number;
  /** Whether it is to be handled again. */
  readonly replaying: boolean;
}

/** Who does it, and why. */
export interface Act {
  readonly by: string;
  readonly reason: string;
}

/** Where a consumer is to read on. */
export type RewindTo =
  | { readonly to: "start" | "end" }
  | { readonly instantMs: number }
  /** An offset is one of a partition. */
  | { readonly offset: number; readonly partition: number };

export const streamErrors = catalogue({
  TUNTAS_STREAM_OPTIONS: {
    meaning: "A stream or a consumer is declared with something missing or wrong.",
    remedy: "The message names each field and what is expected there.",
  },
  TUNTAS_STREAM_REGISTERED: {
    meaning: "Two streams of an application have one name, or two consumers of a stream.",
    remedy: "Give one of them another name.",
  },
  TUNTAS_STREAM_PARTITIONS: {
    meaning: "A stream is declared with fewer partitions than it has.",
    remedy:
      "Declare the number that it has, or more. For fewer, declare a new stream and a consumer that copies this one into it, then move the producers.",
  },
  TUNTAS_STREAM_NOT_STARTED: {
    meaning: "A record was appended before the application that holds the stream has started.",
    remedy: "Call start(app({ … })) with the stream in it, and append afterwards.",
  },
  TUNTAS_STREAM_MISSING: {
    meaning: "There is no stream or consumer of that name.",
    remedy: "`tuntas stream list` names them; one that code declares appears when its application starts.",
  },
  TUNTAS_RECORD_INVALID: {
    meaning: "A record does not fit its stream's schema, or cannot be stored as text.",
    remedy: "The message names the fields. Of a consumer: let its schema read what older producers wrote.",
  },
  TUNTAS_RECORD_TIMEOUT: {
    meaning: "A record took longer than its consumer's timeout; what was written for it is undone.",
    remedy: "Look at what it waits for, or give the consumer a longer timeout.",
  },
  TUNTAS_RECORD_FATAL: {
    meaning: "The process that handled the record by itself died, or its event loop stood still.",
    remedy:
      "Look at what that process printed last and how it ended (out of memory, a crash of native code, an endless loop); replay or discard the record once the handler bears it.",
  },
  TUNTAS_STREAM_OFFSET: {
    meaning: "A consumer cannot be moved there: the offset is not kept any more, or is not there yet.",
    remedy: "`tuntas stream show` names the offsets that are kept. What is gone is rebuilt from its source.",
  },
  TUNTAS_STREAM_BEHIND: {
    meaning:
      "A consumer is to take another's place and has not read as far as that one, or has begun further on than that one has read.",
    remedy:
      "Wait until `tuntas stream show` reports no lag of either, then try again; where the old one reads no more, rewind the new one to what is missing.",
  },
  TUNTAS_CONSUMER_REPLACED: {
    meaning:
      "A process declares a consumer whose place another has taken: it is not declared again and not served, what else the process declares is.",
    remedy:
      "Deploy the version that declares the successor. To have the name again, `tuntas stream forget` it; declared after that it is a new consumer.",
  },
  TUNTAS_CHECKPOINT_LOST: {
    meaning: "The partition belongs to another owner, or was rewound; this attempt changed nothing.",
    remedy: "Nothing; the records are handled by whoever has it now.",
  },
});
