// What a caller of the queue room sees: the records, what can be asked of a queue, and the error codes.
import { catalogue } from "../core/error.ts";

/** Accounts and regions are wholly separate name spaces, as on AWS. */
export interface Scope {
  readonly account: string;
  readonly region: string;
}

export const defaultScope: Scope = { account: "000000000000", region: "us-east-1" };

/** A queue as the database has it. Seconds and bytes have SQS's meaning and limits. */
export interface QueueRecord extends Scope {
  readonly id: number;
  readonly name: string;
  readonly fifo: boolean;
  readonly delaySeconds: number;
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  readonly receiveWaitSeconds: number;
  readonly messageBytesMax: number;
  readonly deadLetterName: string | null;
  readonly receivesMax: number | null;
  readonly redriveAllowPolicy: string | null;
  readonly contentDeduplication: boolean;
  readonly deduplicationScope: "queue" | "messageGroup";
  readonly throughputLimit: "perQueue" | "perMessageGroupId";
  readonly policy: string | null;
  readonly kmsKeyId: string | null;
  readonly kmsReuseSeconds: number;
  readonly sseManaged: boolean;
  /** Who answers for the dead letters of this queue; null where code has not declared it. */
  readonly owner: string | null;
  readonly runbook: string | null;
  readonly poison: PoisonPolicy;
  /** JSON text of the rules that forbid a replay. */
  readonly replayForbidden: string;
  readonly pausedAtMs: number | null;
  readonly pausedBy: string | null;
  readonly purgedAtMs: number | null;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

/** What becomes of a poison message: quarantined at once, or received until the dead-letter queue takes it. */
export type PoisonPolicy = "quarantine" | "exhaust";

/** The columns of a queue that can be set; what is left out stays as it is (or has SQS's default at creation). */
export type QueueSettings = Partial<
  Omit<
    QueueRecord,
    | keyof Scope
    | "id"
    | "name"
    | "fifo"
    | "pausedAtMs"
    | "pausedBy"
    | "purgedAtMs"
    | "createdAtMs"
    | "modifiedAtMs"
  >
>;

/** A message on its way in. Its texts have been checked; see `checkMessage` of the client. */
export interface NewMessage {
  readonly messageId: string;
  readonly body: string;
  /** JSON text of SQS message attributes: name to `{DataType, StringValue | BinaryValue}`. */
  readonly attributes?: string | undefined;
  readonly traceHeader?: string | undefined;
  readonly delaySeconds?: number | undefined;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
}

/** What became of a send. A duplicate (FIFO) carries the ids of the first message. */
export interface Sent {
  readonly status: "created" | "duplicate";
  readonly messageId: string;
  /** Increases with each message. */
  readonly id: string;
}

/** What a backfill's handler would have sent: what it works on is no news, so that nothing was. */
export interface Suppressed extends Omit<Sent, "status"> {
  readonly status: "suppressed";
}

/** SQS's SequenceNumber of the message of this id: 20 digits, of one length so that texts compare like numbers. */
export const sequenceNumber = (id: string): string => `1${id.padStart(19, "0")}`;

/** Names one claim of one message: who settles must still hold it. */
export interface Claim {
  readonly queueId: number;
  readonly id: string;
  readonly fence: string;
}

/** A message as somebody holds it. */
export interface HeldMessage extends Claim {
  readonly turn: string;
  readonly messageId: string;
  readonly body: string;
  readonly attributes: string | null;
  readonly traceHeader: string | null;
  readonly sender: string;
  readonly receives: number;
  readonly sentAtMs: number;
  readonly firstReceivedAtMs: number;
  readonly groupId: string | null;
  readonly deduplicationId: string | null;
  readonly sourceQueueId: number | null;
  /** Whether it lies in one row with others of its claim. */
  readonly bundled: boolean;
  /** Whether its sender gave it to this process, which had not asked for it. */
  readonly handedOver?: boolean;
  /** Its work has ended before, and only its deletion elsewhere was lost. */
  readonly ended?: boolean;
  /** Whether its tenant has failed lately, so that its success is news. */
  readonly onTrial?: boolean;
}

/** How many messages a queue has, by state. */
export interface QueueCounts {
  readonly ready: number;
  readonly inFlight: number;
  readonly delayed: number;
}

export type MoveStatus = "RUNNING" | "COMPLETED" | "CANCELLING" | "CANCELLED" | "FAILED";

export interface MoveTask {
  readonly id: string;
  readonly sourceQueueId: number;
  readonly destinationQueueId: number | null;
  /** The destination's name when the task began; the queue may be gone since. */
  readonly destinationName: string | null;
  readonly perSecond: number | null;
  readonly status: MoveStatus;
  readonly failureReason: string | null;
  readonly toMove: number;
  readonly moved: number;
  readonly startedAtMs: number;
}

/** Where a message waits for a person: in a dead-letter queue, or in quarantine. */
export type DeadPlace = "dead" | "quarantined";

/** Which of the messages that wait for a person. What is left out is not asked for; all that is given must hold. */
export interface TriageFilter {
  /** The queue that they died in, or the dead-letter queue that they lie in. */
  readonly queue?: string | undefined;
  readonly place?: DeadPlace | undefined;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly schemaVersion?: string | undefined;
  readonly messageIds?: readonly string[] | undefined;
  /** Failed last at this instant or later. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** What one cause has in common. `owner` is "none" where code has not declared the queue. */
interface DeadCause {
  /** The queue that it died in; null where that is deleted. */
  readonly queue: string | null;
  readonly place: DeadPlace;
  /** The queue that it lies in: the dead-letter queue, or the queue itself. */
  readonly liesIn: string;
  readonly outcome: string;
  /** The code of the last failure; NOT_DELETED where nobody said why. */
  readonly code: string;
  readonly fingerprint: string;
  readonly schemaVersion: string | null;
  readonly message: string;
  readonly owner: string;
  readonly runbook: string | null;
  /** The queue's rule that forbids to replay it; null where none does. */
  readonly replayForbidden: string | null;
}

/** The messages of one cause. */
export interface DeadGroup extends DeadCause {
  readonly count: number;
  readonly firstSeenAtMs: number;
  readonly lastSeenAtMs: number;
  readonly receivesMax: number;
  /** The body of the oldest, at most 4000 characters of it. */
  readonly sampleBody: string;
}

/** One message that waits for a person. */
export interface DeadItem extends DeadCause {
  readonly id: string;
  readonly messageId: string;
  readonly receives: number;
  readonly sentAtMs: number;
  readonly seenAtMs: number;
  readonly groupId: string | null;
  readonly body: string;
}

export const queueErrors = catalogue({
  TUNTAS_QUEUE_MISSING: {
    meaning: "There is no queue of that name in this account and region.",
    remedy: "Create it, or see the names with `tuntas queue list`.",
  },
  TUNTAS_QUEUE_EXISTS: {
    meaning: "A queue of that name exists already with other settings.",
    remedy: "Use the settings that it has, or change them with SetQueueAttributes.",
  },
  TUNTAS_QUEUE_NAME: {
    meaning: "The name of a queue is not one that SQS takes.",
    remedy: "Use 1 to 80 letters, digits, hyphens and underscores; a FIFO queue's name ends with .fifo.",
  },
  TUNTAS_QUEUE_OPTIONS: {
    meaning: "The declaration of a queue or a worker is not complete or not consistent.",
    remedy: "Correct the named field; every policy is a decision that only you can take.",
  },
  TUNTAS_MESSAGE_INVALID: {
    meaning: "A message does not fit the schema that its queue declares.",
    remedy: "Send what the schema describes; the issues name each field.",
  },
  TUNTAS_MESSAGE_TEXT: {
    meaning: "A message body or attribute holds characters that SQS refuses.",
    remedy: "Encode binary data, for example as base64.",
  },
  TUNTAS_MESSAGE_ATTRIBUTE: {
    meaning: "A message attribute has a type that SQS does not know, or a value that does not fit it.",
    remedy: "Give DataType String or Number with StringValue, or Binary with BinaryValue in base64.",
  },
  TUNTAS_MESSAGE_SIZE: {
    meaning: "A message is larger than its queue takes.",
    remedy: "Store the payload elsewhere and send its reference, or raise messageBytesMax.",
  },
  TUNTAS_MESSAGE_GROUP: {
    meaning: "A message to a FIFO queue has no group or no deduplication id, or one that SQS does not take.",
    remedy:
      "Give groupId, and deduplicationId unless the queue deduplicates by content; each has 1 to 128 letters, digits and punctuation.",
  },
  TUNTAS_RECEIVE_ATTEMPT: {
    meaning: "A receive was repeated by its attempt id after one of its messages was deleted or changed.",
    remedy:
      "Receive with a new attempt id; what was not deleted comes again once its visibility timeout ends.",
  },
  TUNTAS_RECEIPT_INVALID: {
    meaning: "A receipt handle was never issued by this server.",
    remedy: "Use the handle of the last receive, unchanged.",
  },
  TUNTAS_CLAIM_LOST: {
    meaning: "The message is no longer held by this attempt; somebody else may already have it.",
    remedy: "Nothing was changed. Stop working on it; its new owner will end it.",
  },
  TUNTAS_NOT_STARTED: {
    meaning: "A declared queue was used before its application started.",
    remedy: "`await start(app)` first; a process that only sends starts it with `{ workers: false }`.",
  },
  TUNTAS_ATTEMPT_TIMEOUT: {
    meaning: "A handler took longer than its worker's timeout.",
    remedy:
      "The attempt was aborted and will be tried again; pass `signal` on to what the handler waits for.",
    retryable: true,
  },
  TUNTAS_KEY_MISSING: {
    meaning: "A worker's idempotencyKey or lock, or a queue's tenant, gave no usable key for a message.",
    remedy:
      "Derive the key from a required field of the message; 1 to 1024 bytes of text, for a tenant 1 to 128 letters, digits and punctuation.",
  },
  TUNTAS_KEY_BUSY: {
    meaning: "Another attempt works under the same idempotency key at this moment.",
    remedy:
      "Nothing to do: the message comes back soon, and is acknowledged once the other attempt has succeeded.",
    retryable: true,
  },
  TUNTAS_VERSION_UNSUPPORTED: {
    meaning: "A message has a version that its queue does not declare.",
    remedy: "Deploy a worker that knows the version, then replay the message.",
  },
  TUNTAS_MESSAGE_JSON: {
    meaning: "The body of a message is not JSON.",
    remedy: "Send JSON, or read the body as text with a schema for strings.",
  },
  TUNTAS_RESEND_TARGET: {
    meaning: "A dead letter cannot be sent anew to where it died.",
    remedy: "Replay it to another queue, or reject it with a reason.",
  },
  TUNTAS_QUEUE_DIFFERS: {
    meaning: "A queue that lives elsewhere (Amazon SQS) is not as code declares it.",
    remedy: "Change the named settings where the queue is made (CDK, say), or the declaration.",
  },
  TUNTAS_QUEUE_UNREACHABLE: {
    meaning: "The service in which a queue lives could not be reached, or asked to be spared for a while.",
    remedy: "It is tried again by itself. Where it lasts: look at region, credentials, endpoint and quotas.",
    retryable: true,
  },
  TUNTAS_QUEUE_REFUSED: {
    meaning: "The service in which a queue lives refused a request.",
    remedy: "Do what its own message says; often the role lacks a permission on the queue.",
  },
  TUNTAS_QUEUE_REGISTERED: {
    meaning: "Two queues of an application have the same name.",
    remedy:
      "Give one of them another name; where one queue is meant, declare it once and import it where it is used.",
  },
  TUNTAS_WORKER_REGISTERED: {
    meaning: "Two workers of one application take messages of the same queue.",
    remedy: "Declare one worker a queue; raise its concurrency instead.",
  },
});
