// Map runs over the wire: changed while they run, stopped from another process, and redriven with their execution.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";

const roleArn = "arn:aws:iam::000000000000:role/none";
let gateway: TestGateway;
let activityArn: string;

beforeEach(async () => {
  gateway = await startTestGateway();
  ({ activityArn } = await call("CreateActivity", { name: "work" }));
});
afterEach(() => gateway[Symbol.asyncDispose]());

async function call(operation: string, input: object): Promise<any> {
  const { status, json } = await gateway.call("", input, {
    headers: { "x-amz-target": `AWSStepFunctions.${operation}` },
  });
  if (status !== 200) throw new Error(`${json.__type}: ${json.message}`);
  return json;
}

interface MapOptions {
  readonly map?: object;
  readonly childType?: "STANDARD" | "EXPRESS";
  readonly child?: object;
}

/** An execution whose only state maps over the items. */
async function startMap(items: readonly unknown[], { map = {}, childType = "STANDARD", child }: MapOptions) {
  const work = { Type: "Task", Resource: activityArn, End: true };
  const processor = child ?? { StartAt: "Work", States: { Work: work } };
  const definition = {
    StartAt: "All",
    States: {
      All: {
        Type: "Map",
        ItemsPath: "$.items",
        ItemProcessor: { ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: childType }, ...processor },
        End: true,
        ...map,
      },
    },
  };
  const made = { name: randomUUID(), definition: JSON.stringify(definition), roleArn };
  const { stateMachineArn } = await call("CreateStateMachine", made);
  const input = JSON.stringify({ items });
  const { executionArn } = await call("StartExecution", { stateMachineArn, input });
  const runs = () => call("ListMapRuns", { executionArn });
  await expect.poll(async () => (await runs()).mapRuns.length).toBe(1);
  return { executionArn, mapRunArn: (await runs()).mapRuns[0].mapRunArn as string };
}

interface Task {
  readonly token: string;
  readonly input: unknown;
}

const { parse } = JSON;

/** The next task of a child; undefined where none comes. */
async function nextTask(waitMs = 10_000): Promise<Task | undefined> {
  const task = await gateway.kit.platform.workflows.activities.task(activityArn, { waitMs });
  return task && { token: task.token, input: parse(task.input) };
}

const succeed = ({ token: taskToken, input }: Task) =>
  call("SendTaskSuccess", { taskToken, output: JSON.stringify(input) });
const fail = ({ token: taskToken }: Task) => call("SendTaskFailure", { taskToken, error: "Broken" });
const describeMap = (mapRunArn: string) => call("DescribeMapRun", { mapRunArn });

const statusOf = async (executionArn: string) => (await call("DescribeExecution", { executionArn })).status;
const hasEnded = (executionArn: string, status: string) =>
  expect.poll(() => statusOf(executionArn)).toBe(status);

async function eventsOf(executionArn: string): Promise<any[]> {
  return (await call("GetExecutionHistory", { executionArn, maxResults: 1000 })).events;
}
const typesOf = async (executionArn: string) =>
  (await eventsOf(executionArn)).map(({ type }) => type as string);

describe("a map run that is changed while it runs", () => {
  test("P-34 begins more children as soon as more may run at once", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map: { MaxConcurrency: 1 } });
    const first = await nextTask();
    expect(await nextTask(300)).toBeUndefined();
    await call("UpdateMapRun", { mapRunArn, maxConcurrency: 3 });
    const rest = [await nextTask(), await nextTask()];
    expect((await describeMap(mapRunArn)).executionCounts).toMatchObject({
      running: 3,
      pending: 0,
      total: 3,
    });
    await call("UpdateMapRun", { mapRunArn, toleratedFailurePercentage: 12.5 });
    expect((await describeMap(mapRunArn)).toleratedFailurePercentage).toBe(12.5);
    for (const limit of [
      { maxConcurrency: -1 },
      { toleratedFailureCount: -1 },
      { toleratedFailurePercentage: 101 },
    ])
      await expect(call("UpdateMapRun", { mapRunArn, ...limit })).rejects.toThrow(
        "failed to satisfy constraint",
      );
    for (const task of [first, ...rest]) await succeed(task!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect((await describeMap(mapRunArn)).maxConcurrency).toBe(3);
    await expect(call("UpdateMapRun", { mapRunArn, maxConcurrency: 1 })).rejects.toThrow(
      "ValidationException",
    );
  });

  test("hears within moments of a change in another process, and bears as many failures as it says now", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map: { MaxConcurrency: 1 } });
    const first = await nextTask();
    const other = await gateway.kit.another();
    await other.workflows.executions.updateMapRun(mapRunArn, { concurrency: 2, failureCount: 1 });
    const second = await nextTask();
    await fail(first!);
    const third = await nextTask();
    for (const task of [second, third]) await succeed(task!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect(parse((await call("DescribeExecution", { executionArn })).output)).toMatchObject([
      { Status: "FAILED", Error: "Broken", Input: "1" },
      2,
      3,
    ]);
    expect(await describeMap(mapRunArn)).toMatchObject({
      status: "SUCCEEDED",
      toleratedFailureCount: 1,
      executionCounts: { failed: 1, succeeded: 2 },
    });
  });

  test("fails at once when it bears fewer failures than there are, and its children are stopped", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2], { map: { ToleratedFailureCount: 5 } });
    const [first] = [await nextTask(), await nextTask()];
    await fail(first!);
    await expect.poll(async () => (await describeMap(mapRunArn)).executionCounts.failed).toBe(1);
    await call("UpdateMapRun", { mapRunArn, toleratedFailureCount: 0 });
    await hasEnded(executionArn, "FAILED");
    expect(await describeMap(mapRunArn)).toMatchObject({
      status: "FAILED",
      executionCounts: { failed: 1, aborted: 1 },
    });
  });
});

