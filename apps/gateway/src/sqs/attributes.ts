// Queue attributes: AWS's names and texts to the settings of a queue and back, with their ranges and errors.
// Source: API reference, SetQueueAttributes and GetQueueAttributes.
import type { QueueCounts, QueueRecord, QueueSettings } from "tuntas/queue";
import { isStorable } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { queueArn } from "./address.ts";
import { sqsError } from "./errors.ts";
import { parseRedriveAllowPolicy, parseRedrivePolicy, renderRedrivePolicy } from "./redrive.ts";

/** What a value is checked against: the queue as it is, or as it is about to be created. */
export type QueueShape = Pick<QueueRecord, "account" | "region" | "name" | "fifo">;

interface Attribute {
  /** The settings that a text stands for; undefined where the attribute cannot be set. */
  readonly parse?: (text: string, name: string, queue: QueueShape) => QueueSettings;
  /** The text of the queue's value; undefined where it has none. */
  readonly render: (queue: QueueRecord, counts: QueueCounts | undefined) => string | undefined;
  readonly fifoOnly?: boolean;
}

export const badValue = (name: string, reason?: string): WireError =>
  sqsError(
    "invalidAttributeValue",
    `Invalid value for the parameter ${name}.${reason === undefined ? "" : ` Reason: ${reason}`}`,
  );

export const unknownAttribute = (name: string): WireError =>
  sqsError("invalidAttributeName", `Unknown Attribute ${name}.`);

type KeysOf<V> = {
  [K in keyof QueueSettings]-?: V extends QueueSettings[K] ? K : never;
}[keyof QueueSettings];

function integerAttribute(key: KeysOf<number>, [min, max]: readonly [number, number]): Attribute {
  return {
    parse(text, name) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
      if (!(value >= min && value <= max)) throw badValue(name);
      return { [key]: value };
    },
    render: (queue) => String(queue[key]),
  };
}

function booleanAttribute(key: KeysOf<boolean>): Attribute {
  return {
    parse(text, name) {
      const value = text.toLowerCase();
      if (value !== "true" && value !== "false") throw badValue(name);
      return { [key]: value === "true" };
    },
    render: (queue) => String(queue[key]),
  };
}

function choiceAttribute(
  key: "deduplicationScope" | "throughputLimit",
  values: readonly string[],
): Attribute {
  return {
    parse(text, name) {
      if (!values.includes(text)) throw badValue(name);
      return { [key]: text };
    },
    render: (queue) => queue[key],
    fifoOnly: true,
  };
}

const policyBytesMax = 8192;

