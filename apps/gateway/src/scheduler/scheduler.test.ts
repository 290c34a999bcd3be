// EventBridge Scheduler by the AWS SDK: what may be asked for, what is answered, and what is refused.
import { randomUUID } from "node:crypto";
import {
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleGroupCommand,
  ListScheduleGroupsCommand,
  ListSchedulesCommand,
  ListTagsForResourceCommand,
  paginateListSchedules,
  SchedulerClient,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schedule } from "tuntas";
import {
  arnOf,
  asked,
  newName,
  refused,
  RoleArn,
  startTestScheduler,
  type TestScheduler,
} from "./scheduler.fixture.ts";

const day = 86_400_000;

let scheduler: TestScheduler;
let { gateway, client, clientOf, create, get, remove } = {} as TestScheduler;
beforeAll(async () => {
  scheduler = await startTestScheduler();
  ({ gateway, client, clientOf, create, get, remove } = scheduler);
});
afterAll(() => scheduler?.[Symbol.asyncDispose]());

describe("what is asked for is there, with AWS's defaults", () => {
  test("a schedule of the least that must be said", async () => {
    const { Name } = await create();
    const of = await get(Name);
    expect(of).toMatchObject({
      Arn: `arn:aws:scheduler:us-east-1:000000000000:schedule/default/${Name}`,
      GroupName: "default",
      State: "ENABLED",
      ActionAfterCompletion: "NONE",
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: arnOf("somewhere"),
        RoleArn,
        Input: "in",
        RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
      },
    });
    const { CreationDate, LastModificationDate } = of as Record<string, unknown>;
    expect(CreationDate).toBeInstanceOf(Date);
    expect(LastModificationDate).toEqual(CreationDate);
    expect(of).not.toHaveProperty("StartDate");
    expect(of).not.toHaveProperty("Description");
    await remove(Name);
    expect(await refused(get(Name))).toEqual({
      name: "ResourceNotFoundException",
      message: `Schedule ${Name} does not exist.`,
      status: 404,
    });
  });

  test("a schedule of all that may be said, changed as a whole", async () => {
    const start = new Date(Date.now() + day);
    start.setMilliseconds(0);
    const { Name } = await create({
      Description: "the nightly one",
      ScheduleExpression: "cron(0 2 * * ? *)",
      ScheduleExpressionTimezone: "Asia/Jakarta",
      StartDate: start,
      EndDate: new Date(start.getTime() + day),
      State: "DISABLED",
      ActionAfterCompletion: "DELETE",
      KmsKeyArn: "arn:aws:kms:us-east-1:000000000000:key/any",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
      Target: {
        Arn: "arn:aws:sqs:us-east-1:000000000000:orders.fifo",
        RoleArn,
        Input: '{"a": 1}',
        SqsParameters: { MessageGroupId: "g" },
        RetryPolicy: { MaximumRetryAttempts: 3 },
        DeadLetterConfig: { Arn: arnOf("dead") },
      },
    });
    expect(await get(Name)).toMatchObject({
      Description: "the nightly one",
      ScheduleExpressionTimezone: "Asia/Jakarta",
      StartDate: start,
      EndDate: new Date(start.getTime() + day),
      State: "DISABLED",
      ActionAfterCompletion: "DELETE",
      KmsKeyArn: "arn:aws:kms:us-east-1:000000000000:key/any",
      FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 15 },
      Target: {
        Input: '{"a": 1}',
        SqsParameters: { MessageGroupId: "g" },
        RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 3 },
        DeadLetterConfig: { Arn: arnOf("dead") },
      },
    });
    await client.send(new UpdateScheduleCommand(asked({ Name, State: "ENABLED" })));
    const changed = await get(Name);
    expect(changed).toMatchObject({ State: "ENABLED", ScheduleExpression: "rate(1 day)" });
    expect(changed).not.toHaveProperty("Description");
    expect(changed).not.toHaveProperty("StartDate");
    await remove(Name);
  });

  test("nobody answers for it, so it is listed as undeclared, and no success is expected", async () => {
    const { Name } = await create({ State: "DISABLED" });
    expect(await gateway.kit.platform.schedules.find(Name!)).toMatchObject({
      owner: null,
      runbook: null,
      expectedByMs: null,
      overlap: "allow",
      pausedBy: "000000000000",
    });
    await remove(Name);
  });

  test("one that code declares is there too, changed in code only", async () => {
    const Name = newName();
    await gateway.createQueue("declared");
    const declared = schedule(Name, {
      when: "cron(0 2 * * ? *)",
      timeZone: "Asia/Jakarta",
      overlap: "skip",
      catchUp: "skip",
      target: { kind: "queue", name: "declared" },
      succeedsWithin: "1h",
      owner: "team",
      runbook: "r",
    });
    await gateway.kit.platform.schedules.declare("test", [declared]);
    expect(await get(Name)).toMatchObject({
      ScheduleExpression: "cron(0 2 * * ? *)",
      Target: { Arn: arnOf("declared") },
    });
    expect(await refused(client.send(new UpdateScheduleCommand(asked({ Name }))))).toMatchObject({
      name: "ConflictException",
      message: `Schedule ${Name} is declared in code, and changed there.`,
    });
    await remove(Name);
  });
});

