// A queue that lives elsewhere, as the worker needs it. Whoever brings one (`@tuntas/aws` brings Amazon SQS) speaks to the
// other service, and to nothing else: what was taken in, who may end it and what it came to is written here, in the
// database of the work itself.
import type { Log } from "../../engine/log.ts";
import type { HeldMessage, NewMessage, QueueCounts, Sent } from "../contract.ts";
import type { QueueDefinition } from "../declaration.ts";

/** One receive of a message. */
export interface Received {
  readonly receipt: string;
  /** By the process's clock: `performance.timeOrigin + performance.now()`. */
  readonly receivedAtMs: number;
}

/** A message as the other service gives it out. */
export interface RemoteMessage
  extends
    Received,
    Pick<
      HeldMessage,
      | "body"
      | "attributes"
      | "traceHeader"
      | "sender"
      | "receives"
      | "sentAtMs"
      | "firstReceivedAtMs"
      | "groupId"
      | "deduplicationId"
    > {
  /** The service's own id of it, a UUID; the same at each delivery. */
  readonly messageId: string;
}

/** A receive that has begun to be worked on here. */
export interface Held extends Received {
  /** By which this process knows it; see `readHoldings`. */
  readonly fence: string;
}

/** One queue there. What is called is tried again within; what rejects in the end is coded. */
export interface Remote {
  /** Waits for messages while there are none; at most so many, and possibly fewer than there are. */
  receive(countMax: number, signal: AbortSignal): Promise<readonly RemoteMessage[]>;
  /** Keeps these hidden from others while this process works on them, off its event loop, until `drop`. */
  hold(held: readonly Held[]): void;
  drop(fence: string): void;
  /** It never comes again. Where that fails, it does. */
  remove(received: Received): Promise<void>;
  /** It comes again after this time. Where that fails, it comes when the service sees fit. */
  giveBack(received: Received, delayMs: number): Promise<void>;
  send(message: NewMessage): Promise<Sent>;
  /** How many messages it has, and how many its dead-letter queue. */
  count(): Promise<QueueCounts & { readonly dead: number }>;
}

/** A declared queue, and the longest that a handler of it may take, where this process has a worker of it. */
export interface Wanted {
  readonly queue: QueueDefinition;
  readonly timeoutMs: number | undefined;
}

export interface ServiceParts {
  readonly log: Log;
  /** What this process holds, for `readHoldings`. */
  readonly slots: SharedArrayBuffer;
}

export interface OpenService {
  of(queue: QueueDefinition): Remote;
  close(): Promise<void>;
}

/** Where declared queues live, if not in this database. */
export interface QueueService {
  /** Finds them. Errors: TUNTAS_QUEUE_MISSING, TUNTAS_QUEUE_DIFFERS, TUNTAS_QUEUE_OPTIONS, TUNTAS_QUEUE_UNREACHABLE. */
  open(wanted: readonly Wanted[], parts: ServiceParts): Promise<OpenService>;
}
