// How a declared queue is as SQS's attributes, and in what a queue that is there differs from its declaration; pure.
import type { QueueDefinition } from "tuntas";
import { toSeconds, type Wanted } from "tuntas/queue/remote";

export type Attributes = Readonly<Record<string, string>>;

/** One thing in which they differ. */
export interface Difference {
  readonly setting: string;
  readonly expected: string;
  readonly got: string;
}

const defaultVisibilitySeconds = 30;

const timeoutSecondsOf = (timeoutMs: number | undefined): number => Math.ceil((timeoutMs ?? 0) / 1000);

/** What the declaration says of the queue; what it leaves open stands in no attribute. */
function declaredOf({ name, options }: QueueDefinition<any>): Attributes {
  const { visibilityTimeout, delay, retention, contentDeduplication } = options;
  return {
    ...(name.endsWith(".fifo") && { FifoQueue: "true" }),
    ...(visibilityTimeout !== undefined && { VisibilityTimeout: String(toSeconds(visibilityTimeout)) }),
    ...(delay !== undefined && { DelaySeconds: String(toSeconds(delay)) }),
    ...(retention !== undefined && { MessageRetentionPeriod: String(toSeconds(retention)) }),
    ...(contentDeduplication !== undefined && { ContentBasedDeduplication: String(contentDeduplication) }),
  };
}

/** What the queue is made with. Whoever receives without a worker's extensions has the time of a handler, too. */
export function attributesFor({ queue, timeoutMs }: Wanted, deadLetterArn: string): Attributes {
  const declared = declaredOf(queue);
  const visibility = Math.max(defaultVisibilitySeconds, timeoutSecondsOf(timeoutMs));
  return {
    VisibilityTimeout: String(visibility),
    ...declared,
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: deadLetterArn,
      maxReceiveCount: queue.options.deadLetter.after,
    }),
  };
}

export const deadLetterAttributesFor = ({ queue }: Wanted): Attributes => ({
  ...(queue.name.endsWith(".fifo") && { FifoQueue: "true" }),
  MessageRetentionPeriod: String(toSeconds(queue.options.deadLetter.retention)),
});

interface Redrive {
  readonly deadLetterTargetArn?: string;
  readonly maxReceiveCount?: number | string;
}

/** The redrive policy; SQS answers the count as a number or as text. */
export const redriveOf = ({ RedrivePolicy }: Attributes): Redrive | undefined =>
  RedrivePolicy === undefined || RedrivePolicy === "" ? undefined : (JSON.parse(RedrivePolicy) as Redrive);

function redriveDifferences({ options }: QueueDefinition<any>, attributes: Attributes): Difference[] {
  const { after } = options.deadLetter;
  const setting = "RedrivePolicy";
  const redrive = redriveOf(attributes);
  if (!redrive) return [{ setting, expected: `a dead-letter queue after ${after} receives`, got: "none" }];
  return Number(redrive.maxReceiveCount) === after
    ? []
    : [{ setting, expected: `maxReceiveCount ${after}`, got: String(redrive.maxReceiveCount) }];
}

function visibilityDifferences({ timeoutMs }: Wanted, { VisibilityTimeout }: Attributes): Difference[] {
  const least = timeoutSecondsOf(timeoutMs);
  return Number(VisibilityTimeout) >= least
    ? []
    : [
        {
          setting: "VisibilityTimeout",
          expected: `at least ${least}, the handler's timeout`,
          got: String(VisibilityTimeout),
        },
      ];
}

/** In what the queue that is there is not what code declares; its other settings are its maker's. */
export function differences(wanted: Wanted, attributes: Attributes): Difference[] {
  const declared = Object.entries(declaredOf(wanted.queue));
  const fifo = attributes.FifoQueue ?? "false";
  const found: Attributes = { ContentBasedDeduplication: "false", ...attributes, FifoQueue: fifo };
  return [
    ...declared
      .filter(([setting, expected]) => found[setting] !== expected)
      .map(([setting, expected]) => ({ setting, expected, got: found[setting] ?? "none" })),
    ...visibilityDifferences(wanted, attributes),
    ...redriveDifferences(wanted.queue, attributes),
  ];
}
