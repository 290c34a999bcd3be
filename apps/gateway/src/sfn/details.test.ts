// Details of answers that no recording shows: what is left out when only metadata is wanted, how long texts may be, what a
// history says of a version or alias, and what a redrive leaves in the context object.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.fixture.ts";

const roleArn = "arn:aws:iam::000000000000:role/none";
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const ask = (operation: string, input: object) =>
  gateway.call("", input, { headers: { "x-amz-target": `AWSStepFunctions.${operation}` } });
async function call(operation: string, input: object): Promise<any> {
  const { status, json } = await ask(operation, input);
  if (status !== 200) throw new Error(`${json.__type}: ${json.message}`);
  return json;
}
const refused = async (operation: string, input: object) =>
  (await ask(operation, input)).json.message as string;

let names = 0;
async function create(state: object, more: object = {}): Promise<any> {
  const definition = JSON.stringify({ StartAt: "S", States: { S: { End: true, ...state } } });
  return call("CreateStateMachine", { name: `details-${names++}`, definition, roleArn, ...more });
}
const hasEnded = (executionArn: string) =>
  expect.poll(async () => (await call("DescribeExecution", { executionArn })).status).not.toBe("RUNNING");

test("METADATA_ONLY leaves out what flowed through and how it is defined", async () => {
  const { stateMachineArn } = await create({ Type: "Pass", Assign: { a: "$.b" } });
  const { executionArn } = await call("StartExecution", { stateMachineArn, input: '{"secret":1}' });
  await hasEnded(executionArn);
  const includedData = "METADATA_ONLY";
  const execution = await call("DescribeExecution", { executionArn, includedData });
  expect(execution).toMatchObject({ inputDetails: { included: false }, outputDetails: { included: false } });
  expect([execution.input, execution.output]).toEqual([undefined, undefined]);
  const all = await call("DescribeExecution", { executionArn, includedData: "ALL_DATA" });
  expect(all).toMatchObject({ input: '{"secret":1}', inputDetails: { included: true } });
  for (const [operation, input] of [
    ["DescribeStateMachine", { stateMachineArn }],
    ["DescribeStateMachineForExecution", { executionArn }],
  ] as const)
    expect((await call(operation, { ...input, includedData })).definition).toBe("{}");
  expect(await refused("DescribeExecution", { executionArn, includedData: "SOME" })).toContain(
    "'includedData' failed to satisfy constraint: Member must satisfy enum value set",
  );
  const express = await create({ Type: "Pass" }, { type: "EXPRESS" });
  const sync = await call("StartSyncExecution", { ...express, input: '{"a":1}', includedData });
  expect([sync.input, sync.output, sync.status]).toEqual([undefined, undefined, "SUCCEEDED"]);
});

test("a history without data still says what a task was asked", async () => {
  const Resource = "arn:aws:states:::sqs:sendMessage";
  const Parameters = { QueueUrl: "http://localhost/000000000000/none", MessageBody: "m" };
  const { stateMachineArn } = await create({ Type: "Task", Resource, Parameters });
  const { executionArn } = await call("StartExecution", { stateMachineArn });
  await hasEnded(executionArn);
  const { events } = await call("GetExecutionHistory", { executionArn, includeExecutionData: false });
  const [started, entered, scheduled] = events;
  expect(scheduled.taskScheduledEventDetails.parameters).toBe(JSON.stringify(Parameters));
  expect(entered.stateEnteredEventDetails).toEqual({ name: "S" });
  expect(started.executionStartedEventDetails).toEqual({ roleArn });
});

test("an execution whose time is over says why in its last event alone, which follows upon none", async () => {
  const States = { S: { Type: "Wait", Seconds: 3600, End: true } };
  const definition = JSON.stringify({ StartAt: "S", TimeoutSeconds: 1, States });
  const { stateMachineArn } = await call("CreateStateMachine", { name: "timed", definition, roleArn });
  const { executionArn } = await call("StartExecution", { stateMachineArn });
  await hasEnded(executionArn);
  const execution = await call("DescribeExecution", { executionArn });
  expect([execution.status, execution.error, execution.cause]).toEqual(["TIMED_OUT", undefined, undefined]);
  const { events } = await call("GetExecutionHistory", { executionArn, reverseOrder: true, maxResults: 1 });
  expect(events).toMatchObject([
    {
      type: "ExecutionTimedOut",
      id: 3,
      previousEventId: 0,
      executionTimedOutEventDetails: { error: "States.Timeout" },
    },
  ]);
});

