// The operations on queues themselves: created, found, listed, configured, purged, deleted.
import type { QueueRecord, Scope } from "tuntas/queue";
import type { ValueOf } from "../shape.ts";
import type { Call, Rooms, WireError } from "../wire.ts";
import { isFifoName, isQueueName, queueUrl, findQueue } from "./address.ts";
import {
  checkTogether,
  expandNames,
  findDifference,
  needsCounts,
  parseSettings,
  renderAttributes,
  type QueueShape,
} from "./attributes.ts";
import { bounded, invalid, missing, queueMissing, sqsError } from "./errors.ts";
import { checkDeadLetter } from "./redrive.ts";
import type { shapes } from "./shapes.ts";
import { checkTags } from "./tags.ts";

type Input<Name extends keyof typeof shapes> = ValueOf<(typeof shapes)[Name]>;

const nameRule = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length";
const listMax = 1000;

const nameMissing = (): WireError => invalid(undefined, "QueueName", "Must specify a queue name.");

/** A FIFO queue has both the suffix and the attribute, a standard queue neither. */
function checkName(name: string, fifoText: string | undefined): void {
  const fifo = fifoText?.toLowerCase() === "true";
  if (fifo && !isFifoName(name)) {
    throw invalid(
      name,
      "QueueName",
      "The name of a FIFO queue must end with the .fifo suffix and be 1 to 80 in length.",
    );
  }
  if (!isQueueName(name) || (isFifoName(name) && !fifo)) throw invalid(name, "QueueName", nameRule);
}

function refuseDifferent(attributes: Readonly<Record<string, string>>, existing: QueueRecord): void {
  const different = findDifference(attributes, existing);
  if (different === undefined) return;
  throw sqsError(
    "queueNameExists",
    `A queue already exists with the same name and a different value for attribute ${different}`,
  );
}

export async function createQueue({ queues }: Rooms, call: Call, input: Input<"createQueue">) {
  const { QueueName: name } = input;
  if (name === undefined) throw nameMissing();
  if (name === "") throw sqsError("invalidParameterValue", "Queue name cannot be empty");
  const attributes = input.Attributes ?? {};
  checkName(name, attributes.FifoQueue);
  if (input.tags) checkTags(name, input.tags);
  const shape: QueueShape = { ...call.scope, name, fifo: isFifoName(name) };
  const settings = parseSettings(attributes, shape);
  checkTogether(settings);
  await checkDeadLetter(queues.catalog, shape, settings, attributes.RedrivePolicy);
  const { status, queue } = await queues.catalog.create(call.scope, name, settings);
  if (status === "exists") refuseDifferent(attributes, queue);
  else if (input.tags && Object.keys(input.tags).length > 0) await queues.catalog.tag(queue, input.tags);
  return { QueueUrl: queueUrl(call, queue) };
}

export async function deleteQueue({ queues }: Rooms, call: Call, input: Input<"queueUrl">) {
  await queues.catalog.delete(await findQueue(queues.catalog, call, input.QueueUrl));
}

export async function getQueueUrl({ queues }: Rooms, call: Call, input: Input<"getQueueUrl">) {
  const { QueueName: name } = input;
  if (!name) throw nameMissing();
  const account = input.QueueOwnerAWSAccountId || call.scope.account;
  const scope: Scope = { account, region: call.scope.region };
  const queue =
    isQueueName(name) && /^\d{12}$/.test(account) ? await queues.catalog.find(scope, name) : undefined;
  if (!queue) throw queueMissing();
  return { QueueUrl: queueUrl(call, queue) };
}

const encodeToken = (name: string): string => Buffer.from(name).toString("base64url");

function decodeToken(token: string | undefined): string {
  if (!token) return "";
  const name = Buffer.from(token, "base64url").toString();
  if (!isQueueName(name)) throw invalid(token, "NextToken", "The token is not one that was issued here.");
  return name;
}

/** Reads one row more than asked for, to know whether there is a next page. */
async function readPage(
  { MaxResults, NextToken }: { MaxResults?: number | undefined; NextToken?: string | undefined },
  read: (after: string, limit: number) => Promise<QueueRecord[]>,
): Promise<{ queues: QueueRecord[]; NextToken: string | undefined }> {
  const tooMany = () =>
    invalid(undefined, "MaxResults", `MaxResults must be an integer between 1 and ${listMax}.`);
  const limit = bounded(MaxResults, [1, listMax], tooMany) ?? listMax;
  const rows = await read(decodeToken(NextToken), limit + 1);
  const queues = rows.slice(0, limit);
  // Without MaxResults a client does not expect a token (API_ListQueues).
  const more = rows.length > limit && MaxResults !== undefined;
  return { queues, NextToken: more ? encodeToken(queues.at(-1)!.name) : undefined };
}

export async function listQueues({ queues: { catalog } }: Rooms, call: Call, input: Input<"listQueues">) {
  const prefix = input.QueueNamePrefix ?? "";
  if (prefix !== "" && !/^[A-Za-z0-9_.-]{1,80}$/.test(prefix))
    throw invalid(prefix, "QueueNamePrefix", nameRule);
  const { queues, NextToken } = await readPage(input, (after, limit) =>
    catalog.list(call.scope, { prefix, after, limit }),
  );
  if (queues.length === 0) return {};
  return { QueueUrls: queues.map((queue) => queueUrl(call, queue)), NextToken };
}

export async function listDeadLetterSourceQueues(
  { queues: { catalog } }: Rooms,
  call: Call,
  input: Input<"listSources">,
) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const { queues, NextToken } = await readPage(input, (after, limit) =>
    catalog.sources(queue, { after, limit }),
  );
  return { queueUrls: queues.map((source) => queueUrl(call, source)), NextToken };
}

export async function getQueueAttributes(
  { queues: { catalog } }: Rooms,
  call: Call,
  input: Input<"getAttributes">,
) {
  const known = await findQueue(catalog, call, input.QueueUrl);
  const names = expandNames(input.AttributeNames ?? []);
  if (names.length === 0) return {};
  // What another process has just changed is not in this one's cache yet.
  const [queue] = await catalog.byId([known.id]);
  if (!queue) throw queueMissing();
  const counts = needsCounts(names) ? await catalog.count(queue) : undefined;
  const texts = renderAttributes(queue, names, counts);
  return Object.keys(texts).length > 0 ? { Attributes: texts } : {};
}

export async function setQueueAttributes(
  { queues: { catalog } }: Rooms,
  call: Call,
  input: Input<"setAttributes">,
) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  const attributes = input.Attributes ?? {};
  if (Object.keys(attributes).length === 0) throw missing("Attribute.Name");
  const settings = parseSettings(attributes, queue);
  await checkDeadLetter(catalog, queue, settings, attributes.RedrivePolicy);
  await catalog.amend(queue, (current) => {
    checkTogether({ ...current, ...settings });
    return settings;
  });
}

export async function purgeQueue({ queues: { catalog } }: Rooms, call: Call, input: Input<"queueUrl">) {
  const queue = await findQueue(catalog, call, input.QueueUrl);
  if (await catalog.purge(queue)) return;
  throw sqsError(
    "purgeQueueInProgress",
    `Only one PurgeQueue operation on ${queue.name} is allowed every 60 seconds.`,
  );
}
