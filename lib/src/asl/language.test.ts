// Behaviours of the language that people have been bitten by elsewhere; the ids are those of conformance/cases.jsonl.
import { describe, expect, it } from "vitest";
import type { Json, JsonObject, StartTask } from "./contract.ts";
import { simulate, type Simulation, type SimulationOptions, type TaskStep } from "./simulate.ts";

const lambda = "arn:aws:lambda:us-east-1:000000000000:function:work";
const callback = "arn:aws:states:::sqs:sendMessage.waitForTaskToken";
const alone = (state: JsonObject, others: JsonObject = {}): JsonObject => ({
  StartAt: "S",
  States: { S: { End: true, ...state }, ...others },
});
const pass = (result: Json): JsonObject => ({ Type: "Pass", Result: result, End: true });
const succeed = (output: Json, afterMs = 0): TaskStep => ({ does: "succeed", output, afterMs });
const states = ({ history }: Simulation): string[] =>
  history.flatMap((event) => {
    const details = event.stateEnteredEventDetails as { name: string } | undefined;
    return details ? [details.name] : [];
  });

async function evaluate(expression: string, input: Json = {}): Promise<Json | string | undefined> {
  const state = { Type: "Pass", QueryLanguage: "JSONata", Output: `{% ${expression} %}` };
  const { output, error } = await simulate(alone(state), input);
  return output === undefined ? error : output;
}

describe("wf-01 Choice: a missing field fails the run, a wrong type is simply false", () => {
  const machine = (choices: readonly JsonObject[]): JsonObject => ({
    StartAt: "C",
    States: {
      C: { Type: "Choice", Choices: choices, Default: "D" },
      Num: pass("num"),
      Str: pass("str"),
      D: pass("default"),
    },
  });
  const number = { Variable: "$.v", NumericEquals: 5 };
  const plain = machine([
    { ...number, Next: "Num" },
    { Variable: "$.v", StringEquals: "5", Next: "Str" },
  ]);

  it.each([
    [{ v: 5 }, "num"],
    [{ v: "5" }, "str"],
    [{ v: null }, "default"],
    [{ v: [5] }, "default"],
  ])("%j goes to %s", async (input, output) => {
    expect(await simulate(plain, input)).toMatchObject({ status: "SUCCEEDED", output });
  });

  it("fails where the field is absent", async () => {
    const { status, error, cause } = await simulate(plain, {});
    expect({ status, error }).toEqual({ status: "FAILED", error: "States.Runtime" });
    expect(cause).toContain("'$.v'");
  });

  it("asks IsPresent first where And does", async () => {
    const guarded = machine([{ And: [{ Variable: "$.v", IsPresent: true }, number], Next: "Num" }]);
    expect(await simulate(guarded, {})).toMatchObject({ output: "default" });
  });
});

describe("wf-03 A JSONata expression that yields nothing fails the state", () => {
  const machine = alone(
    {
      Type: "Task",
      QueryLanguage: "JSONata",
      Resource: lambda,
      Arguments: { h: "{% $states.input.headers.token %}" },
      Catch: [{ ErrorEquals: ["States.QueryEvaluationError"], Next: "Bad" }],
    },
    { Bad: { Type: "Pass", End: true } },
  );

  it.each([
    [{ headers: {} }, 0, "Bad"],
    [{ headers: { token: null } }, 1, null],
    [{ headers: { token: "t" } }, 1, "t"],
  ])("%j", async (input, calls, expected) => {
    const seen: StartTask[] = [];
    const run = await simulate(machine, input, {
      tasks: (task) => {
        seen.push(task);
        return [succeed("done")];
      },
    });
    expect(seen).toHaveLength(calls);
    if (calls === 1) expect(seen[0]!.input).toEqual({ h: expected });
    else expect(states(run)).toEqual(["S", "Bad"]);
  });

  it.each([
    ["Output", { Type: "Pass", Output: { v: "{% $states.input.none %}" } }],
    ["Assign", { Type: "Pass", Assign: { x: "{% $states.input.none %}" } }],
    ["Seconds", { Type: "Wait", Seconds: "{% $states.input.none %}" }],
    ["Items", { Type: "Map", Items: "{% $states.input.none %}", ItemProcessor: alone({ Type: "Pass" }) }],
    ["Condition", { Type: "Choice", Choices: [{ Condition: "{% $states.input.none %}", Next: "S" }] }],
  ])("in %s", async (_field, state) => {
    const { End: _end, ...choice } = alone({ ...state, QueryLanguage: "JSONata" }).States as JsonObject;
    const run = await simulate({ StartAt: "S", States: choice }, {});
    expect(run).toMatchObject({ status: "FAILED", error: "States.QueryEvaluationError" });
  });

  it.each(["$eval('1+1')", "5 < '5'"])("%s fails too", async (expression) => {
    expect(await evaluate(expression)).toBe("States.QueryEvaluationError");
  });
});

