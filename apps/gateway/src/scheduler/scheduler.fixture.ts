// A gateway and clients of EventBridge Scheduler at it, as the tests of the service use them.
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { randomUUID } from "node:crypto";
import { startTestGateway, type TestGateway } from "../gateway.fixture.ts";

export const RoleArn = "arn:aws:iam::000000000000:role/any";
export const newName = (): string => `n-${randomUUID()}`;
export const arnOf = (queue: string): string => `arn:aws:sqs:us-east-1:000000000000:${queue}`;

/** The least that must be said, and more. */
export const asked = (more: Partial<CreateScheduleCommandInput> = {}): CreateScheduleCommandInput => ({
  Name: newName(),
  ScheduleExpression: "rate(1 day)",
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: { Arn: arnOf("somewhere"), RoleArn, Input: "in" },
  ...more,
});

export interface TestScheduler extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly client: SchedulerClient;
  clientOf(accessKeyId: string, region?: string): SchedulerClient;
  create(more?: Partial<CreateScheduleCommandInput>): Promise<CreateScheduleCommandInput>;
  get(name: string | undefined, group?: string): Promise<object>;
  remove(name: string | undefined): Promise<object>;
}

export async function startTestScheduler(): Promise<TestScheduler> {
  const gateway = await startTestGateway();
  const clients: SchedulerClient[] = [];
  const clientOf = (accessKeyId: string, region = "us-east-1"): SchedulerClient => {
    const credentials = { accessKeyId, secretAccessKey: "any" };
    const made = new SchedulerClient({ endpoint: gateway.url, region, credentials, maxAttempts: 1 });
    clients.push(made);
    return made;
  };
  const client = clientOf("test");
  return {
    gateway,
    client,
    clientOf,
    async create(more) {
      const input = asked(more);
      await client.send(new CreateScheduleCommand(input));
      return input;
    },
    get: (Name, GroupName) => client.send(new GetScheduleCommand({ Name, GroupName })),
    remove: (Name) => client.send(new DeleteScheduleCommand({ Name })),
    async [Symbol.asyncDispose]() {
      for (const each of clients) each.destroy();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** What a client is told of an error. */
export const refused = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ name, message, $metadata }) => ({ name, message, status: $metadata?.httpStatusCode }),
  );