function parsePolicy(text: string, name: string): QueueSettings {
  if (text === "") return { policy: null };
  if (Buffer.byteLength(text) > policyBytesMax || !isStorable(text) || !isJsonObject(text))
    throw badValue(name);
  return { policy: text };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function parseKmsKey(text: string, name: string): QueueSettings {
  if (text === "") return { kmsKeyId: null };
  if (text.length > 2048 || !isStorable(text)) throw badValue(name);
  return { kmsKeyId: text };
}

function parseFifo(text: string, name: string, { fifo }: QueueShape): QueueSettings {
  if (!fifo) throw unknownAttribute(name);
  if (text.toLowerCase() !== "true") throw badValue(name, "Modifying queue type is not supported.");
  return {};
}

const epochSeconds = (ms: number): string => String(Math.floor(ms / 1000));

const kmsReuse = integerAttribute("kmsReuseSeconds", [60, 86_400]);

const table = new Map<string, Attribute>(
  Object.entries({
    DelaySeconds: integerAttribute("delaySeconds", [0, 900]),
    MaximumMessageSize: integerAttribute("messageBytesMax", [1024, 1_048_576]),
    MessageRetentionPeriod: integerAttribute("retentionSeconds", [60, 1_209_600]),
    ReceiveMessageWaitTimeSeconds: integerAttribute("receiveWaitSeconds", [0, 20]),
    VisibilityTimeout: integerAttribute("visibilitySeconds", [0, 43_200]),
    Policy: { parse: parsePolicy, render: (queue) => queue.policy ?? undefined },
    RedrivePolicy: { parse: parseRedrivePolicy, render: renderRedrivePolicy },
    RedriveAllowPolicy: {
      parse: parseRedriveAllowPolicy,
      render: (queue) => queue.redriveAllowPolicy ?? undefined,
    },
    KmsMasterKeyId: { parse: parseKmsKey, render: (queue) => queue.kmsKeyId ?? undefined },
    KmsDataKeyReusePeriodSeconds: {
      ...kmsReuse,
      render: (queue, counts) => (queue.kmsKeyId === null ? undefined : kmsReuse.render(queue, counts)),
    },
    SqsManagedSseEnabled: booleanAttribute("sseManaged"),
    FifoQueue: { parse: parseFifo, render: (queue) => (queue.fifo ? "true" : undefined) },
    ContentBasedDeduplication: { ...booleanAttribute("contentDeduplication"), fifoOnly: true },
    DeduplicationScope: choiceAttribute("deduplicationScope", ["queue", "messageGroup"]),
    FifoThroughputLimit: choiceAttribute("throughputLimit", ["perQueue", "perMessageGroupId"]),
    QueueArn: { render: queueArn },
    CreatedTimestamp: { render: (queue) => epochSeconds(queue.createdAtMs) },
    LastModifiedTimestamp: { render: (queue) => epochSeconds(queue.modifiedAtMs) },
    ApproximateNumberOfMessages: { render: (_, counts) => String(counts!.ready) },
    ApproximateNumberOfMessagesNotVisible: { render: (_, counts) => String(counts!.inFlight) },
    ApproximateNumberOfMessagesDelayed: { render: (_, counts) => String(counts!.delayed) },
  } satisfies Record<string, Attribute>),
);

export const isAttributeName = (name: string): boolean => table.has(name);

const isCount = (name: string): boolean => name.startsWith("ApproximateNumber");

/** A standard queue has no FIFO attributes, whatever their value. */
function refuseFifoOnly(name: string): never {
  if (name === "ContentBasedDeduplication") throw unknownAttribute(name);
  throw sqsError("invalidAttributeName", `You can specify the ${name} only when FifoQueue is set to true.`);
}

function parseOne(name: string, text: string, queue: QueueShape): QueueSettings {
  const attribute = table.get(name);
  if (!attribute?.parse) throw unknownAttribute(name);
  if (attribute.fifoOnly && !queue.fifo) refuseFifoOnly(name);
  return attribute.parse(text, name, queue);
}

const kmsReuseDefault = 300;

/** One kind of encryption ends the other, unless a request names both; and a key's end ends its re-use period. */
function withConsequences(settings: QueueSettings): QueueSettings {
  const { kmsKeyId, sseManaged } = settings;
  if (kmsKeyId && sseManaged === undefined) return { sseManaged: false, ...settings };
  if (kmsKeyId === null || (sseManaged && kmsKeyId === undefined))
    return { kmsKeyId: null, kmsReuseSeconds: kmsReuseDefault, ...settings };
  return settings;
}

/** The settings that attributes stand for. Errors: InvalidAttributeName, InvalidAttributeValue, InvalidParameterValue. */
export function parseSettings(
  attributes: Readonly<Record<string, string>>,
  queue: QueueShape,
): QueueSettings {
  const settings: QueueSettings = {};
  for (const [name, text] of Object.entries(attributes)) Object.assign(settings, parseOne(name, text, queue));
  return withConsequences(settings);
}

/** Refuses a queue whose settings contradict each other. */
export function checkTogether(
  queue: Pick<QueueSettings, "kmsKeyId" | "sseManaged" | "deduplicationScope" | "throughputLimit">,
): void {
  if (queue.kmsKeyId && queue.sseManaged) {
    throw sqsError(
      "invalidAttributeName",
      "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.",
    );
  }
  if (queue.throughputLimit === "perMessageGroupId" && queue.deduplicationScope !== "messageGroup") {
    throw sqsError(
      "invalidAttributeValue",
      "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup",
    );
  }
}

/** The first attribute that the queue has with another value than the one given, if any. */
export function findDifference(
  attributes: Readonly<Record<string, string>>,
  queue: QueueRecord,
): string | undefined {
  return Object.entries(attributes).find(([name, text]) => {
    const { render } = table.get(name)!;
    return render(queue, undefined) !== render({ ...queue, ...parseOne(name, text, queue) }, undefined);
  })?.[0];
}

/** The names that a request means: `All` is each of them. Errors: InvalidAttributeName. */
export function expandNames(names: readonly string[]): readonly string[] {
  for (const name of names) if (name !== "All" && !table.has(name)) throw unknownAttribute(name);
  return names.includes("All") ? [...table.keys()] : names;
}

export const needsCounts = (names: readonly string[]): boolean => names.some(isCount);

/** The texts of those attributes that the queue has. */
export function renderAttributes(
  queue: QueueRecord,
  names: readonly string[],
  counts: QueueCounts | undefined,
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of names) {
    const { fifoOnly, render } = table.get(name)!;
    const text = fifoOnly && !queue.fifo ? undefined : render(queue, counts);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}
