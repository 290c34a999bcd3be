// Map runs over the wire: changed while they run, stopped from another process, and redriven with their execution.
import { randomUUID } from "node:crypto";
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
  await expect.poll(async () => (await runs()).mapRuns.length, { timeout: 10_000 }).toBe(1);
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
  expect.poll(() => statusOf(executionArn), { timeout: 20_000 }).toBe(status);

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
    expect(parse((await call("DescribeExecution", { executionArn })).output)).toEqual([2, 3]);
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
    await expect
      .poll(async () => (await describeMap(mapRunArn)).executionCounts.failed, { timeout: 5000 })
      .toBe(1);
    await call("UpdateMapRun", { mapRunArn, toleratedFailureCount: 0 });
    await hasEnded(executionArn, "FAILED");
    expect(await describeMap(mapRunArn)).toMatchObject({
      status: "FAILED",
      executionCounts: { failed: 1, aborted: 1 },
    });
  });
});

test("a map run whose execution is stopped in another process stops its children and starts no more", async () => {
  const { executionArn, mapRunArn } = await startMap([1, 2, 3], { map: { MaxConcurrency: 2 } });
  await nextTask();
  const other = await gateway.kit.another();
  const execution = (await other.workflows.executions.find(executionArn))!;
  expect(await other.workflows.executions.stop(execution, {})).toBe(true);
  await expect.poll(async () => (await describeMap(mapRunArn)).status, { timeout: 10_000 }).toBe("ABORTED");
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
    await expect.poll(() => typesOf(executionArn), { timeout: 20_000 }).toContain("MapRunRedriven");
    await hasEnded(executionArn, "FAILED");
    expect(await describeMap(mapRunArn)).toMatchObject({ redriveCount: 1, ...counts });
  });
});