it.each([
  ["$states.input.items.n", [[3, 9], 3, "States.QueryEvaluationError"]],
  ["[$states.input.items.n]", [[3, 9], [3], []]],
  ["$states.input.items.n[]", [[3, 9], [3], "States.QueryEvaluationError"]],
])("wf-04 one element is not an array: %s", async (expression, expected) => {
  const inputs = [{ items: [{ n: 3 }, { n: 9 }] }, { items: [{ n: 3 }] }, { items: [] }];
  expect(await Promise.all(inputs.map((input) => evaluate(expression, input)))).toEqual(expected);
});

it.each<[string, Json]>([
  [`$parse("{\\"a\\":1}").a`, 1],
  ["$partition([1,2,3,4,5], 2)", [[1, 2], [3, 4], [5]]],
  ["$range(0, 6, 2)", [0, 2, 4, 6]],
  [`$hash("input", "SHA-1")`, "140f86aae51ab9e1cda9b4254fe98a74eb54c1a1"],
  ["$random(42)", 0.7275636800328681],
  ["$string(1e20)", "100000000000000000000"],
  ["$string(1e21)", "1e+21"],
  ["$string(9223372036854775808)", "9223372036854776000"],
])("wf-05 %s", async (expression, expected) => {
  expect(await evaluate(expression)).toEqual(expected);
});

describe("wf-06 null paths, and which path fields apply when an error is caught", () => {
  const boom = { tasks: (): TaskStep[] => [{ does: "fail", error: "Boom", cause: "x" }] };
  const caught = (catcher: JsonObject) =>
    alone(
      {
        Type: "Task",
        Resource: lambda,
        OutputPath: "$.Payload",
        Catch: [{ ErrorEquals: ["States.ALL"], Next: "N", ...catcher }],
      },
      { N: { Type: "Pass", End: true } },
    );

  it.each<[string, JsonObject, SimulationOptions, Json]>([
    ["InputPath null", alone({ Type: "Pass", InputPath: null }), {}, {}],
    ["OutputPath null", alone({ Type: "Pass", OutputPath: null }), {}, {}],
    [
      "ResultPath null",
      alone({ Type: "Task", Resource: lambda, ResultPath: null }),
      { tasks: () => [succeed("dropped")] },
      { a: 1 },
    ],
    [
      "ResultPath in Catch",
      caught({ ResultPath: "$.error" }),
      boom,
      { a: 1, error: { Error: "Boom", Cause: "x" } },
    ],
    ["no ResultPath in Catch", caught({}), boom, { Error: "Boom", Cause: "x" }],
  ])("%s", async (_name, machine, options, output) => {
    expect(await simulate(machine, { a: 1 }, options)).toMatchObject({ status: "SUCCEEDED", output });
  });
});

describe("wf-09 Too large a state, too long a history", () => {
  const machine = alone(
    { Type: "Task", Resource: lambda, Catch: [{ ErrorEquals: ["States.ALL"], Next: "H" }] },
    { H: { Type: "Pass", End: true } },
  );

  it.each([
    ["262144 bytes pass", "a".repeat(262_142), "SUCCEEDED"],
    ["262145 bytes do not", "a".repeat(262_143), "FAILED"],
    ["bytes count, not characters", "中".repeat(87_382), "FAILED"],
  ])("%s", async (_name, text, status) => {
    const run = await simulate(machine, {}, { tasks: () => [succeed(text)] });
    expect(run.status).toBe(status);
    if (status === "FAILED") expect(run.error).toBe("States.DataLimitExceeded");
    expect(states(run)).toEqual(["S"]);
  });

  it("ends a loop at the history limit", async () => {
    const loop = {
      StartAt: "A",
      States: { A: { Type: "Wait", Seconds: 1, Next: "B" }, B: { Type: "Pass", Next: "A" } },
    };
    const run = await simulate(loop, {});
    expect(run.status).toBe("FAILED");
    expect(run.cause).toContain("maximum number of history events");
    expect(run.history).toHaveLength(25_000);
  });
});