test("what is asked of diagnostics and of lists is within its bounds", async () => {
  const definition = JSON.stringify({ StartAt: "S", States: { S: { Type: "Pass", Next: "T", Output: 1 } } });
  const validate = "ValidateStateMachineDefinition";
  expect(await call(validate, { definition, maxResults: 1 })).toMatchObject({
    result: "FAIL",
    truncated: true,
    diagnostics: [{ code: "SCHEMA_VALIDATION_FAILED", location: "/States/S" }],
  });
  expect((await call(validate, { definition, maxResults: 0 })).diagnostics).toHaveLength(3);
  for (const [member, value] of [
    ["maxResults", 101],
    ["maxResults", -1],
    ["severity", "FATAL"],
    ["type", "FAST"],
  ] as const)
    expect(await refused(validate, { definition, [member]: value })).toContain(`at '${member}' failed`);
  const { stateMachineArn } = await create({ Type: "Pass" });
  const mapRunArn = "arn:aws:states:us-east-1:000000000000:mapRun:m/l:r";
  expect(await refused("ListExecutions", { stateMachineArn, mapRunArn })).toContain("not both");
});

test("errors and causes have a longest length", async () => {
  const { stateMachineArn } = await create({ Type: "Wait", Seconds: 3600 });
  const { executionArn } = await call("StartExecution", { stateMachineArn });
  const [error, cause] = ["e".repeat(257), "c".repeat(32_769)];
  expect(await refused("StopExecution", { executionArn, error })).toContain("'error' failed");
  expect(await refused("SendTaskFailure", { taskToken: "t", cause })).toContain("'cause' failed");
  await call("StopExecution", { executionArn, error: error.slice(1), cause: cause.slice(1) });
  expect((await call("DescribeExecution", { executionArn })).cause).toHaveLength(32_768);
});

test("what the model says of each member is checked, all of it at once, and nothing is done", async () => {
  const { stateMachineArn } = await create({ Type: "Pass" });
  const definition = JSON.stringify({ StartAt: "S", States: { S: { Type: "Pass", End: true } } });
  const machine = { name: "unmade", definition, roleArn };
  const wrong: [operation: string, input: object, message: string][] = [
    [
      "CreateStateMachine",
      { ...machine, roleArn: "", encryptionConfiguration: { kmsDataKeyReusePeriodSeconds: 59 } },
      "3 validation errors detected: Value '' at 'roleArn' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
        "Value null at 'encryptionConfiguration.type' failed to satisfy constraint: Member must not be null; " +
        "Value '59' at 'encryptionConfiguration.kmsDataKeyReusePeriodSeconds' failed to satisfy constraint: Member must have value greater than or equal to 60",
    ],
    [
      "CreateStateMachine",
      { ...machine, loggingConfiguration: { level: "SOME" } },
      "1 validation error detected: Value 'SOME' at 'loggingConfiguration.level' failed to satisfy constraint: Member must satisfy enum value set: [ALL, ERROR, FATAL, OFF]",
    ],
    [
      "CreateActivity",
      { name: "unmade", tags: [{ key: "a" }, { key: "" }] },
      "1 validation error detected: Value '' at 'tags.2.member.key' failed to satisfy constraint: Member must have length greater than or equal to 1",
    ],
    [
      "UntagResource",
      { resourceArn: stateMachineArn, tagKeys: ["a", ""] },
      "1 validation error detected: Value '[a, ]' at 'tagKeys' failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 128, Member must have length greater than or equal to 1]",
    ],
    [
      "PublishStateMachineVersion",
      { stateMachineArn, description: "d".repeat(257) },
      "1 validation error detected: Value at 'description' failed to satisfy constraint: Member must have length less than or equal to 256",
    ],
    [
      "StartExecution",
      { stateMachineArn, traceHeader: "é" },
      "1 validation error detected: Value 'é' at 'traceHeader' failed to satisfy constraint: Member must satisfy regular expression pattern: \\p{ASCII}*",
    ],
    [
      "SendTaskSuccess",
      { taskToken: "t", output: JSON.stringify("o".repeat(262_144)) },
      "1 validation error detected: Value at 'output' failed to satisfy constraint: Member must have length less than or equal to 262144",
    ],
    [
      "TestState",
      { definition: JSON.stringify({ Type: "Pass", End: true }), inspectionLevel: "ALL" },
      "1 validation error detected: Value 'ALL' at 'inspectionLevel' failed to satisfy constraint: Member must satisfy enum value set: [INFO, DEBUG, TRACE]",
    ],
  ];
  for (const [operation, input, message] of wrong) {
    const { status, json } = await ask(operation, input);
    expect([status, json.__type.split("#")[1], json.message]).toEqual([400, "ValidationException", message]);
  }
  expect((await call("ListActivities", {})).activities).toEqual([]);
  expect((await call("ListStateMachineVersions", { stateMachineArn })).stateMachineVersions).toEqual([]);
});

