// Finding the queues that code declares. Making them is the business of whoever makes the rest of the system (CDK, say);
// so by default a queue that is missing or differs is refused, with all that differs, before anything is received.
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { queueErrors } from "tuntas/queue";
import { deadLetterNameOf, type Wanted } from "tuntas/queue/remote";
import { coded } from "./client.ts";
import { attributesFor, deadLetterAttributesFor, differences, redriveOf, type Attributes } from "./state.ts";

export interface Found {
  readonly url: string;
  readonly deadLetterUrl: string | undefined;
}

const isMissing = (cause: unknown): boolean =>
  /QueueDoesNotExist|NonExistentQueue/.test(String((cause as { name?: unknown }).name));

async function urlOf(client: SQSClient, name: string, account?: string): Promise<string | undefined> {
  try {
    const command = new GetQueueUrlCommand({ QueueName: name, QueueOwnerAWSAccountId: account });
    return (await client.send(command)).QueueUrl;
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw coded(cause, `look up the queue ${name}`);
  }
}

async function attributesOf(client: SQSClient, url: string): Promise<Attributes> {
  try {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] });
    return (await client.send(command)).Attributes ?? {};
  } catch (cause) {
    throw coded(cause, `read the attributes of ${url}`);
  }
}

async function make(client: SQSClient, name: string, attributes: Attributes): Promise<string> {
  try {
    const command = new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } });
    return (await client.send(command)).QueueUrl!;
  } catch (cause) {
    throw coded(cause, `create the queue ${name}`);
  }
}

async function makeBoth(client: SQSClient, wanted: Wanted): Promise<string> {
  const { name } = wanted.queue;
  const deadLetters = deadLetterNameOf(name);
  const deadLetterUrl =
    (await urlOf(client, deadLetters)) ?? (await make(client, deadLetters, deadLetterAttributesFor(wanted)));
  const { QueueArn } = await attributesOf(client, deadLetterUrl);
  return make(client, name, attributesFor(wanted, QueueArn!));
}

const missing = (name: string): Error =>
  queueErrors.error("TUNTAS_QUEUE_MISSING", `Amazon SQS has no queue ${name} in this account and region`, {
    details: { queue: name },
  });

function checkSame(wanted: Wanted, attributes: Attributes): void {
  const found = differences(wanted, attributes);
  if (found.length === 0) return;
  const { name } = wanted.queue;
  const list = found.map(({ setting, expected, got }) => `${setting}: expected ${expected}, got ${got}`);
  throw queueErrors.error("TUNTAS_QUEUE_DIFFERS", `queue ${name} of Amazon SQS: ${list.join("; ")}`, {
    details: { queue: name, differences: found },
  });
}

/** The name and the account in `arn:aws:sqs:REGION:ACCOUNT:NAME`. */
function partsOf(arn: string): { name: string; account: string } {
  const [account = "", name = ""] = arn.split(":").slice(-2);
  return { name, account };
}

/** Finds a declared queue; with `create` makes one that is missing. Errors: TUNTAS_QUEUE_MISSING, TUNTAS_QUEUE_DIFFERS. */
export async function findQueue(client: SQSClient, wanted: Wanted, create: boolean): Promise<Found> {
  const { name } = wanted.queue;
  const url = (await urlOf(client, name)) ?? (create ? await makeBoth(client, wanted) : undefined);
  if (url === undefined) throw missing(name);
  const attributes = await attributesOf(client, url);
  checkSame(wanted, attributes);
  const arn = redriveOf(attributes)?.deadLetterTargetArn;
  const deadLetters = arn === undefined ? undefined : partsOf(arn);
  const deadLetterUrl =
    deadLetters &&
    // Where its account lets nobody look, its messages are not counted.
    (await urlOf(client, deadLetters.name, deadLetters.account).catch(() => undefined));
  return { url, deadLetterUrl };
}
