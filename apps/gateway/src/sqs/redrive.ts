// Who may be whose dead-letter queue: RedrivePolicy of the source, RedriveAllowPolicy of the dead-letter queue.
// Source: Developer Guide, sqs-configure-dead-letter-queue-redrive.
import type { Catalog, QueueRecord, QueueSettings } from "tuntas/queue";
import { isStorable } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { arnOf, isFifoName, parseArn } from "./address.ts";
import type { QueueShape } from "./attributes.ts";
import { invalid, sqsError } from "./errors.ts";

const receivesMax = 1000;
const sourcesMax = 10;
const policyBytesMax = 8192;

const malformed = (name: string, reason: string): WireError =>
  sqsError("invalidAttributeValue", `Invalid value for the parameter ${name}. Reason: ${reason}`);

/** What the text says, where it is a JSON object. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const hasOnly = (value: object, members: readonly string[]): boolean =>
  Object.keys(value).every((name) => members.includes(name));

const redriveMembers = ["maxReceiveCount", "deadLetterTargetArn"];

/** Why a value is no count of receives; undefined where it is one, or its text. */
function objectionToCount(value: unknown): string | undefined {
  const count = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= receivesMax) return undefined;
  const given = typeof value === "string" ? value : JSON.stringify(value);
  return `Invalid value for maxReceiveCount: ${given}, valid values are from 1 to ${receivesMax} both inclusive.`;
}

/** Why a value is not the ARN of a queue of the source's account, region and type; undefined where it is. */
function objectionToTarget(value: unknown, source: QueueShape): string | undefined {
  const target = typeof value === "string" ? parseArn(value) : undefined;
  if (target) {
    const { account, region } = target.scope;
    if (account !== source.account || region !== source.region)
      return "Dead-letter queue must be in the same account and region as the source.";
    if (isFifoName(target.name) === source.fifo) return undefined;
    return "Dead-letter queue must be same type of queue as the source.";
  }
  const [, service] = /^arn:[^:]+:([^:]+):/.exec(String(value)) ?? [];
  return service === undefined || service === "sqs"
    ? "Invalid value for deadLetterTargetArn."
    : "Only SQS queues are valid resources for deadLetterTargetArn.";
}

/** The settings of a RedrivePolicy; whether the queue it names may be used is `checkDeadLetter`'s question. */
export function parseRedrivePolicy(text: string, name: string, source: QueueShape): QueueSettings {
  if (text === "") return { deadLetterName: null, receivesMax: null };
  const policy = parseObject(text);
  if (!policy) throw malformed(name, "Redrive policy is not a valid JSON map.");
  if (!hasOnly(policy, redriveMembers))
    throw invalid(text, name, `Only following attributes are supported: [${redriveMembers.join(", ")}].`);
  const absent = redriveMembers.find((member) => (policy[member] ?? null) === null);
  if (absent) throw invalid(text, name, `Redrive policy does not contain mandatory attribute: ${absent}.`);
  const { deadLetterTargetArn, maxReceiveCount } = policy;
  const reason = objectionToCount(maxReceiveCount) ?? objectionToTarget(deadLetterTargetArn, source);
  if (reason !== undefined) throw invalid(text, name, reason);
  return {
    deadLetterName: parseArn(deadLetterTargetArn as string)!.name,
    receivesMax: Number(maxReceiveCount),
  };
}

export function renderRedrivePolicy(queue: QueueRecord): string | undefined {
  if (queue.deadLetterName === null) return undefined;
  const deadLetterTargetArn = arnOf(queue, queue.deadLetterName);
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount: queue.receivesMax });
}

interface AllowPolicy {
  readonly redrivePermission: string;
  readonly sourceQueueArns?: readonly string[];
}

const permissions = ["allowAll", "denyAll", "byQueue"];

function isAllowPolicy(value: object | undefined): value is AllowPolicy {
  if (!value || !hasOnly(value, ["redrivePermission", "sourceQueueArns"])) return false;
  const { redrivePermission, sourceQueueArns: arns = [] } = value as { [M in keyof AllowPolicy]?: unknown };
  const areArns =
    Array.isArray(arns) && arns.every((arn) => typeof arn === "string" && parseArn(arn) !== undefined);
  return areArns && permissions.includes(redrivePermission as string);
}

/** What does not fit together in a policy that is one. */
function contradiction({ redrivePermission, sourceQueueArns }: AllowPolicy): string | undefined {
  if (redrivePermission !== "byQueue")
    return (
      sourceQueueArns &&
      "To specify one or more source queue ARNs, you must set redrivePermission to byQueue."
    );
  if (!sourceQueueArns?.length)
    return "When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values.";
  return sourceQueueArns.length > sourcesMax
    ? `The maximum number of source queue ARNs you can specify is ${sourcesMax}.`
    : undefined;
}

export function parseRedriveAllowPolicy(text: string, name: string): QueueSettings {
  if (text === "") return { redriveAllowPolicy: null };
  const cannot = "Amazon SQS can't create the redrive allow policy";
  const policy =
    Buffer.byteLength(text) <= policyBytesMax && isStorable(text) ? parseObject(text) : undefined;
  if (!isAllowPolicy(policy)) throw malformed(name, `${cannot}, as it’s in an unsupported format.`);
  const reason = contradiction(policy);
  if (reason !== undefined) throw invalid(text, name, `${cannot}. ${reason}`);
  return { redriveAllowPolicy: text };
}

function allows(deadLetter: QueueRecord, sourceArn: string): boolean {
  if (deadLetter.redriveAllowPolicy === null) return true;
  const { redrivePermission, sourceQueueArns } = JSON.parse(deadLetter.redriveAllowPolicy) as AllowPolicy;
  if (redrivePermission === "byQueue") return sourceQueueArns!.includes(sourceArn);
  return redrivePermission === "allowAll";
}

/** Why the queue may not have the other as its dead-letter queue; undefined where it may. */
function objection(source: QueueShape, deadLetter: QueueRecord | undefined): string | undefined {
  if (!deadLetter) return "Dead letter target does not exist.";
  if (deadLetter.name === source.name) return "A queue cannot be its own dead-letter queue.";
  if (!allows(deadLetter, arnOf(source, source.name)))
    return "The dead-letter queue's RedriveAllowPolicy does not allow this source.";
  return undefined;
}

/** Refuses a RedrivePolicy whose queue is not there, the source itself, or does not allow it. */
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
