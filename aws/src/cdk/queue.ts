// A declared queue as a queue of SQS, with its dead-letter queue and what watches that.
import { ArnFormat, Stack, Tags } from "aws-cdk-lib";
import { CfnQueue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueDefinition } from "tuntas";
import { deadLetterNameOf, toSeconds, type Wanted } from "tuntas/queue/remote";
import { delaySecondsMax } from "../limits.ts";
import { attributesFor, deadLetterAttributesFor, differences, type Attributes } from "../state.ts";
import { responsibleOf, watchDeadLetters, type Responsible, type Watch } from "./alarms.ts";
import { checkWithin, unfit } from "./errors.ts";

export interface DeclaredQueueProps {
  readonly queue: QueueDefinition<any>;
  /** The longest that a handler of it may take, where the application has a worker of it. */
  readonly timeoutMs?: number | undefined;
  readonly watch: Watch;
}

/** SQS's attributes as CloudFormation's properties: the names are the same, the values have types. */
function propertiesOf(attributes: Attributes): Record<string, unknown> {
  const valueOf = (name: string, text: string): unknown => {
    if (name === "RedrivePolicy") return JSON.parse(text);
    return text === "true" || text === "false" ? text === "true" : Number(text);
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, text]) => [
      name[0]!.toLowerCase() + name.slice(1),
      valueOf(name, text),
    ]),
  );
}

const days14 = 14 * 86_400;
const bounds = {
  visibilityTimeout: { min: 0, max: 43_200, unit: "seconds" },
  delay: { min: 0, max: delaySecondsMax, unit: "seconds" },
  retention: { min: 60, max: days14, unit: "seconds" },
} as const;

/** Errors: TUNTAS_DEPLOY_UNSUPPORTED; TUNTAS_DEPLOY_OPTIONS where the application would refuse the queue when it starts. */
function check(wanted: Wanted, attributes: Attributes): void {
  const { name, options } = wanted.queue;
  const what = `queue ${name}`;
  for (const field of ["delay", "retention"] as const)
    if (options[field] !== undefined)
      checkWithin(`${what}: ${field}`, toSeconds(options[field]), bounds[field]);
  checkWithin(`${what}: visibilityTimeout`, Number(attributes.VisibilityTimeout), bounds.visibilityTimeout);
  checkWithin(`${what}: deadLetter.retention`, toSeconds(options.deadLetter.retention), bounds.retention);
  for (const { setting, expected, got } of differences(wanted, attributes))
    throw unfit(what, `${setting}: expected ${expected}, got ${got}`);
}

export const tagResponsible = (of: Construct, { owner, runbook }: Responsible): void => {
  Tags.of(of).add("tuntas:owner", owner);
  Tags.of(of).add("tuntas:runbook", runbook);
};

/** Errors: TUNTAS_DEPLOY_OPTIONS, TUNTAS_DEPLOY_UNSUPPORTED. */
export class DeclaredQueue extends Construct {
  readonly name: string;
  readonly arn: string;
  readonly deadLetterArn: string;
  readonly url: string;

  constructor(scope: Construct, id: string, { queue, timeoutMs, watch }: DeclaredQueueProps) {
    super(scope, id);
    const { deadLetter } = queue.options;
    const wanted = { queue, timeoutMs };
    this.name = queue.name;
    const deadLetters = new CfnQueue(this, "DeadLetters", {
      queueName: deadLetterNameOf(queue.name),
      ...propertiesOf(deadLetterAttributesFor(wanted)),
      sqsManagedSseEnabled: true,
      // By name: the queue itself waits for this one.
      redriveAllowPolicy: { redrivePermission: "byQueue", sourceQueueArns: [arnOf(this, queue.name)] },
    });
    const attributes = attributesFor(wanted, deadLetters.attrArn);
    check(wanted, attributes);
    const made = new CfnQueue(this, "Queue", {
      queueName: queue.name,
      ...propertiesOf(attributes),
      sqsManagedSseEnabled: true,
    });
    [this.arn, this.deadLetterArn, this.url] = [made.attrArn, deadLetters.attrArn, made.attrQueueUrl];
    tagResponsible(this, deadLetter);
    watchDeadLetters(deadLetters, watch, {
      name: deadLetterNameOf(queue.name),
      retentionSeconds: toSeconds(deadLetter.retention),
      ...responsibleOf(deadLetter),
    });
  }
}

const arnOf = (scope: Construct, resourceName: string): string =>
  Stack.of(scope).formatArn({
    service: "sqs",
    resource: resourceName,
    arnFormat: ArnFormat.NO_RESOURCE_NAME,
  });