describe("wf-11 Timeout, heartbeat and the callback that comes too late", () => {
  const machine = alone(
    {
      Type: "Task",
      Resource: callback,
      TimeoutSeconds: 10,
      HeartbeatSeconds: 3,
      Catch: [
        { ErrorEquals: ["States.HeartbeatTimeout"], Next: "H" },
        { ErrorEquals: ["States.Timeout"], Next: "T" },
        { ErrorEquals: ["States.ALL"], Next: "A" },
      ],
    },
    { H: pass("H"), T: pass("T"), A: pass("A") },
  );
  const beats = (count: number): TaskStep[] =>
    Array.from({ length: count }, () => ({ does: "heartbeat", afterMs: 2000 }));

  it.each<[string, readonly TaskStep[], Json, number]>([
    ["no signal at all", [], "H", 3000],
    ["heartbeats only", beats(9), "T", 10_000],
    ["success at 2.5 s", [succeed("ok", 2500)], "ok", 2500],
    [
      "success at 9 s, again and failure after it",
      [...beats(4), succeed("ok", 1000), succeed("no", 500)],
      "ok",
      9000,
    ],
    ["success at 4 s", [succeed("late", 4000)], "H", 3000],
  ])("%s", async (_name, steps, output, atMs) => {
    const run = await simulate(machine, {}, { tasks: () => steps });
    expect(run.output).toBe(output);
    expect(run.history.at(-1)!.timestamp * 1000).toBe(atMs);
  });
});

describe("wf-12 A failing branch or item stops its siblings at once; results keep input order", () => {
  const delays = (task: StartTask): TaskStep[] => [succeed(task.input, (task.input as number) * 1000)];

  it("stops the callback of the other branch", async () => {
    const waiting = { StartAt: "W", States: { W: { Type: "Task", Resource: callback, End: true } } };
    const failing = { StartAt: "F", States: { F: { Type: "Fail", Error: "Rejected" } } };
    const machine = alone(
      { Type: "Parallel", Branches: [waiting, failing], Catch: [{ ErrorEquals: ["Rejected"], Next: "R" }] },
      { R: pass("R") },
    );
    const run = await simulate(machine, {}, { tasks: () => [succeed("late", 5000)] });
    expect(run.output).toBe("R");
    expect(run.history.at(-1)!.timestamp).toBe(0);
    expect(run.state.branches).toEqual([]);
  });

  const map = (more: JsonObject): JsonObject =>
    alone(
      {
        Type: "Map",
        ItemProcessor: { StartAt: "I", States: { I: { Type: "Task", Resource: lambda, End: true } } },
        ...more,
      },
      { R: pass("R") },
    );

  it("does not wait for item 0 where item 9 has failed", async () => {
    const tasks = ({ input }: StartTask): TaskStep[] =>
      input === 9 ? [{ does: "fail", error: "Boom", afterMs: 10 }] : [succeed(input, 60_000)];
    const machine = map({ Catch: [{ ErrorEquals: ["Boom"], Next: "R" }] });
    const run = await simulate(machine, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], { tasks });
    expect(run.output).toBe("R");
    expect(run.history.at(-1)!.timestamp).toBe(0.01);
  });

  it("runs two at a time and answers in input order", async () => {
    const run = await simulate(map({ MaxConcurrency: 2 }), [300, 200, 100], { tasks: delays });
    expect(run).toMatchObject({ output: [300, 200, 100], endMs: 300_000 });
  });

  it("gives [] for [] at once", async () => {
    expect(await simulate(map({}), [])).toMatchObject({ output: [], endMs: 0 });
  });
});