describe("a ResultWriter", () => {
  const objects = new Map<string, string>();
  const bucket = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      objects.set(request.url!, Buffer.concat(chunks).toString());
      response.end();
    });
  });
  let before: string | undefined;

  beforeEach(async () => {
    await new Promise<void>((resolve) => void bucket.listen(0, "127.0.0.1", resolve));
    before = process.env.AWS_ENDPOINT_URL_S3;
    process.env.AWS_ENDPOINT_URL_S3 = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
    await gateway[Symbol.asyncDispose]();
    gateway = await startTestGateway();
    ({ activityArn } = await call("CreateActivity", { name: "work" }));
  });
  afterEach(async () => {
    if (before === undefined) delete process.env.AWS_ENDPOINT_URL_S3;
    else process.env.AWS_ENDPOINT_URL_S3 = before;
    objects.clear();
    await new Promise((resolve) => bucket.close(resolve));
  });

  const file = (name: string) => {
    const [path, body] = [...objects].find(([each]) => each.endsWith(name)) ?? [];
    return body === undefined ? undefined : { path: path!, value: parse(body) };
  };
  const writer = (config?: object) => ({
    ResultWriter: {
      Resource: "arn:aws:states:::s3:putObject",
      Parameters: { Bucket: "out", Prefix: "runs" },
      ...(config && { WriterConfig: config }),
    },
  });

  test("writes what is known of each child, counts what it wrote, and hands the manifest on", async () => {
    const map = { MaxConcurrency: 1, ToleratedFailureCount: 1, ...writer() };
    const { executionArn, mapRunArn } = await startMap(["a", "b"], { map });
    await succeed((await nextTask())!);
    expect((await describeMap(mapRunArn)).executionCounts.resultsWritten).toBe(0);
    await fail((await nextTask())!);
    await hasEnded(executionArn, "SUCCEEDED");
    const { ResultWriterDetails, MapRunArn } = parse(
      (await call("DescribeExecution", { executionArn })).output,
    );
    expect({ MapRunArn, Bucket: ResultWriterDetails.Bucket }).toEqual({
      MapRunArn: mapRunArn,
      Bucket: "out",
    });
    const { ResultFiles } = parse(objects.get(`/out/${ResultWriterDetails.Key}`)!);
    expect(ResultFiles).toMatchObject({ FAILED: [{ Key: expect.any(String) }], PENDING: [] });
    expect(file("SUCCEEDED_0.json")!.value).toEqual([
      {
        ExecutionArn: expect.stringContaining(":execution:"),
        Input: '"a"',
        InputDetails: { Included: true },
        Name: expect.any(String),
        Output: '"a"',
        OutputDetails: { Included: true },
        RedriveCount: 0,
        RedriveStatus: "NOT_REDRIVABLE",
        RedriveStatusReason: "Execution is SUCCEEDED and cannot be redriven",
        StartDate: expect.stringMatching(/^2.*Z$/),
        StateMachineArn: expect.stringContaining(":stateMachine:"),
        Status: "SUCCEEDED",
        StopDate: expect.stringMatching(/^2.*Z$/),
      },
    ]);
    expect(file("FAILED_0.json")!.value).toMatchObject([
      { Input: '"b"', Error: "Broken", Status: "FAILED", RedriveStatus: "REDRIVABLE_BY_MAP_RUN" },
    ]);
    expect(await describeMap(mapRunArn)).toMatchObject({
      executionCounts: { resultsWritten: 2, succeeded: 1, failed: 1 },
      itemCounts: { resultsWritten: 2 },
    });
  });

  test("of a run that fails writes what there is, and names those that never ran", async () => {
    const map = { MaxConcurrency: 1, ...writer({ Transformation: "COMPACT", OutputType: "JSONL" }) };
    const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map });
    await succeed((await nextTask())!);
    await fail((await nextTask())!);
    await hasEnded(executionArn, "FAILED");
    expect(await call("DescribeExecution", { executionArn })).toMatchObject({
      error: "States.ExceedToleratedFailureThreshold",
    });
    expect(file("SUCCEEDED_0.jsonl")!.value).toBe(1);
    expect(file("FAILED_0.jsonl")!.value).toMatchObject({ Input: "2", Error: "Broken" });
    expect(file("PENDING_0.jsonl")!.value).toMatchObject({ Input: "3", Status: "PENDING" });
    expect((await describeMap(mapRunArn)).executionCounts).toMatchObject({ resultsWritten: 2, pending: 1 });
    expect((await typesOf(executionArn)).slice(-3)).toEqual([
      "MapRunFailed",
      "MapStateFailed",
      "ExecutionFailed",
    ]);
  });

  test("without a bucket only says how results are handed on", async () => {
    const map = { ResultWriter: { WriterConfig: { Transformation: "FLATTEN", OutputType: "JSON" } } };
    const { executionArn } = await startMap([[1, 2], 3], { map });
    for (const task of [await nextTask(), await nextTask()]) await succeed(task!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect(parse((await call("DescribeExecution", { executionArn })).output)).toEqual([1, 2, 3]);
  });
});

