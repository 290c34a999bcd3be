// What EventBridge Scheduler's clients asked for is due: it is delivered to real queues and state machines, with the
// database's clock moved.
import {
  CreateScheduleCommand,
  DeleteScheduleCommand,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  arnOf,
  asked,
  newName,
  refused,
  RoleArn,
  startTestScheduler,
  type TestScheduler,
} from "./scheduler.fixture.ts";

const hour = 3_600_000;

let scheduler: TestScheduler;
let { gateway, client, clientOf, create, get, remove } = {} as TestScheduler;
beforeAll(async () => {
  scheduler = await startTestScheduler();
  ({ gateway, client, clientOf, create, get, remove } = scheduler);
});
afterAll(() => scheduler?.[Symbol.asyncDispose]());

async function messagesOf(queue: string): Promise<{ Body: string; Attributes?: object }[]> {
  const given = { QueueUrl: queue, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ["All"] };
  const { json } = await gateway.call("ReceiveMessage", { ...given, MessageAttributeNames: ["All"] });
  return json.Messages ?? [];
}

/** All that has come, once as many are there. */
async function delivered(queue: string, count: number) {
  const got: Awaited<ReturnType<typeof messagesOf>> = [];
  await expect.poll(async () => got.push(...(await messagesOf(queue)))).toBe(count);
  return got;
}

/** The local time so many ms from now, by the database's clock. */
async function timeIn(ms: number): Promise<string> {
  const { rows } = await gateway.kit.platform.database.transaction(({ client: sql }) =>
    sql.query(`select extract(epoch from ${gateway.kit.schema}.now()) * 1000 as ms`),
  );
  return new Date(Number(rows[0].ms) + ms).toISOString().slice(0, 19);
}

test("what is due goes to a queue, with the keywords filled in; once at a time, and then the schedule goes", async () => {
  const queue = newName();
  await gateway.createQueue(queue);
  const at = await timeIn(60_000);
  const { Name } = await create({
    ScheduleExpression: `at(${at})`,
    ActionAfterCompletion: "DELETE",
    Target: {
      Arn: arnOf(queue),
      RoleArn,
      Input:
        "<aws.scheduler.schedule-arn> <aws.scheduler.scheduled-time> <aws.scheduler.attempt-number> <aws.scheduler.execution-id> <other>",
    },
  });
  expect(await messagesOf(queue)).toEqual([]);
  await gateway.kit.advance(61_000);
  const [{ Body }] = (await delivered(queue, 1)) as [{ Body: string }];
  expect(Body).toMatch(
    new RegExp(
      `^arn:aws:scheduler:us-east-1:000000000000:schedule/default/${Name} ${at}Z 1 [0-9a-f-]{36} <other>$`,
    ),
  );
  expect(await refused(get(Name))).toMatchObject({ name: "ResourceNotFoundException" });
});

test("what is due goes to a FIFO queue of another account, in its group, and what is sent without an input", async () => {
  const other = clientOf("222233334444", "eu-west-1");
  const scoped = "AWS4-HMAC-SHA256 Credential=222233334444/20260101/eu-west-1/sqs/aws4_request";
  const headers = { authorization: scoped };
  const attributes = { FifoQueue: "true" };
  const made = await gateway.call(
    "CreateQueue",
    { QueueName: "in.fifo", Attributes: attributes },
    { headers },
  );
  const { QueueUrl } = made.json;
  const input = asked({
    Target: {
      Arn: "arn:aws:sqs:eu-west-1:222233334444:in.fifo",
      RoleArn,
      SqsParameters: { MessageGroupId: "g" },
    },
  });
  await other.send(new CreateScheduleCommand(input));
  await gateway.kit.platform.schedules.sweep();
  const wanted = { QueueUrl, MessageSystemAttributeNames: ["All"] };
  const received = () => gateway.call("ReceiveMessage", wanted, { headers });
  let got: { Body: string; Attributes: object } | undefined;
  await expect.poll(async () => (got ??= (await received()).json.Messages?.[0])).toBeDefined();
  expect(got!.Attributes).toMatchObject({ MessageGroupId: "g" });
  expect(JSON.parse(got!.Body)).toMatchObject({
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: "222233334444",
    region: "eu-west-1",
    resources: [`arn:aws:scheduler:eu-west-1:222233334444:schedule/default/${input.Name}`],
  });
  await other.send(new DeleteScheduleCommand({ Name: input.Name }));
});