describe("names, groups and pages", () => {
  test("the same name is another schedule in each group, account and region", async () => {
    const [Name, GroupName] = [newName(), newName()];
    await client.send(
      new CreateScheduleGroupCommand({ Name: GroupName, Tags: [{ Key: "team", Value: "a" }] }),
    );
    const others = [clientOf("111122223333"), clientOf("111122223333", "eu-west-1")];
    const arns = [
      ...(await Promise.all(
        [client, ...others].map((of) =>
          of.send(new CreateScheduleCommand(asked({ Name, State: "DISABLED" }))),
        ),
      )),
      await client.send(new CreateScheduleCommand(asked({ Name, GroupName, State: "DISABLED" }))),
    ].map(({ ScheduleArn }) => ScheduleArn);
    expect(arns).toEqual([
      `arn:aws:scheduler:us-east-1:000000000000:schedule/default/${Name}`,
      `arn:aws:scheduler:us-east-1:111122223333:schedule/default/${Name}`,
      `arn:aws:scheduler:eu-west-1:111122223333:schedule/default/${Name}`,
      `arn:aws:scheduler:us-east-1:000000000000:schedule/${GroupName}/${Name}`,
    ]);
    expect(await refused(client.send(new CreateScheduleCommand(asked({ Name, GroupName }))))).toEqual({
      name: "ConflictException",
      message: `Schedule ${Name} already exists.`,
      status: 409,
    });
    expect((await others[1]!.send(new ListSchedulesCommand({}))).Schedules).toMatchObject([{ Name }]);
    expect((await client.send(new ListSchedulesCommand({ GroupName }))).Schedules).toMatchObject([
      { Name, GroupName, State: "DISABLED", Target: { Arn: arnOf("somewhere") } },
    ]);
    await client.send(new DeleteScheduleGroupCommand({ Name: GroupName }));
    expect(await refused(get(Name, GroupName))).toMatchObject({ status: 404 });
    expect(await refused(client.send(new ListSchedulesCommand({ GroupName })))).toEqual({
      name: "ResourceNotFoundException",
      message: `Schedule group ${GroupName} does not exist.`,
      status: 404,
    });
    await remove(Name);
  });

  test("pages go on where the last one ended, by prefix and by state", async () => {
    const prefix = newName();
    const names = ["a", "b", "c", "d", "e"].map((each) => `${prefix}.${each}`);
    for (const [index, Name] of names.entries())
      await create({ Name, State: index === 2 ? "ENABLED" : "DISABLED" });
    const pages: (string | undefined)[][] = [];
    for await (const { Schedules = [] } of paginateListSchedules(
      { client, pageSize: 2 },
      { NamePrefix: prefix },
    ))
      pages.push(Schedules.map(({ Name }) => Name));
    expect(pages).toEqual([names.slice(0, 2), names.slice(2, 4), names.slice(4)]);
    const enabled = await client.send(new ListSchedulesCommand({ NamePrefix: prefix, State: "ENABLED" }));
    expect(enabled.Schedules).toMatchObject([{ Name: names[2] }]);
    expect(await refused(client.send(new ListSchedulesCommand({ NextToken: "x" })))).toMatchObject({
      name: "ValidationException",
      status: 400,
    });
    for (const Name of names) await remove(Name);
  });

  test("groups have tags and schedules have none; the default group is always there", async () => {
    const Name = newName();
    const { ScheduleGroupArn: ResourceArn } = await client.send(
      new CreateScheduleGroupCommand({ Name, Tags: [{ Key: "a", Value: "1" }] }),
    );
    expect(ResourceArn).toBe(`arn:aws:scheduler:us-east-1:000000000000:schedule-group/${Name}`);
    await client.send(
      new TagResourceCommand({
        ResourceArn,
        Tags: [
          { Key: "b&c", Value: "ü" },
          { Key: "d", Value: "4" },
        ],
      }),
    );
    await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ["a", "d"] }));
    expect((await client.send(new ListTagsForResourceCommand({ ResourceArn }))).Tags).toEqual([
      { Key: "b&c", Value: "ü" },
    ]);
    expect(await client.send(new GetScheduleGroupCommand({ Name }))).toMatchObject({
      Arn: ResourceArn,
      State: "ACTIVE",
    });
    const { ScheduleGroups } = await client.send(new ListScheduleGroupsCommand({ NamePrefix: "default" }));
    expect(ScheduleGroups).toMatchObject([{ Name: "default" }]);
    expect(await refused(client.send(new DeleteScheduleGroupCommand({ Name: "default" })))).toMatchObject({
      name: "ValidationException",
    });
    expect(await refused(client.send(new CreateScheduleGroupCommand({ Name: "default" })))).toMatchObject({
      name: "ConflictException",
    });
    await client.send(new DeleteScheduleGroupCommand({ Name }));
    expect(await refused(client.send(new TagResourceCommand({ ResourceArn, Tags: [] })))).toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  test("a request that is sent again with its token is the same request", async () => {
    const ClientToken = randomUUID();
    const input = asked({ ClientToken, State: "DISABLED" });
    const first = await client.send(new CreateScheduleCommand(input));
    expect((await client.send(new CreateScheduleCommand(input))).ScheduleArn).toBe(first.ScheduleArn);
    expect(
      await refused(client.send(new CreateScheduleCommand({ ...input, Description: "another" }))),
    ).toMatchObject({ name: "ConflictException", status: 409 });
    const gone = { Name: input.Name, ClientToken };
    await client.send(new DeleteScheduleCommand(gone));
    await client.send(new DeleteScheduleCommand(gone));
    expect(await refused(remove(input.Name))).toMatchObject({ status: 404 });
  });
});