test("a map run whose execution is stopped in another process stops its children and starts no more", async () => {
  const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map: { MaxConcurrency: 2 } });
  await nextTask();
  const other = await gateway.kit.another();
  const execution = (await other.workflows.executions.find(executionArn))!;
  expect(await other.workflows.executions.stop(execution, {})).toBe(true);
  await expect.poll(async () => (await describeMap(mapRunArn)).status).toBe("ABORTED");
  const { executionCounts } = await describeMap(mapRunArn);
  expect(executionCounts).toMatchObject({ aborted: 2, running: 0, pending: 1 });
});

describe("a redrive of an execution whose map run failed", () => {
  test("runs the children again that did not succeed and begins those that never ran", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map: { MaxConcurrency: 1 } });
    await succeed((await nextTask())!);
    await fail((await nextTask())!);
    await hasEnded(executionArn, "FAILED");
    expect((await describeMap(mapRunArn)).executionCounts).toMatchObject({
      failed: 1,
      succeeded: 1,
      pending: 1,
    });
    const children = (await call("ListExecutions", { mapRunArn, statusFilter: "FAILED" })).executions;
    expect(children).toMatchObject([{ mapRunArn, itemCount: 1, redriveCount: 0 }]);
    const childArn = children[0].executionArn as string;
    expect(await call("DescribeExecution", { executionArn: childArn })).toMatchObject({
      redriveStatus: "REDRIVABLE_BY_MAP_RUN",
    });
    await expect(call("RedriveExecution", { executionArn: childArn })).rejects.toThrow(
      "ExecutionNotRedrivable",
    );

    await call("RedriveExecution", { executionArn });
    const again = await nextTask();
    expect(again!.input).toBe(2);
    expect(await describeMap(mapRunArn)).toMatchObject({ status: "RUNNING", redriveCount: 1 });
    await succeed(again!);
    const last = await nextTask();
    expect(last!.input).toBe(3);
    await succeed(last!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect(parse((await call("DescribeExecution", { executionArn })).output)).toEqual([1, 2, 3]);

    const events = await eventsOf(executionArn);
    const from = events.findIndex(({ type }) => type === "ExecutionRedriven");
    expect(events.slice(from).map(({ type }) => type)).toEqual([
      "ExecutionRedriven",
      "MapRunRedriven",
      "MapRunSucceeded",
      "MapStateSucceeded",
      "MapStateExited",
      "ExecutionSucceeded",
    ]);
    expect(events[from + 1].mapRunRedrivenEventDetails).toEqual({ mapRunArn, redriveCount: 1 });
    const attempt = ["ActivityScheduled", "ActivityStarted"];
    expect(await typesOf(childArn)).toEqual(
      ["ExecutionStarted", "TaskStateEntered"].concat(
        attempt,
        ["ActivityFailed", "ExecutionFailed", "ExecutionRedriven"],
        attempt,
        ["ActivitySucceeded", "TaskStateExited", "ExecutionSucceeded"],
      ),
    );
    const listed = (redriveFilter: string) => call("ListExecutions", { mapRunArn, redriveFilter });
    expect((await listed("REDRIVEN")).executions.map((each: any) => each.executionArn)).toEqual([childArn]);
    expect((await listed("NOT_REDRIVEN")).executions).toHaveLength(2);
    expect(await describeMap(mapRunArn)).toMatchObject({
      status: "SUCCEEDED",
      redriveDate: expect.any(Number),
      executionCounts: { succeeded: 3, pendingRedrive: 0, total: 3 },
    });
  });

  test("waits with what may not run yet, and may fail again", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2], { map: { ToleratedFailureCount: 1 } });
    for (const task of [await nextTask(), await nextTask()]) await fail(task!);
    await hasEnded(executionArn, "FAILED");
    await call("RedriveExecution", { executionArn });
    await nextTask();
    await call("UpdateMapRun", { mapRunArn, toleratedFailureCount: 0 });
    await fail((await nextTask())!);
    await hasEnded(executionArn, "FAILED");
    expect(await describeMap(mapRunArn)).toMatchObject({ status: "FAILED", redriveCount: 1 });
    await call("RedriveExecution", { executionArn });
    for (const task of [await nextTask(), await nextTask()]) await succeed(task!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect(await describeMap(mapRunArn)).toMatchObject({ status: "SUCCEEDED", redriveCount: 2 });
  });

  test("leaves a child that cannot be redriven as it had ended", async () => {
    const { executionArn, mapRunArn } = await startMap([1], {});
    await nextTask();
    await call("StopExecution", { executionArn });
    const child = (await call("ListExecutions", { mapRunArn })).executions[0].executionArn as string;
    await expect.poll(() => statusOf(child)).toBe("ABORTED");
    const before = await call("DescribeExecution", { executionArn: child });
    // Its history has no room for a redrive.
    const { schema, platform } = gateway.kit;
    await platform.database.transaction(({ client }) =>
      client.query(
        `update ${schema}.execution_state s set seq = seq + 1,
           state = regexp_replace(state, '"lastEventId":\\d+', '"lastEventId":24999')
         from ${schema}.execution e where e.id = s.execution_id and e.arn = $1`,
        [child],
      ),
    );
    await call("RedriveExecution", { executionArn });
    await hasEnded(executionArn, "FAILED");
    expect(await call("DescribeExecution", { executionArn: child })).toEqual(before);
  });

  test("goes on with a run that was stopped with its execution", async () => {
    const { executionArn, mapRunArn } = await startMap([1, 2], { map: { MaxConcurrency: 1 } });
    await nextTask();
    await call("StopExecution", { executionArn });
    await call("RedriveExecution", { executionArn });
    await succeed((await nextTask())!);
    await succeed((await nextTask())!);
    await hasEnded(executionArn, "SUCCEEDED");
    expect(await describeMap(mapRunArn)).toMatchObject({
      redriveCount: 1,
      executionCounts: { succeeded: 2 },
    });
  });

  test("begins Express children anew, and counts the items of batches", async () => {
    const isWell = {
      Type: "Choice",
      Choices: [{ Variable: "$.Items[0]", NumericLessThan: 3, Next: "Well" }],
    };
    const child = {
      StartAt: "Look",
      States: {
        Look: { ...isWell, Default: "Ill" },
        Well: { Type: "Pass", End: true },
        Ill: { Type: "Fail" },
      },
    };
    const map = { ItemBatcher: { MaxItemsPerBatch: 2 }, MaxConcurrency: 1 };
    const { executionArn, mapRunArn } = await startMap([1, 2, 3, 4, 5], { map, childType: "EXPRESS", child });
    await hasEnded(executionArn, "FAILED");
    const counts = {
      executionCounts: { succeeded: 1, failed: 1, pending: 1, total: 3 },
      itemCounts: { succeeded: 2, failed: 2, pending: 1, total: 5 },
    };
    expect(await describeMap(mapRunArn)).toMatchObject(counts);
    await call("RedriveExecution", { executionArn });
    await expect.poll(() => typesOf(executionArn)).toContain("MapRunRedriven");
    await hasEnded(executionArn, "FAILED");
    expect(await describeMap(mapRunArn)).toMatchObject({ redriveCount: 1, ...counts });
  });
});
