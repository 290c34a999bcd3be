// What stands for AWS: the gateway, to which a template is deployed resource by resource, by the AWS SDK, as CloudFormation
// does it. So what a service would refuse of a template is refused here.
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { CreateStateMachineCommand, SFNClient } from "@aws-sdk/client-sfn";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { credentials } from "../conformance/sqs.fixture.ts";
import type { Resource, Template } from "./stacks.fixture.ts";

const account = "000000000000";
const region = "us-east-1";

export interface Cloud extends AsyncDisposable {
  readonly kit: TestPlatform;
  readonly url: string;
  readonly sqs: SQSClient;
  readonly machines: SFNClient;
  readonly scheduler: SchedulerClient;
  deploy(template: Template): Promise<void>;
}

/** What CloudFormation answers for a resource's attributes and its Ref. */
function attributesOf(id: string, { Type, Properties }: Resource, url: string): Record<string, string> {
  if (Type === "AWS::SQS::Queue") {
    const name = Properties.QueueName as string;
    const address = `${url}/${account}/${name}`;
    return { Arn: `arn:aws:sqs:${region}:${account}:${name}`, QueueUrl: address, Ref: address };
  }
  if (Type === "AWS::StepFunctions::StateMachine") {
    const arn = `arn:aws:states:${region}:${account}:stateMachine:${Properties.StateMachineName}`;
    return { Arn: arn, Ref: arn };
  }
  return { Arn: `arn:aws:iam::${account}:role/${id}`, Ref: id };
}

const pseudo: Readonly<Record<string, string>> = {
  "AWS::Partition": "aws",
  "AWS::Region": region,
  "AWS::AccountId": account,
};

/** The value with its functions carried out. */
function filledIn(value: unknown, { Resources }: Template, url: string): any {
  const again = (inner: unknown): any => filledIn(inner, { Resources }, url);
  const of = (id: string, attribute: string) => attributesOf(id, Resources[id]!, url)[attribute];
  if (Array.isArray(value)) return value.map(again);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [[name, given] = []] = entries;
  if (entries.length === 1 && name === "Ref") return pseudo[given] ?? of(given, "Ref");
  if (entries.length === 1 && name === "Fn::GetAtt") return of(given[0], given[1]);
  if (entries.length === 1 && name === "Fn::Join") return again(given[1]).join(given[0]);
  return Object.fromEntries(entries.map(([key, inner]) => [key, again(inner)]));
}

const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

async function makeQueue(
  client: SQSClient,
  { QueueName, Tags = [], ...rest }: Record<string, any>,
): Promise<void> {
  const attributes = Object.entries(rest).map(([name, value]) => [name, textOf(value)]);
  const tags = Object.fromEntries(Tags.map(({ Key, Value }: Record<string, string>) => [Key, Value]));
  await client.send(new CreateQueueCommand({ QueueName, Attributes: Object.fromEntries(attributes), tags }));
}

async function makeMachine(client: SFNClient, given: Record<string, any>): Promise<void> {
  const {
    DefinitionSubstitutions = {},
    DefinitionString,
    StateMachineName,
    StateMachineType,
    RoleArn,
  } = given;
  const definition = Object.entries(DefinitionSubstitutions).reduce(
    (text, [name, value]) => text.replaceAll(`\${${name}}`, String(value)),
    DefinitionString as string,
  );
  await client.send(
    new CreateStateMachineCommand({
      name: StateMachineName,
      definition,
      type: StateMachineType,
      roleArn: RoleArn,
    }),
  );
}

async function makeSchedule(client: SchedulerClient, given: Record<string, any>): Promise<void> {
  await client.send(new CreateScheduleCommand(given as never));
}

export async function openCloud(): Promise<Cloud> {
  const kit = await testPlatform();
  const gateway = await startGateway({ platform: kit.platform, port: 0 });
  const endpoint = `http://127.0.0.1:${gateway.port}`;
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL: endpoint });
  const [sqs, machines, scheduler] = [new SQSClient({}), new SFNClient({}), new SchedulerClient({})];
  const makers: readonly (readonly [string, (properties: Record<string, any>) => Promise<void>])[] = [
    ["AWS::SQS::Queue", (properties) => makeQueue(sqs, properties)],
    ["AWS::StepFunctions::StateMachine", (properties) => makeMachine(machines, properties)],
    ["AWS::Scheduler::Schedule", (properties) => makeSchedule(scheduler, properties)],
  ];
  return {
    kit,
    url: endpoint,
    sqs,
    machines,
    scheduler,
    async deploy(template) {
      const resources = Object.values(template.Resources);
      // Dead-letter queues, which others name, come before those.
      const ordered = resources.toSorted(
        (a, b) =>
          Number("RedrivePolicy" in (a.Properties ?? {})) - Number("RedrivePolicy" in (b.Properties ?? {})),
      );
      for (const [type, make] of makers)
        for (const { Properties } of ordered.filter(({ Type }) => Type === type))
          await make(filledIn(Properties, template, endpoint));
    },
    async [Symbol.asyncDispose]() {
      for (const client of [sqs, machines, scheduler]) client.destroy();
      await gateway.close();
      await kit[Symbol.asyncDispose]();
    },
  };
}