describe("what is wrong is said in AWS's words, and changes nothing", () => {
  const target = (more: object) => ({ Target: { Arn: arnOf("q"), RoleArn, ...more } });
  const wrong: [string, object, RegExp][] = [
    ["a name", { Name: "no spaces" }, /Value 'no spaces' at 'name' .* pattern: \^\[0-9a-zA-Z-_.\]\+\$/],
    ["no target", { Target: undefined }, /^1 validation error detected: Value null at 'target' failed/],
    ["no role", { Target: { Arn: arnOf("q") } }, /Value null at 'target.roleArn' failed .* must not be null/],
    [
      "a mode",
      { FlexibleTimeWindow: { Mode: "SOME" } },
      /'flexibleTimeWindow.mode' .* set: \[OFF, FLEXIBLE\]/,
    ],
    [
      "a window without minutes",
      { FlexibleTimeWindow: { Mode: "FLEXIBLE" } },
      /needs MaximumWindowInMinutes/,
    ],
    [
      "minutes without a window",
      { FlexibleTimeWindow: { Mode: "OFF", MaximumWindowInMinutes: 5 } },
      /flexible/,
    ],
    ["a state", { State: "ON" }, /at 'state' .* set: \[ENABLED, DISABLED\]/],
    [
      "an expression",
      { ScheduleExpression: "rate(5 moons)" },
      /^Invalid Schedule Expression rate\(5 moons\)\./,
    ],
    [
      "crontab's fields",
      { ScheduleExpression: "* * * * *" },
      /^Invalid Schedule Expression \* \* \* \* \*\.$/,
    ],
    ["no such date", { ScheduleExpression: "cron(0 0 30 2 ? *)" }, /^Invalid Schedule Expression cron/],
    [
      "a zone",
      { ScheduleExpressionTimezone: "Mars/Olympus" },
      /^Invalid Schedule Expression Timezone Mars\/Olympus\.$/,
    ],
    [
      "an offset as a zone",
      { ScheduleExpressionTimezone: "+07:00" },
      /^Invalid Schedule Expression Timezone/,
    ],
    [
      "a start that has passed",
      { StartDate: new Date(Date.now() - day) },
      /cannot be earlier than 5 minutes ago/,
    ],
    [
      "an end before the start",
      { StartDate: new Date(2e12), EndDate: new Date(1e12) },
      /later than the StartDate/,
    ],
    [
      "retries",
      target({ RetryPolicy: { MaximumRetryAttempts: 186 } }),
      /'target.retryPolicy.maximumRetryAttempts' .* 185/,
    ],
    ["an age", target({ RetryPolicy: { MaximumEventAgeInSeconds: 59 } }), /equal to 60/],
    [
      "a FIFO dead-letter queue",
      target({ DeadLetterConfig: { Arn: arnOf("d.fifo") } }),
      /'target.deadLetterConfig.arn'/,
    ],
    ["a FIFO queue without a group", { Target: { Arn: arnOf("q.fifo"), RoleArn } }, /needs a MessageGroupId/],
    [
      "parameters of another service's target",
      target({ EventBridgeParameters: { DetailType: "d", Source: "s" } }),
      /takes no EventBridgeParameters/,
    ],
    ["no ARN", { Target: { Arn: "queue", RoleArn } }, /^Provided Arn is not in correct format\.$/],
    [
      "a target of elsewhere",
      { Target: { Arn: "arn:aws:lambda:us-east-1:000000000000:function:f", RoleArn } },
      /is not carried out here/,
    ],
    [
      "another universal target",
      { Target: { Arn: "arn:aws:scheduler:::aws-sdk:ec2:stopInstances", RoleArn, Input: "{}" } },
      /is not carried out here/,
    ],
    [
      "a universal input that is no JSON",
      { Target: { Arn: "arn:aws:scheduler:::aws-sdk:sqs:sendMessage", RoleArn, Input: "{" } },
      /not valid JSON/,
    ],
    [
      "a universal input without a body",
      { Target: { Arn: "arn:aws:scheduler:::aws-sdk:sqs:sendMessage", RoleArn, Input: "{}" } },
      /needs a QueueUrl and a MessageBody/,
    ],
    [
      "a machine's input that is no JSON",
      { Target: { Arn: "arn:aws:states:us-east-1:000000000000:stateMachine:M", RoleArn, Input: "{" } },
      /must be JSON/,
    ],
    ["a token", { ClientToken: "a b" }, /at 'clientToken'/],
  ];

  test.each(wrong)("%s", async (_, more, message) => {
    const before = await client.send(new ListSchedulesCommand({}));
    expect(await refused(client.send(new CreateScheduleCommand(asked(more))))).toEqual({
      name: "ValidationException",
      message: expect.stringMatching(message),
      status: 400,
    });
    const after = await client.send(new ListSchedulesCommand({}));
    expect(after.Schedules).toEqual(before.Schedules);
  });

  test("a group that is not there, paths and methods that are not, and bodies of another shape", async () => {
    expect(await refused(create({ GroupName: "nowhere" }))).toEqual({
      name: "ResourceNotFoundException",
      message: "Schedule group nowhere does not exist.",
      status: 404,
    });
    const send = async (method: string, path: string, body?: string) => {
      const { status, headers } = await gateway.http(path, {
        method,
        ...(body === undefined ? {} : { body }),
      });
      return [status, headers.get("x-amzn-errortype")];
    };
    expect(await send("PATCH", "/schedules/a")).toEqual([404, "UnknownOperationException"]);
    expect(await send("GET", "/schedules?MaxResults=many")).toEqual([400, "SerializationException"]);
    expect(await send("GET", "/schedules?MaxResults=101")).toEqual([400, "ValidationException"]);
    expect(await send("POST", "/schedules/a", "[]")).toEqual([400, "SerializationException"]);
    expect(await send("POST", "/schedules/a", '{"Target": 1}')).toEqual([400, "SerializationException"]);
    expect(await send("POST", "/schedules/a", '{"Description": "\\u0000"}')).toEqual([
      400,
      "ValidationException",
    ]);
    expect(await send("GET", "/schedules/%00")).toEqual([400, "ValidationException"]);
    expect((await gateway.http("/schedules/a/b")).status).toBe(404);
  });
});

