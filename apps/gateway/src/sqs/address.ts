// How a queue is named on the wire: by its URL (or its bare name), and by its ARN.
import type { Catalog, QueueRecord, Scope } from "tuntas/queue";
import type { Call, Subject } from "../wire.ts";
import { missing, queueMissing, sqsError } from "./errors.ts";

interface Address {
  readonly scope: Scope;
  readonly name: string;
}

const nameForm = /^[A-Za-z0-9_-]{1,80}$/;
const accountForm = /^\d{12}$/;
const fifoSuffix = ".fifo";

export const isFifoName = (name: string): boolean => name.endsWith(fifoSuffix);

/** 1 to 80 letters, digits, hyphens and underscores; FIFO names end with `.fifo`, which counts. */
export const isQueueName = (name: string): boolean =>
  name.length <= 80 && nameForm.test(isFifoName(name) ? name.slice(0, -fifoSuffix.length) : name);

export const queueUrl = ({ origin }: Call, queue: QueueRecord): string =>
  `${origin}/${queue.account}/${queue.name}`;

export const arnOf = ({ account, region }: Scope, name: string): string =>
  `arn:aws:sqs:${region}:${account}:${name}`;

export const queueArn = (queue: QueueRecord): string => arnOf(queue, queue.name);

/** The last two segments of a URL or path are account and name; a text without a slash is a name. */
export function readUrl(url: string): Subject | undefined {
  const nameAt = url.lastIndexOf("/") + 1;
  const name = url.slice(nameAt);
  if (!isQueueName(name)) return undefined;
  if (nameAt === 0) return { name };
  const account = url.slice(url.lastIndexOf("/", nameAt - 2) + 1, nameAt - 1);
  return accountForm.test(account) ? { name, account } : undefined;
}

const arnForm = /^arn:aws[a-z-]*:sqs:([a-z0-9-]{1,32}):(\d{12}):([A-Za-z0-9_.-]{1,80})$/;

export function parseArn(arn: string): Address | undefined {
  const [, region, account, name] = arnForm.exec(arn) ?? [];
  if (region === undefined || account === undefined || name === undefined || !isQueueName(name))
    return undefined;
  return { scope: { account, region }, name };
}

/** Whether the path of a request is that of a queue. */
export const isQueuePath = (path: string): boolean => /^\/(?:queue\/)?\d{12}\/[^/]+\/?$/.test(path);

/** The queue that a request means. Errors: MissingParameter, InvalidAddress, QueueDoesNotExist. */
export async function findQueue(catalog: Catalog, call: Call, url: string | undefined): Promise<QueueRecord> {
  const wanted = url || (isQueuePath(call.path) ? call.path : undefined);
  if (wanted === undefined) throw missing("QueueUrl");
  const named = readUrl(wanted);
  if (!named && wanted.includes("://")) {
    throw sqsError("invalidAddress", `The address ${wanted} is not valid for this endpoint.`);
  }
  const { account = call.scope.account, name } = named ?? {};
  const queue = name && (await catalog.find({ account, region: call.scope.region }, name));
  if (!queue) throw queueMissing();
  return queue;
}

/** The queue of an ARN within the caller's region and the ARN's account, or undefined. */
export async function findByArn(
  catalog: Catalog,
  caller: Scope,
  arn: string,
): Promise<QueueRecord | undefined> {
  const address = parseArn(arn);
  if (!address || address.scope.region !== caller.region) return undefined;
  return catalog.find(address.scope, address.name);
}