describe("wf-14 Redrive: only what failed, fresh retries", () => {
  const task = (name: string, more: JsonObject = {}): JsonObject => ({
    Type: "Task",
    Resource: `${lambda}-${name}`,
    ...more,
  });
  const branch = (name: string, more?: JsonObject): JsonObject => ({
    StartAt: name,
    States: { [name]: { ...task(name, more), End: true } },
  });
  const machine: JsonObject = {
    StartAt: "A",
    States: {
      A: { ...task("A"), Next: "P" },
      P: {
        Type: "Parallel",
        Branches: [
          branch("P1"),
          branch("P2", { Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 2, IntervalSeconds: 1 }] }),
        ],
        Next: "B",
      },
      B: { ...task("B"), End: true },
    },
  };

  it("runs the failed branch again, with its retries, and nothing else", async () => {
    const calls: Record<string, number> = {};
    const tasks = ({ stateName, input }: StartTask): TaskStep[] => {
      const count = (calls[stateName] = (calls[stateName] ?? 0) + 1);
      return stateName === "P2" && count < 6
        ? [{ does: "fail", error: "Boom" }]
        : [succeed(stateName === "B" ? input : stateName)];
    };
    const redrive = (atMs: number) => ({ atMs, happening: { type: "redriven" } as const });
    const run = await simulate(machine, {}, { tasks, happenings: [redrive(60_000), redrive(120_000)] });
    expect(calls).toEqual({ A: 1, P1: 1, P2: 6, B: 1 });
    expect(run).toMatchObject({
      status: "SUCCEEDED",
      output: ["P1", "P2"],
      state: { execution: { redriveCount: 1 } },
    });
    expect(run.history.filter(({ type }) => type === "ExecutionRedriven")).toHaveLength(1);
  });
});

