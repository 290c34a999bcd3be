// Where a schedule's work goes, as its Target says it: a queue, a state machine, or one of the two by a universal target,
// whose Input is the request that AWS would make. What is not carried out here is refused, not forgotten.
import { defaultScope, type Scope } from "tuntas/queue";
import type { Arrangement } from "tuntas/schedule";
import { parseMachineArn } from "tuntas/workflow";
import { decodeJson } from "../protocol/json.ts";
import type { Structure, ValueOf } from "../shape.ts";
import { arnOf, isFifoName, parseArn, readUrl } from "../sqs/address.ts";
import { checkAttributes } from "../sqs/message-attributes.ts";
import { WireError } from "../wire.ts";
import { invalid } from "./errors.ts";
import { shapes } from "./shapes.ts";

export type Target = ValueOf<typeof shapes.schedule>["Target"];

export type Destined = Pick<Arrangement, "target" | "input" | "extras">;

/** What may be said beside the input, or be left out. */
type Extras = { readonly [Member in keyof Destined["extras"]]?: Destined["extras"][Member] | undefined };

const present = (extras: Extras): Destined["extras"] =>
  Object.fromEntries(Object.entries(extras).filter(([, value]) => value !== undefined));

const isDefault = ({ account, region }: Scope): boolean =>
  account === defaultScope.account && region === defaultScope.region;

/** What EventBridge Scheduler sends where a schedule has no input. */
const defaultInput = ({ account, region }: Scope): string =>
  JSON.stringify({
    version: "0",
    id: "<aws.scheduler.execution-id>",
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account,
    time: "<aws.scheduler.scheduled-time>",
    region,
    resources: ["<aws.scheduler.schedule-arn>"],
    detail: "{}",
  });

/** A queue of the default account goes by its name, as one that code declares does. */
function toQueue(arn: string, input: string, extras: Extras): Destined | undefined {
  const address = parseArn(arn);
  if (!address) return undefined;
  if (isFifoName(address.name) && extras.group === undefined)
    throw invalid("A FIFO queue as a target needs a MessageGroupId.");
  const name = isDefault(address.scope) ? address.name : arn;
  return { target: { kind: "queue", name }, input, extras: present(extras) };
}

function toMachine(arn: string, input: string, extras: Extras): Destined | undefined {
  const machine = parseMachineArn(arn);
  if (!machine) return undefined;
  try {
    JSON.parse(input.replaceAll(/<aws\.scheduler\.[a-z-]+>/g, "1"));
  } catch {
    throw invalid("The Input for a state machine must be JSON.");
  }
  const isPlain = isDefault(machine.scope) && machine.qualifier === undefined;
  return {
    target: { kind: "workflow", name: isPlain ? machine.name : arn },
    input,
    extras: present(extras),
  };
}

/** What is wrong with a request of another service is wrong with this one. */
function within<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw cause instanceof WireError ? invalid(`The Input of the target: ${cause.message}`) : cause;
  }
}

/** The request that a universal target makes. */
function requestOf(shape: Structure, { Input = "" }: Target): object {
  const request = within(() => decodeJson(shape, Buffer.from(Input)));
  const given = Object.keys(JSON.parse(Input || "{}") as object);
  const unknown = given.filter((member) => !Object.hasOwn(shape.members, member));
  if (unknown.length === 0) return request;
  throw invalid(`The Input of the target has what is not carried out here: ${unknown.join(", ")}.`);
}

function sendMessage(target: Target, scope: Scope): Destined | undefined {
  const given = requestOf(shapes.sendMessage, target) as ValueOf<typeof shapes.sendMessage>;
  const { QueueUrl = "", MessageBody, MessageAttributes } = given;
  const queue = readUrl(QueueUrl);
  if (!queue || MessageBody === undefined)
    throw invalid("The Input of the target needs a QueueUrl and a MessageBody.");
  if (MessageAttributes !== undefined) within(() => checkAttributes(MessageAttributes));
  const owner = { account: queue.account ?? scope.account, region: scope.region };
  return toQueue(arnOf(owner, queue.name), MessageBody, {
    group: given.MessageGroupId,
    key: given.MessageDeduplicationId,
    delaySeconds: given.DelaySeconds,
    attributes: MessageAttributes as Extras["attributes"],
  });
}

function startExecution(target: Target): Destined | undefined {
  const given = requestOf(shapes.startExecution, target) as ValueOf<typeof shapes.startExecution>;
  const { StateMachineArn = "", Input = "{}", Name } = given;
  return toMachine(StateMachineArn, Input, { key: Name });
}

const universal: Readonly<Record<string, (target: Target, scope: Scope) => Destined | undefined>> = {
  "sqs:sendMessage": sendMessage,
  "sfn:startExecution": startExecution,
};

const foreign = [
  "EcsParameters",
  "EventBridgeParameters",
  "KinesisParameters",
  "SageMakerPipelineParameters",
] as const;

/** Errors: ValidationException for what is no target, or none that is carried out here. */
export function readTarget(target: Target, scope: Scope): Destined {
  const { Arn, Input = defaultInput(scope), SqsParameters } = target;
  const call = /^arn:aws(?:-[a-z]+)?:scheduler:::aws-sdk:(.+)$/.exec(Arn)?.[1];
  const found =
    call !== undefined
      ? universal[call]?.(target, scope)
      : (toQueue(Arn, Input, { group: SqsParameters?.MessageGroupId }) ?? toMachine(Arn, Input, {}));
  const unused = foreign.filter((member) => target[member] !== undefined);
  if (found && unused.length > 0)
    throw invalid(`The target ${Arn} takes no ${unused.join(", ")}: they are for targets of other services.`);
  if (found) return found;
  if (!Arn.startsWith("arn:")) throw invalid("Provided Arn is not in correct format.");
  throw invalid(
    `The target ${Arn} is not carried out here; a queue, a state machine, aws-sdk:sqs:sendMessage and aws-sdk:sfn:startExecution are.`,
  );
}