test("a role or a log group whose ARN is malformed is refused in AWS's words, by a create and by an update", async () => {
  const { stateMachineArn } = await create({ Type: "Pass" });
  const definition = JSON.stringify({ StartAt: "S", States: { S: { Type: "Pass", End: true } } });
  const group = "arn:aws:logs:eu-west-1:000000000000:log-group:/aws/vendedlogs/states/x";
  const logging = (logGroupArn?: string) => ({
    loggingConfiguration: {
      level: "ALL",
      destinations: [{ cloudWatchLogsLogGroup: logGroupArn === undefined ? {} : { logGroupArn } }],
    },
  });
  const missing = "Invalid Logging Configuration: Log Destination not found.";
  const unstarred = "Invalid Logging Configuration: Log Group ARN must be provided with '*' qualifier.";
  const wrong: [input: object, code: string, message: string][] = [
    ...["role", "arn:aws:iam::1", "arn:aws:iam:::", "arn:aws iam::1:role/x"].map(
      (arn): [object, string, string] => [{ roleArn: arn }, "InvalidArn", `Invalid Role Arn: '${arn}'`],
    ),
    ...[undefined, "group", `${roleArn}:*`].map((arn): [object, string, string] => [
      logging(arn),
      "InvalidLoggingConfiguration",
      missing,
    ]),
    [logging(group), "InvalidLoggingConfiguration", unstarred],
  ];
  for (const [input, code, message] of wrong)
    for (const [operation, whole] of [
      ["CreateStateMachine", { name: "unmade", definition, roleArn, ...input }],
      ["UpdateStateMachine", { stateMachineArn, ...input }],
    ] as const) {
      const { status, json } = await ask(operation, whole);
      expect([status, json.__type.split("#")[1], json.message]).toEqual([400, code, message]);
    }
  await call("UpdateStateMachine", {
    stateMachineArn,
    roleArn: "arn:aws-cn:iam::1:role/x",
    ...logging(`${group}:*`),
  });
});

test("a history says by which version and alias an execution was started", async () => {
  const { stateMachineArn, stateMachineVersionArn } = await create({ Type: "Pass" }, { publish: true });
  const routingConfiguration = [{ stateMachineVersionArn, weight: 100 }];
  const { stateMachineAliasArn } = await call("CreateStateMachineAlias", {
    name: "live",
    routingConfiguration,
  });
  const startedBy = async (arn: string) => {
    const { executionArn } = await call("StartExecution", { stateMachineArn: arn });
    await hasEnded(executionArn);
    return (await call("GetExecutionHistory", { executionArn })).events[0].executionStartedEventDetails;
  };
  const plain = { input: "{}", inputDetails: { truncated: false }, roleArn };
  expect(await startedBy(stateMachineArn)).toEqual(plain);
  expect(await startedBy(stateMachineVersionArn)).toEqual({ ...plain, stateMachineVersionArn });
  expect(await startedBy(stateMachineAliasArn)).toEqual({
    ...plain,
    stateMachineAliasArn,
    stateMachineVersionArn,
  });
});