describe("hostile input", () => {
  it("keeps __proto__ as data and pollutes nothing", async () => {
    const input = JSON.parse('{"__proto__":{"polluted":true},"k":1}') as Json;
    const machine = alone({
      Type: "Pass",
      Parameters: JSON.parse('{"__proto__.$":"$.k","copy.$":"$[\'__proto__\']"}') as JsonObject,
    });
    const { output } = await simulate(machine, input);
    expect(JSON.stringify(output)).toBe('{"__proto__":1,"copy":{"polluted":true}}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("gives the engine its turn in a loop that waits for nothing", async () => {
    const loop = { StartAt: "A", States: { A: { Type: "Pass", Next: "B" }, B: { Type: "Pass", Next: "A" } } };
    let turns = 0;
    const stop = [{ atMs: 1, happening: { type: "stopped" } as const }];
    const run = await simulate(
      loop,
      {},
      {
        history: false,
        happenings: stop,
        observe: ({ state }) => (++turns > 3 ? { ...state, branches: [], status: "ABORTED" } : state),
      },
    );
    expect(run.state.status).toBe("ABORTED");
  });
});

describe("distributed Map", () => {
  const children = {
    ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
    StartAt: "I",
    States: { I: { Type: "Task", Resource: lambda, End: true } },
  };
  const reader = (InputType: string, more: JsonObject = {}): JsonObject => ({
    Resource: "arn:aws:states:::s3:getObject",
    ReaderConfig: { InputType, ...more },
    Parameters: { Bucket: "b", "Key.$": "$.key" },
  });
  const echo = ({ input }: StartTask): TaskStep[] =>
    JSON.stringify(input).includes("bad") ? [{ does: "fail", error: "Bad" }] : [succeed(input)];
  const store: Record<string, string> = {
    "lines.jsonl": '{"n":1}\n{"n":2}\n\n{"n":3}\n',
    "manifest.json": JSON.stringify({
      destinationBucket: "arn:aws:s3:::b",
      fileSchema: "Bucket, Key",
      files: [{ key: "one.csv" }, { key: "two.csv" }],
    }),
    "one.csv": '"b","x"\n"b","y"\n',
    "two.csv": "b,z\n",
    "pipe.csv": "k|v\na|1\n",
    "items.json": '["ok","bad","ok","ok"]',
  };
  const objects = (_resource: string, { Key }: JsonObject) =>
    store[Key as string] ?? { error: "S3.NoSuchKeyException", cause: "none" };
  const run = (state: JsonObject, key: string) =>
    simulate(alone({ Type: "Map", ItemProcessor: children, ...state }), { key }, { objects, tasks: echo });

  it.each<[string, JsonObject, Json]>([
    ["lines.jsonl", { ItemReader: reader("JSONL", { MaxItems: 2 }) }, [{ n: 1 }, { n: 2 }]],
    [
      "manifest.json",
      { ItemReader: reader("MANIFEST") },
      [
        { Bucket: "b", Key: "x" },
        { Bucket: "b", Key: "y" },
        { Bucket: "b", Key: "z" },
      ],
    ],
    [
      "pipe.csv",
      { ItemReader: reader("CSV", { CSVHeaderLocation: "FIRST_ROW", CSVDelimiter: "PIPE" }) },
      [{ k: "a", v: "1" }],
    ],
    [
      "items.json",
      { ItemReader: reader("JSON"), ToleratedFailurePercentage: 25 },
      ["ok", { Status: "FAILED", Error: "Bad" }, "ok", "ok"],
    ],
    [
      "lines.jsonl",
      { ItemReader: reader("JSONL"), ItemBatcher: { MaxItemsPerBatch: 2, BatchInput: { "k.$": "$.key" } } },
      [
        { BatchInput: { k: "lines.jsonl" }, Items: [{ n: 1 }, { n: 2 }] },
        { BatchInput: { k: "lines.jsonl" }, Items: [{ n: 3 }] },
      ],
    ],
  ])("%s", async (key, state, output) => {
    expect(await run(state, key)).toMatchObject({ status: "SUCCEEDED", output });
  });

  it("fails beyond the tolerated failures", async () => {
    const failed = await run({ ItemReader: reader("JSON"), ToleratedFailureCount: 0 }, "items.json");
    expect(failed).toMatchObject({ status: "FAILED", error: "States.ExceedToleratedFailureThreshold" });
    expect(failed.history.map(({ type }) => type).slice(-3)).toEqual([
      "MapRunFailed",
      "MapStateFailed",
      "ExecutionFailed",
    ]);
  });

  it("fails where the reader finds nothing, and may catch that", async () => {
    const state = {
      ItemReader: reader("JSON"),
      Catch: [{ ErrorEquals: ["S3.NoSuchKeyException"], Next: "S2" }],
    };
    const machine = alone({ Type: "Map", ItemProcessor: children, ...state }, { S2: pass("caught") });
    expect(await simulate(machine, { key: "none" }, { objects })).toMatchObject({ output: "caught" });
  });

  it("writes results to files and answers where they are", async () => {
    const written: string[] = [];
    const observe: SimulationOptions["observe"] = ({ state, commands }) => {
      for (const command of commands)
        if (command.type === "writeResults")
          written.push(...command.files.map(({ key }) => key.split("/").at(-1)!));
      return state;
    };
    const state = {
      ItemReader: reader("JSON"),
      ToleratedFailureCount: 1,
      ResultWriter: { Resource: "arn:aws:states:::s3:putObject", Parameters: { Bucket: "out", Prefix: "p" } },
    };
    const { output } = await simulate(
      alone({ Type: "Map", ItemProcessor: children, ...state }),
      { key: "items.json" },
      { objects, tasks: echo, observe },
    );
    expect(written).toEqual(["FAILED_0.json", "SUCCEEDED_0.json", "manifest.json"]);
    expect(output).toMatchObject({
      ResultWriterDetails: { Bucket: "out", Key: expect.stringMatching(/^p\/.*\/manifest\.json$/) as string },
    });
  });
});

it("fails an execution whose data is nested too deeply, and not the engine", async () => {
  const input = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as Json;
  expect(await simulate(alone({ Type: "Pass" }), input)).toMatchObject({
    status: "FAILED",
    error: "States.Runtime",
  });
});

describe("values of the wrong type are named with the field and what refers to them", () => {
  const fail = (fields: JsonObject): JsonObject => ({
    StartAt: "S",
    States: { S: { Type: "Fail", ...fields } },
  });
  const jsonata = { QueryLanguage: "JSONata" };
  const map = {
    Type: "Map",
    ItemsPath: "$.items",
    ToleratedFailurePercentagePath: "$.n",
    ItemProcessor: {
      ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
      StartAt: "P",
      States: { P: pass(1) },
    },
  };

  it.each([
    [
      fail({ ErrorPath: "$.n" }),
      "States.Runtime",
      "The ErrorPath parameter does not reference a string value: $.n == [1]",
    ],
    [
      fail({ ...jsonata, Cause: "{% $states.input.n %}" }),
      "States.QueryEvaluationError",
      "The JSONata expression '$states.input.n' specified for the field 'Cause' returned an unexpected result type. Expected 'string', but was 'array' for value: [1]",
    ],
    [
      alone(map),
      "States.Runtime",
      'The ToleratedFailurePercentagePath field refers to value "[1]" which is not a valid float: $.n',
    ],
  ])("%#: %j", async (machine, error, cause) => {
    const run = await simulate(machine, { n: [1], items: [1] });
    expect(run).toMatchObject({ status: "FAILED", error, cause: expect.stringContaining(cause) });
  });
});