test("what is due goes by a universal target, with attributes and a delay", async () => {
  const queue = newName();
  const QueueUrl = await gateway.createQueue(queue);
  const { Name } = await create({
    Target: {
      Arn: "arn:aws:scheduler:::aws-sdk:sqs:sendMessage",
      RoleArn,
      Input: JSON.stringify({
        QueueUrl,
        MessageBody: '{"at": "<aws.scheduler.scheduled-time>"}',
        DelaySeconds: 30,
        MessageAttributes: { try: { DataType: "String", StringValue: "<aws.scheduler.attempt-number>" } },
      }),
    },
  });
  await gateway.kit.platform.schedules.sweep();
  expect(await messagesOf(queue)).toEqual([]);
  await gateway.kit.advance(31_000);
  const [message] = await delivered(queue, 1);
  expect(JSON.parse(message!.Body)).toEqual({ at: expect.stringMatching(/^\d{4}-.*:\d\dZ$/) });
  expect(message).toMatchObject({ MessageAttributes: { try: { StringValue: "1" } } });
  await remove(Name);
});

test("what is due goes to a state machine, by its ARN and by a universal target", async () => {
  const name = newName();
  const definition = '{"StartAt":"S","States":{"S":{"Type":"Pass","End":true}}}';
  const states = (operation: string, input: object) =>
    gateway.call("", input, { headers: { "x-amz-target": `AWSStepFunctions.${operation}` } });
  const made = await states("CreateStateMachine", { name, roleArn: RoleArn, definition });
  const { stateMachineArn } = made.json as { stateMachineArn: string };
  const Input = '{"at": "<aws.scheduler.scheduled-time>"}';
  const plain = await create({ Target: { Arn: stateMachineArn, RoleArn, Input } });
  const request = { StateMachineArn: stateMachineArn, Input, Name: "by-<aws.scheduler.attempt-number>" };
  const universal = await create({
    Target: {
      Arn: "arn:aws:scheduler:::aws-sdk:sfn:startExecution",
      RoleArn,
      Input: JSON.stringify(request),
    },
  });
  await gateway.kit.platform.schedules.sweep();
  const ended = () => states("ListExecutions", { stateMachineArn, statusFilter: "SUCCEEDED" });
  await expect.poll(async () => (await ended()).json.executions.length).toBe(2);
  const { executions } = (await ended()).json as { executions: { name: string; executionArn: string }[] };
  expect(executions.map((each) => each.name)).toContain("by-1");
  for (const { executionArn } of executions) {
    const { json } = await states("DescribeExecution", { executionArn });
    expect(JSON.parse(json.input)).toEqual({ at: expect.stringMatching(/^\d{4}-/) });
  }
  for (const { Name } of [plain, universal]) await remove(Name);
});

test("what cannot be begun goes, by its retry policy, to the dead-letter queue", async () => {
  const dead = newName();
  await gateway.createQueue(dead);
  const { Name } = await create({
    Target: {
      Arn: arnOf("deleted"),
      RoleArn,
      Input: "in",
      RetryPolicy: { MaximumRetryAttempts: 0 },
      DeadLetterConfig: { Arn: arnOf(dead) },
    },
  });
  await gateway.kit.platform.schedules.sweep();
  const [letter] = await delivered(dead, 1);
  const text = (value: unknown) => ({ StringValue: value, DataType: "String" });
  expect(letter).toMatchObject({
    Body: "in",
    MessageAttributes: {
      ERROR_CODE: text("TUNTAS_QUEUE_MISSING"),
      EXHAUSTED_RETRY_CONDITION: text("MaximumRetryAttempts"),
      RETRY_ATTEMPTS: text("0"),
      SCHEDULE_ARN: text(`arn:aws:scheduler:us-east-1:000000000000:schedule/default/${Name}`),
      TARGET_ARN: text(arnOf("deleted")),
    },
  });
  await remove(Name);
});

test("nothing is due while it is disabled", async () => {
  const queue = newName();
  await gateway.createQueue(queue);
  const Target = { Arn: arnOf(queue), RoleArn, Input: "<aws.scheduler.scheduled-time>" };
  const { Name } = await create({ ScheduleExpression: "rate(1 hour)", State: "DISABLED", Target });
  await gateway.kit.advance(3 * hour);
  expect(await messagesOf(queue)).toEqual([]);
  await client.send(new UpdateScheduleCommand(asked({ Name, ScheduleExpression: "rate(1 hour)", Target })));
  await gateway.kit.advance(hour);
  await delivered(queue, 1);
  await remove(Name);
});