test("a key makes schedules of its scopes only, for queues of its scopes only", async () => {
  const { keys } = gateway.kit.platform.access;
  const scopes = ["scheduler:*@default/mine*", "scheduler:*@mine-queue"];
  const made = await keys.create({ name: "mine", scopes }, { actor: "test", from: "command line" });
  const mine = new SchedulerClient({
    endpoint: gateway.url,
    region: "us-east-1",
    credentials: { accessKeyId: made.id, secretAccessKey: made.secret },
    maxAttempts: 1,
  });
  const make = (Name: string, Target: object) =>
    refused(mine.send(new CreateScheduleCommand(asked({ Name, Target: { RoleArn, ...Target } as never }))));
  const Arn = arnOf("mine-queue");
  const denied = { name: expect.stringMatching(/^AccessDenied/), status: 403 };
  expect(await make("mine-1", { Arn })).toBeUndefined();
  expect(await make("theirs", { Arn })).toMatchObject(denied);
  expect(await make("mine-2", { Arn: arnOf("secret") })).toMatchObject(denied);
  expect(await make("mine-2", { Arn: "arn:aws:sqs:us-east-1:111122223333:mine-queue" })).toMatchObject(
    denied,
  );
  expect(await make("mine-2", { Arn, DeadLetterConfig: { Arn: arnOf("secret") } })).toMatchObject(denied);
  const universal = "arn:aws:scheduler:::aws-sdk:sqs:sendMessage";
  const Input = JSON.stringify({ QueueUrl: `${gateway.url}/000000000000/secret`, MessageBody: "x" });
  expect(await make("mine-2", { Arn: universal, Input })).toMatchObject(denied);
  expect(await refused(client.send(new ListSchedulesCommand({})))).toMatchObject({ status: 403 });
  mine.destroy();
});