test("after a redrive the context object says how often and when", async () => {
  const { activityArn } = await call("CreateActivity", { name: "details" });
  const Parameters = { "count.$": "$$.Execution.RedriveCount", "execution.$": "$$.Execution" };
  const { stateMachineArn } = await create({ Type: "Task", Resource: activityArn, Parameters });
  const { executionArn } = await call("StartExecution", { stateMachineArn });
  const first = await call("GetActivityTask", { activityArn });
  expect(JSON.parse(first.input).execution).not.toHaveProperty("RedriveTime");
  await call("SendTaskFailure", { taskToken: first.taskToken, error: "No" });
  await hasEnded(executionArn);
  const { redriveDate } = await call("RedriveExecution", { executionArn });
  const { count, execution } = JSON.parse((await call("GetActivityTask", { activityArn })).input);
  expect(count).toBe(1);
  expect(Math.abs(Date.parse(execution.RedriveTime) - redriveDate * 1000)).toBeLessThan(60_000);
  await call("StopExecution", { executionArn });
});

test("what an ARN names beside a machine is not taken for the machine", async () => {
  const { stateMachineArn, stateMachineVersionArn } = await create({ Type: "Pass" }, { publish: true });
  const routingConfiguration = [{ stateMachineVersionArn, weight: 100 }];
  const { stateMachineAliasArn } = await call("CreateStateMachineAlias", { name: "a", routingConfiguration });
  const label = `${stateMachineArn}/label`;
  for (const arn of [stateMachineVersionArn, stateMachineAliasArn, label])
    expect((await ask("DeleteStateMachine", { stateMachineArn: arn })).json.__type).toContain(
      "#ValidationExc",
    );
  for (const operation of ["StartExecution", "DescribeStateMachine", "UpdateStateMachine"])
    expect((await ask(operation, { stateMachineArn: label })).json.__type).toContain("#ValidationException");
  expect((await call("DescribeStateMachine", { stateMachineArn: stateMachineAliasArn })).status).toBe(
    "ACTIVE",
  );
  const express = await create({ Type: "Pass" }, { type: "EXPRESS" });
  const started = await call("StartExecution", express);
  for (const operation of ["DescribeExecution", "DescribeStateMachineForExecution"])
    expect(await refused(operation, { executionArn: started.executionArn })).toBe(
      "Invalid Arn: 'Resource type not valid in this context: express'",
    );
});

test("a key of one's own that is not named is refused", async () => {
  const encryptionConfiguration = { type: "CUSTOMER_MANAGED_KMS_KEY" };
  const definition = JSON.stringify({ StartAt: "S", States: { S: { Type: "Pass", End: true } } });
  const { json } = await ask("CreateStateMachine", {
    name: "keyless",
    definition,
    roleArn,
    encryptionConfiguration,
  });
  expect(json.__type).toContain("#InvalidEncryptionConfiguration");
  expect((await ask("CreateActivity", { name: "keyless", encryptionConfiguration })).json).toEqual(json);
});

test("no execution ends before it began, though the process's clock is ahead of the database's", async () => {
  const { stateMachineArn } = await create({ Type: "Pass" });
  const { platform, schema } = gateway.kit;
  const put = (interval: string) =>
    platform.database.transaction(({ client }) =>
      client.query(`create or replace function ${schema}.now() returns timestamptz language sql stable parallel safe
        as $$ select pg_catalog.now() - interval '${interval}' $$`),
    );
  await put("1 minute");
  const { executionArn } = await call("StartExecution", { stateMachineArn });
  await put("0");
  await hasEnded(executionArn);
  const { startDate, stopDate } = await call("DescribeExecution", { executionArn });
  expect(stopDate).toBeGreaterThanOrEqual(startDate);
});
