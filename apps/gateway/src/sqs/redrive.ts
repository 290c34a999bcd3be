// Who may be whose dead-letter queue: RedrivePolicy of the source, RedriveAllowPolicy of the dead-letter queue.
// Source: Developer Guide, sqs-configure-dead-letter-queue-redrive.
import type { Catalog, QueueRecord, QueueSettings } from "tuntas/queue";
import { isStorable } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { arnOf, parseArn } from "./address.ts";
import type { QueueShape } from "./attributes.ts";
import { invalid } from "./errors.ts";

const receivesMax = 1000;
const sourcesMax = 10;
const policyBytesMax = 8192;

const refuse = (text: string, name: string, reason: string): WireError => invalid(text, name, reason);

function parseObject(text: string, name: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw refuse(text, name, `${name} is not a valid JSON map.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseReceives(value: unknown): number | undefined {
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isInteger(count) ? (count as number) : undefined;
}

/** The settings of a RedrivePolicy; whether the queue it names may be used is `checkDeadLetter`'s question. */
export function parseRedrivePolicy(text: string, name: string, queue: QueueShape): QueueSettings {
  if (text === "") return { deadLetterName: null, receivesMax: null };
  const { deadLetterTargetArn, maxReceiveCount } = parseObject(text, name);
  for (const [part, value] of Object.entries({ deadLetterTargetArn, maxReceiveCount })) {
    if (value === undefined || value === null) {
      throw refuse(text, name, `Redrive policy does not contain mandatory attribute: ${part}.`);
    }
  }
  const receives = parseReceives(maxReceiveCount);
  if (receives === undefined || receives < 1 || receives > receivesMax) {
    const given = typeof maxReceiveCount === "string" ? maxReceiveCount : JSON.stringify(maxReceiveCount);
    throw refuse(
      text,
      name,
      `Invalid value for maxReceiveCount: ${given}, valid values are from 1 to ${receivesMax} both inclusive.`,
    );
  }
  const target = typeof deadLetterTargetArn === "string" ? parseArn(deadLetterTargetArn) : undefined;
  if (!target) throw refuse(text, name, "Invalid value for deadLetterTargetArn.");
  if (target.scope.account !== queue.account || target.scope.region !== queue.region) {
    throw refuse(text, name, "Dead-letter queue must be in the same account and region as the source.");
  }
  return { deadLetterName: target.name, receivesMax: receives };
}

export function renderRedrivePolicy(queue: QueueRecord): string | undefined {
  if (queue.deadLetterName === null) return undefined;
  const deadLetterTargetArn = arnOf(queue, queue.deadLetterName);
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount: queue.receivesMax });
}

interface AllowPolicy {
  readonly redrivePermission?: unknown;
  readonly sourceQueueArns?: unknown;
}

const isArnList = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= sourcesMax &&
  value.every((arn) => typeof arn === "string" && parseArn(arn) !== undefined);

export function parseRedriveAllowPolicy(text: string, name: string): QueueSettings {
  if (text === "") return { redriveAllowPolicy: null };
  if (Buffer.byteLength(text) > policyBytesMax)
    throw refuse(text.slice(0, 80), name, `${name} has at most ${policyBytesMax} bytes.`);
  const { redrivePermission, sourceQueueArns }: AllowPolicy = parseObject(text, name);
  if (!isStorable(text)) throw refuse("", name, `${name} has characters that cannot be stored.`);
  if (!["allowAll", "denyAll", "byQueue"].includes(redrivePermission as string)) {
    throw refuse(text, name, "redrivePermission must be allowAll, denyAll or byQueue.");
  }
  if (redrivePermission === "byQueue" ? !isArnList(sourceQueueArns) : sourceQueueArns !== undefined) {
    throw refuse(
      text,
      name,
      `sourceQueueArns are 1 to ${sourcesMax} queue ARNs, and given only with byQueue.`,
    );
  }
  return { redriveAllowPolicy: text };
}

function allows(deadLetter: QueueRecord, sourceArn: string): boolean {
  if (deadLetter.redriveAllowPolicy === null) return true;
  const { redrivePermission, sourceQueueArns } = parseJson(deadLetter.redriveAllowPolicy) as AllowPolicy;
  if (redrivePermission === "byQueue") return (sourceQueueArns as string[]).includes(sourceArn);
  return redrivePermission === "allowAll";
}

/** Why the queue may not have the other as its dead-letter queue; undefined where it may. */
function objection(source: QueueShape, deadLetter: QueueRecord | undefined): string | undefined {
  if (!deadLetter) return "Dead letter target does not exist.";
  if (deadLetter.fifo !== source.fifo) return "Dead-letter queue must be same type of queue as the source.";
  if (deadLetter.name === source.name) return "A queue cannot be its own dead-letter queue.";
  if (!allows(deadLetter, arnOf(source, source.name)))
    return "The dead-letter queue's RedriveAllowPolicy does not allow this source.";
  return undefined;
}

/** Refuses a RedrivePolicy whose queue is not there, of the other type, the source itself, or does not allow it. */
export async function checkDeadLetter(
  catalog: Catalog,
  source: QueueShape,
  { deadLetterName }: QueueSettings,
  policy: string | undefined,
): Promise<void> {
  if (deadLetterName === undefined || deadLetterName === null) return;
  const reason = objection(source, await catalog.find(source, deadLetterName));
  if (reason !== undefined) throw invalid(policy, "RedrivePolicy", reason);
}
