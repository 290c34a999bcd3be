// Where work goes that a room above begins and waits for: a queue, a workflow, a target of announcements. Unlike a target it
// is begun in the caller's own transaction, and can say what became of it.
import type { Tx } from "../pg/contract.ts";
import type { Runner } from "../pg/join.ts";
import type { TargetName } from "./target.ts";

/** What is to be begun. */
export interface Order {
  readonly target: TargetName;
  /** The same for no two orders: letters, digits, "-" and "_", at most 80. */
  readonly key: string;
  /** Orders of one group stay in their order, where the target knows one. */
  readonly group: string;
  readonly input: string;
  /** What a message has beside its body; other work does not have it. A text is an attribute of type String. */
  readonly attributes?: Readonly<Record<string, string | OrderAttribute>>;
  readonly delaySeconds?: number;
}

/** An attribute of a message, as SQS has it. */
export interface OrderAttribute {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

/** What work came to. */
export interface Fate {
  readonly reference: string;
  readonly state: "succeeded" | "failed";
  readonly reason: string | null;
  /** How many records it wrote; not there, or null, where nobody knows. */
  readonly recordsWritten?: number | null;
}

export interface Destination {
  /** Begins the work; answers what it is known by. An error that trying again does not mend is the order's own. */
  readonly begin: (tx: Tx, order: Order) => Promise<string>;
  /**
   * SQL, for the heartbeat: true where the work that the column names has ended. It may leave out what only `fates` finds;
   * what it asks must lie at the end of an index, and be asked by a scalar subquery: `exists` may be planned as a hash of all
   * rows, by a plan that is made once.
   */
  readonly hasEnded: (reference: string) => string;
  /** What has ended of the work with these references, all begun for the one name. */
  readonly fates: (sql: Runner, name: string, references: readonly string[]) => Promise<readonly Fate[]>;
}
