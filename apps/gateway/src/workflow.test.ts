// Executions over the wire, in real processes that are killed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "./gateway.fixture.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const roleArn = "arn:aws:iam::000000000000:role/none";

type Call = (operation: string, input: object) => Promise<any>;

const callTo =
  (url: string): Call =>
  async (operation, input) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "x-amz-target": `AWSStepFunctions.${operation}`,
        "content-type": "application/x-amz-json-1.0",
      },
      body: JSON.stringify(input),
    });
    const answer = (await response.json()) as { message?: string; __type?: string };
    if (!response.ok) throw new Error(`${answer.__type}: ${answer.message}`);
    return answer;
  };

const createMachine = async (call: Call, name: string, states: object, startAt: string): Promise<string> => {
  const definition = JSON.stringify({ StartAt: startAt, States: states });
  return (await call("CreateStateMachine", { name, definition, roleArn })).stateMachineArn as string;
};

async function ended(call: Call, executionArn: string) {
  for (const until = Date.now() + 40_000; Date.now() < until;) {
    const execution = await call("DescribeExecution", { executionArn });
    if (execution.status !== "RUNNING") return execution;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${executionArn} has not ended`);
}

/** A Lambda whose answers take a while; it counts the invocations of each payload. */
async function startLambda(delayMs: number, fails: (body: string) => boolean = () => false) {
  const invocations = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      invocations.set(body, (invocations.get(body) ?? 0) + 1);
      setTimeout(() => {
        const error = fails(body) ? { "x-amz-function-error": "Unhandled" } : {};
        response.writeHead(200, { "content-type": "application/json", ...error });
        response.end(fails(body) ? '{"errorType":"Broken"}' : body);
      }, delayMs);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, invocations, close: () => (server.closeAllConnections(), server.close()) };
}

interface Served {
  readonly process: ChildProcess;
  readonly call: Call;
}

async function serve(dataDir: string, lambdaUrl: string): Promise<Served> {
  const child = spawn(process.execPath, ["lib/bin/tuntas.mjs", "serve", "--json"], {
    cwd: root,
    env: {
      ...process.env,
      TUNTAS_PORT: "0",
      TUNTAS_DATA_DIR: dataDir,
      TUNTAS_LAMBDA_ENDPOINT: lambdaUrl,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout!) {
    text += String(chunk);
    if (text.includes("}")) break;
  }
  const { url } = JSON.parse(text) as { url: string };
  return { process: child, call: callTo(url) };
}

const waitAndCall = {
  Pause: { Type: "Wait", Seconds: 1, Next: "Call" },
  Call: { Type: "Task", Resource: "arn:aws:lambda:us-east-1:000000000000:function:slow", Next: "Last" },
  Last: { Type: "Pass", End: true },
};

describe("executions whose process is killed", () => {
  test("go on in another process, calls that were under way are made again", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "tuntas-takeover-"));
    const lambda = await startLambda(1500);
    const [first, second] = await Promise.all([serve(dataDir, lambda.url), serve(dataDir, lambda.url)]);
    const machine = await createMachine(first.call, `takeover-${Date.now()}`, waitAndCall, "Pause");
    const count = 40;
    const arns = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const input = JSON.stringify({ index });
        return (await first.call("StartExecution", { stateMachineArn: machine, input }))
          .executionArn as string;
      }),
    );
    while (lambda.invocations.size < count / 2) await new Promise((resolve) => setTimeout(resolve, 20));
    first.process.kill("SIGKILL");
    const results = await Promise.all(arns.map((arn) => ended(second.call, arn)));
    expect(results.map(({ status }) => status)).toEqual(arns.map(() => "SUCCEEDED"));
    expect(results.map(({ output }) => (JSON.parse(output) as { index: number }).index)).toEqual([
      ...arns.keys(),
    ]);
    const history = (await second.call("GetExecutionHistory", { executionArn: arns[0]! })) as {
      events: { type: string; id: number }[];
    };
    expect(history.events.map(({ id }) => id)).toEqual(history.events.map((_, index) => index + 1));
    expect(history.events.filter(({ type }) => type === "LambdaFunctionSucceeded")).toHaveLength(1);
    second.process.kill("SIGTERM");
    await once(second.process, "exit");
    lambda.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
});

test("P-01 a map run goes on in another process, and so does its redrive", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "tuntas-map-"));
  let isMended = false;
  const lambda = await startLambda(300, (body) => !isMended && Number(body) % 3 === 0);
  const [first, second, third] = (await Promise.all(
    Array.from({ length: 3 }, () => serve(dataDir, lambda.url)),
  )) as [Served, Served, Served];
  const work = { Type: "Task", Resource: "arn:aws:lambda:us-east-1:000000000000:function:work", End: true };
  const all = {
    Type: "Map",
    MaxConcurrency: 2,
    ToleratedFailureCount: 2,
    ItemProcessor: {
      ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
      StartAt: "Work",
      States: { Work: work },
    },
    End: true,
  };
  const stateMachineArn = await createMachine(first.call, `map-${Date.now()}`, { All: all }, "All");
  const items = Array.from({ length: 12 }, (_, n) => n);
  const reached = async (count: number) => {
    while (lambda.invocations.size < count) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const { executionArn } = await first.call("StartExecution", {
    stateMachineArn,
    input: JSON.stringify(items),
  });
  await reached(3);
  first.process.kill("SIGKILL");
  expect(await ended(second.call, executionArn)).toMatchObject({
    status: "FAILED",
    error: "States.ExceedToleratedFailureThreshold",
  });
  isMended = true;
  const before = lambda.invocations.size;
  await second.call("RedriveExecution", { executionArn });
  await reached(before + 1);
  second.process.kill("SIGKILL");
  const { status, output } = await ended(third.call, executionArn);
  expect({ status, output: JSON.parse(output) }).toEqual({ status: "SUCCEEDED", output: items });
  const [{ mapRunArn }] = (await third.call("ListMapRuns", { executionArn })).mapRuns;
  expect(await third.call("DescribeMapRun", { mapRunArn })).toMatchObject({
    status: "SUCCEEDED",
    redriveCount: 1,
    executionCounts: { succeeded: items.length, total: items.length },
  });
  third.process.kill("SIGTERM");
  await once(third.process, "exit");
  lambda.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
}, 240_000);

const withGateway = async (work: (call: Call, gateway: TestGateway) => Promise<void>) => {
  await using gateway = await startTestGateway();
  await work(callTo(gateway.url), gateway);
};

const activityState = (resource: string) => ({ Ask: { Type: "Task", Resource: resource, End: true } });

describe("task tokens", () => {
  test("H-02 are good for one answer; a second and a made-up one are refused as AWS does", () =>
    withGateway(async (call) => {
      const { activityArn } = await call("CreateActivity", { name: "ask" });
      const machine = await createMachine(call, "asking", activityState(activityArn), "Ask");
      const { executionArn } = await call("StartExecution", { stateMachineArn: machine, input: '{"a":1}' });
      const task = await call("GetActivityTask", { activityArn, workerName: "w" });
      expect(task.input).toBe('{"a":1}');
      await call("SendTaskHeartbeat", { taskToken: task.taskToken });
      await call("SendTaskSuccess", { taskToken: task.taskToken, output: '"yes"' });
      const again = call("SendTaskSuccess", { taskToken: task.taskToken, output: '"no"' });
      await expect(again).rejects.toThrow("TaskTimedOut");
      await expect(call("SendTaskFailure", { taskToken: "made up" })).rejects.toThrow("InvalidToken");
      expect((await ended(call, executionArn)).output).toBe('"yes"');
    }));

  test("an activity's task goes to one of many workers that wait", () =>
    withGateway(async (call, { gateway }) => {
      const { activityArn } = await call("CreateActivity", { name: "ask" });
      const machine = await createMachine(call, "asking", activityState(activityArn), "Ask");
      const workers = Array.from({ length: 5 }, () =>
        call("GetActivityTask", { activityArn }).catch(() => ({})),
      );
      const { executionArn } = await call("StartExecution", { stateMachineArn: machine, input: "{}" });
      const task = (await Promise.race(workers)) as { taskToken: string };
      await call("SendTaskFailure", { taskToken: task.taskToken, error: "No", cause: "be\u0000cause" });
      expect(await ended(call, executionArn)).toMatchObject({ status: "FAILED", error: "No" });
      await gateway.close();
      const tasks = (await Promise.all(workers)) as { taskToken?: string }[];
      expect(tasks.filter(({ taskToken }) => taskToken !== undefined)).toHaveLength(1);
    }));
});

describe("hostile executions", () => {
  const evaluate = (expression: string) => ({
    Type: "Pass",
    QueryLanguage: "JSONata",
    Output: `{% ${expression} %}`,
    End: true,
  });

  test("an expression that never ends fails as a query evaluation error, and nobody else waits for it", () =>
    withGateway(async (call) => {
      const loops = "($f := function($n){ $f($n + 1) }; $f(0))";
      const hostile = await createMachine(call, "hostile", { Loop: evaluate(loops) }, "Loop");
      const harmless = await createMachine(call, "harmless", { Add: evaluate("1 + 1") }, "Add");
      const { executionArn } = await call("StartExecution", { stateMachineArn: harmless });
      const looping = call("StartExecution", { stateMachineArn: hostile });
      expect((await ended(call, executionArn)).output).toBe("2");
      const { executionArn: loopingArn } = await looping;
      expect(await ended(call, loopingArn)).toMatchObject({
        status: "FAILED",
        error: "States.QueryEvaluationError",
      });
    }));

  test("what text cannot hold passes as JSON escapes, and ends in an error text without them", () =>
    withGateway(async (call) => {
      const failing = { Type: "Fail", ErrorPath: "$.e", CausePath: "$.e" };
      const machine = await createMachine(call, "odd", { Fail: failing }, "Fail");
      const input = '{"e":"nul \\u0000 and lone \\ud800"}';
      const { executionArn } = await call("StartExecution", { stateMachineArn: machine, input });
      const result = await ended(call, executionArn);
      expect(result).toMatchObject({ status: "FAILED", input, cause: "nul \ufffd and lone \ufffd" });
    }));
});

describe("redrive", () => {
  test("goes on from the state that failed, once", () =>
    withGateway(async (call) => {
      const { activityArn } = await call("CreateActivity", { name: "ask" });
      const states = {
        First: { Type: "Pass", Result: { first: true }, Next: "Ask" },
        Ask: { Type: "Task", Resource: activityArn, End: true },
      };
      const machine = await createMachine(call, "redriven", states, "First");
      const { executionArn } = await call("StartExecution", { stateMachineArn: machine, input: "{}" });
      const first = await call("GetActivityTask", { activityArn });
      await call("SendTaskFailure", { taskToken: first.taskToken, error: "Once" });
      expect(await ended(call, executionArn)).toMatchObject({
        status: "FAILED",
        redriveStatus: "REDRIVABLE",
      });
      await call("RedriveExecution", { executionArn });
      const second = await call("GetActivityTask", { activityArn });
      await call("SendTaskSuccess", { taskToken: second.taskToken, output: second.input });
      expect(await ended(call, executionArn)).toMatchObject({
        status: "SUCCEEDED",
        output: '{"first":true}',
        redriveCount: 1,
      });
      await expect(call("RedriveExecution", { executionArn })).rejects.toThrow("ExecutionNotRedrivable");
    }));
});
