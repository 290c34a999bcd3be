// The cases of conformance/cases.jsonl that are about workflows and batches, each under its id: real executions on a real
// PostgreSQL. What of them is the language alone stands in asl/language.test.ts, where every variant is tried.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { app, start } from "../app.ts";
import type { Json, JsonObject } from "../asl/contract.ts";
import { statement } from "../pg/database.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { ExecutionRecord } from "./contract.ts";
import { task, workflow, type Task, type TaskContext } from "./declaration.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await sql("create table tuntas.effect (execution text not null, step text not null)");
});
afterAll(() => kit[Symbol.asyncDispose]());

const sql = (text: string, values: unknown[] = []) => kit.platform.database.run(statement(text), values);

const call = (name: string, more: JsonObject = {}): JsonObject => ({ Type: "Task", Resource: name, ...more });
const pass = (result: Json): JsonObject => ({ Type: "Pass", Result: result, End: true });
const one = (state: JsonObject, others: JsonObject = {}): JsonObject => ({
  StartAt: "S",
  States: { S: { End: true, ...state }, ...others },
});
/** The same within another state, where no name may be there twice. */
const inner = (state: JsonObject, name = "I"): JsonObject => ({
  StartAt: name,
  States: { [name]: { End: true, ...state } },
});
const jsonata = (state: JsonObject): JsonObject => ({ QueryLanguage: "JSONata", ...state });

/** A state that calls `ask` and waits for who answers the token. */
const callback = (more: JsonObject = {}): JsonObject => ({
  Type: "Task",
  Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
  Parameters: { FunctionName: "ask", Payload: { "token.$": "$$.Task.Token" } },
  ...more,
});

/** A promise that others resolve. */
function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

async function ended(arn: string): Promise<ExecutionRecord> {
  let found: ExecutionRecord | undefined;
  const status = async () => (found = await kit.platform.workflows.executions.find(arn))?.status;
  await expect.poll(status, { interval: 10 }).not.toBe("RUNNING");
  return found!;
}

/** Declares it, and serves it while `work` starts executions and answers what they came to. */
async function serving<T>(
  { definition, tasks = {} }: { definition: JsonObject; tasks?: Record<string, Task> },
  work: (begin: (input?: Json) => Promise<string>) => Promise<T>,
): Promise<T> {
  const declared = workflow(`w-${randomUUID()}`, { definition, tasks });
  const running = await start(app({ declared }), { platform: kit.platform });
  try {
    return await work(async (input = {}) => (await declared.start(input)).arn);
  } finally {
    await running.stop();
  }
}

/** What one execution for each input comes to: its output, or the error that it failed with. */
const outcomes = (definition: JsonObject, inputs: readonly Json[], tasks: Record<string, Task> = {}) =>
  serving({ definition, tasks }, (begin) =>
    Promise.all(
      inputs.map(async (input) => {
        const { status, output, error } = await ended(await begin(input));
        return status === "SUCCEEDED" ? (JSON.parse(output!) as Json) : `${status} ${error}`;
      }),
    ),
  );

const eventsOf = async (execution: ExecutionRecord) =>
  (await kit.platform.workflows.executions.history(execution)).map(({ type }) => type);

/** What an execution has in the tables of things to come. */
const leftOf = async ({ id }: ExecutionRecord) =>
  (
    await sql(
      `select (select count(*) from tuntas.workflow_call where execution_id = $1)::int as calls,
        (select count(*) from tuntas.workflow_due where execution_id = $1)::int as due`,
      [id],
    )
  )[0];

describe("data", () => {
  test("wf-01 Choice: a missing field fails the run and is named, a wrong type is simply false", async () => {
    const number = { Variable: "$.v", NumericEquals: 5 };
    const text = { Variable: "$.v", StringEquals: "5" };
    const machine = (rules: readonly JsonObject[]): JsonObject => {
      const choices = rules.map((rule, index) => ({ ...rule, Next: ["Num", "Str"][index]! }));
      const choice = { Type: "Choice", Choices: choices, Default: "D" };
      const ends = { Num: pass("num"), Str: pass("str"), D: pass("default") };
      return { StartAt: "C", States: { C: choice, ...ends } };
    };
    const inputs = [{ v: 5 }, { v: "5" }, { v: null }, { v: [5] }];
    expect(await outcomes(machine([number, text]), inputs)).toEqual(["num", "str", "default", "default"]);
    const missing = await serving({ definition: machine([number, text]) }, async (begin) =>
      ended(await begin()),
    );
    expect(missing).toMatchObject({ status: "FAILED", error: "States.Runtime" });
    expect(missing.cause).toContain("'$.v'");
    const guarded = { And: [{ Variable: "$.v", IsPresent: true }, number] };
    const { Str: _unreached, ...states } = machine([guarded]).States as JsonObject;
    expect(await outcomes({ StartAt: "C", States: states }, [{}])).toEqual(["default"]);
  });

  test("wf-03 a JSONata expression that yields nothing fails the state, and the task is not called", async () => {
    const seen: Json[] = [];
    const definition = one(
      jsonata({
        ...call("work"),
        Arguments: { h: "{% $states.input.headers.token %}" },
        Catch: [
          { ErrorEquals: ["States.QueryEvaluationError"], Next: "Bad", Output: "{% $states.errorOutput %}" },
        ],
      }),
      { Bad: { Type: "Pass", End: true } },
    );
    const inputs = [{ headers: {} }, { headers: { token: null } }, { headers: { token: "t" } }];
    const work = (input: Json) => void seen.push(input);
    const [bad] = await outcomes(definition, inputs, { work });
    expect(bad).toMatchObject({ Error: "States.QueryEvaluationError" });
    expect((bad as { Cause: string }).Cause).toContain(
      "'$states.input.headers.token' specified for the field 'Arguments/h'",
    );
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([{ h: null }, { h: "t" }]));
  });

  const nothing = "{% $states.input.none %}";
  const item = inner({ Type: "Pass" });
  test.each<[string, JsonObject]>([
    ["Output", { Type: "Pass", Output: { v: nothing } }],
    ["Assign", { Type: "Pass", Assign: { x: nothing } }],
    ["Seconds", { Type: "Wait", Seconds: nothing }],
    ["Items", { Type: "Map", Items: nothing, ItemProcessor: item }],
    ["MaxConcurrency", { Type: "Map", Items: [1], MaxConcurrency: nothing, ItemProcessor: item }],
    ["$eval", { Type: "Pass", Output: "{% $eval('1+1') %}" }],
    ["5 < '5'", { Type: "Pass", Output: "{% 5 < '5' %}" }],
  ])("wf-03 in %s", async (_where, state) => {
    expect(await outcomes(one(jsonata(state)), [{}])).toEqual(["FAILED States.QueryEvaluationError"]);
  });

  test("wf-03 in a Choice's Condition", async () => {
    const choice = jsonata({ Type: "Choice", Choices: [{ Condition: nothing, Next: "D" }], Default: "D" });
    const definition = { StartAt: "S", States: { S: choice, D: { Type: "Pass", End: true } } };
    expect(await outcomes(definition, [{}])).toEqual(["FAILED States.QueryEvaluationError"]);
  });

  test.each<[string, Json]>([
    [
      "$states.input.items.n",
      [[3, 9], "FAILED States.QueryEvaluationError", "FAILED States.QueryEvaluationError"],
    ],
    ["[$states.input.items.n]", [[3, 9], [3], []]],
    ["$states.input.items.n[]", [[3, 9], [3], "FAILED States.QueryEvaluationError"]],
  ])("wf-04 one element is not an array: a Map over %s", async (expression, expected) => {
    const map = { Type: "Map", Items: `{% ${expression} %}`, ItemProcessor: inner({ Type: "Pass" }) };
    const inputs = [{ items: [{ n: 3 }, { n: 9 }] }, { items: [{ n: 3 }] }, { items: [] }];
    expect(await outcomes(one(jsonata(map)), inputs)).toEqual(expected);
  });

  test("wf-05 the additions to JSONata, and large numbers as text, on every run", async () => {
    const expressions: [string, Json][] = [
      [`$parse("{\\"a\\":1}").a`, 1],
      ["$partition([1,2,3,4,5], 2)", [[1, 2], [3, 4], [5]]],
      ["$range(0, 6, 2)", [0, 2, 4, 6]],
      [`$hash("input", "SHA-1")`, "140f86aae51ab9e1cda9b4254fe98a74eb54c1a1"],
      ["$random(42)", 0.7275636800328681],
      ["$string(1e20)", "100000000000000000000"],
      ["$string(1e21)", "1e+21"],
      ["$string(9223372036854775808)", "9223372036854776000"],
    ];
    const output = expressions.map(([expression]) => `{% ${expression} %}`);
    const expected = expressions.map(([, value]) => value);
    const definition = one(jsonata({ Type: "Pass", Output: output }));
    expect(await outcomes(definition, [{}, {}])).toEqual([expected, expected]);
  });

  test("wf-06 null paths, and which path fields apply when an error is caught", async () => {
    class Boom extends Error {}
    const tasks = {
      work: () => "dropped",
      fail: () => {
        throw new Boom("x");
      },
    };
    const caught = (more: JsonObject) =>
      one(
        call("fail", {
          OutputPath: "$.Payload",
          Catch: [{ ErrorEquals: ["States.ALL"], Next: "N", ...more }],
        }),
        { N: { Type: "Pass", End: true } },
      );
    const only = async (definition: JsonObject, name?: "work" | "fail", input: Json = { a: 1 }) =>
      (await outcomes(definition, [input], name ? { [name]: tasks[name] } : {}))[0];
    const error = { Error: "Boom", Cause: expect.stringContaining('"x"') };
    const empty = { Type: "Pass", InputPath: null };
    expect(await only(one(empty))).toEqual({});
    expect(await only(one({ Type: "Pass", OutputPath: null }))).toEqual({});
    expect(await only(one({ Type: "Map", ItemProcessor: inner(empty) }), undefined, [1, 2])).toEqual([
      {},
      {},
    ]);
    expect(await only(one(call("work", { ResultPath: null })), "work")).toEqual({ a: 1 });
    expect(await only(caught({ ResultPath: "$.error" }), "fail")).toEqual({ a: 1, error });
    expect(await only(caught({}), "fail")).toEqual(error);
  });
});

describe("limits", () => {
  test("wf-09 a result of 262144 bytes passes, one more ends it by name, and no Catch takes it", async () => {
    const definition = one(call("say", { Catch: [{ ErrorEquals: ["States.ALL"], Next: "H" }] }), {
      H: pass("H"),
    });
    const say = ({ text, times }: { text: string; times: number }) => text.repeat(times);
    const inputs = [
      { text: "a", times: 262_142 }, // JSON adds two quotes
      { text: "a", times: 262_143 },
      { text: "中", times: 87_382 },
    ];
    const [first, ...others] = await outcomes(definition, inputs, { say });
    expect((first as string).length).toBe(262_142);
    expect(others).toEqual(["FAILED States.DataLimitExceeded", "FAILED States.DataLimitExceeded"]);
  });

  test("wf-09 a history of 25000 events ends the run by name, and what was done is not done again", async () => {
    const definition = {
      StartAt: "Once",
      States: {
        Once: call("effect", { Next: "Wait" }),
        Wait: { Type: "Wait", Seconds: 0, Next: "Work" },
        Work: call("work", { Next: "Again" }),
        Again: {
          Type: "Choice",
          Choices: [{ Variable: "$.n", NumericLessThan: 0, Next: "Done" }],
          Default: "Wait",
        },
        Done: { Type: "Succeed" },
      },
    };
    let rounds = 0;
    const tasks = {
      effect: (_input: Json, ctx: TaskContext) => {
        ctx.write(`insert into ${kit.schema}.effect values ($1, 'Once')`, [ctx.execution.arn]);
        return { n: 0 };
      },
      work: () => ({ n: ++rounds }),
    };
    await serving({ definition, tasks }, async (begin) => {
      const execution = await ended(await begin());
      expect(execution).toMatchObject({ status: "FAILED", error: "States.Runtime" });
      expect(execution.cause).toMatch(/history/);
      expect((await eventsOf(execution)).length).toBeLessThanOrEqual(25_000);
      expect(rounds).toBeLessThanOrEqual(2777);
      expect(await leftOf(execution)).toEqual({ calls: 0, due: 0 });
      const effects = await sql("select step from tuntas.effect where execution = $1", [execution.arn]);
      expect(effects).toEqual([{ step: "Once" }]);
    });
  }, 240_000);
});

describe("time", () => {
  // The case's seconds, a hundred times as long: so that a busy machine does not add to them.
  const asking = one(
    callback({
      TimeoutSeconds: 1000,
      HeartbeatSeconds: 300,
      Catch: [
        { ErrorEquals: ["States.HeartbeatTimeout"], Next: "H" },
        { ErrorEquals: ["States.Timeout"], Next: "T" },
        { ErrorEquals: ["States.ALL"], Next: "A" },
      ],
    }),
    { H: pass("H"), T: pass("T"), A: pass("A") },
  );
  const seconds = (count: number) => kit.advance(count * 1000);

  interface Asked {
    readonly arn: string;
    readonly answer: (output: Json) => Promise<string>;
    readonly fail: () => Promise<string>;
    readonly beat: () => Promise<string>;
    readonly status: () => Promise<string | undefined>;
  }

  /** Starts it, and waits until the callback is open. */
  const asked = <T>(work: (asked: Asked) => Promise<T>): Promise<T> => {
    let token: string | undefined;
    const ask = (_input: Json, ctx: TaskContext) => void (token = ctx.taskToken);
    return serving({ definition: asking, tasks: { ask } }, async (begin) => {
      const { activities, executions } = kit.platform.workflows;
      const arn = await begin();
      const submitted = async () => eventsOf((await executions.find(arn))!);
      await expect.poll(submitted, { interval: 10 }).toContain("TaskSubmitted");
      return work({
        arn,
        answer: async (output) => (await activities.succeed(token!, output)).status,
        fail: async () => (await activities.fail(token!, { error: "Late" })).status,
        beat: async () => (await activities.heartbeat(token!)).status,
        status: async () => (await executions.find(arn))?.status,
      });
    });
  };
  const outputOf = async ({ arn }: Asked) => JSON.parse((await ended(arn)).output!) as Json;

  test("wf-11 no sign of life fails by States.HeartbeatTimeout, and an answer after that is refused", () =>
    asked(async (each) => {
      await seconds(250);
      expect(await each.status()).toBe("RUNNING");
      await seconds(51);
      expect(await outputOf(each)).toBe("H");
      expect(await each.answer("late")).toBe("gone");
    }));

  test("wf-11 heartbeats do not move the total", () =>
    asked(async (each) => {
      for (let passed = 0; passed < 800; passed += 200) {
        await seconds(200);
        expect(await each.beat()).toBe("accepted");
      }
      expect(await each.status()).toBe("RUNNING");
      await seconds(201);
      expect(await outputOf(each)).toBe("T");
    }));

  test("wf-11 an answer in time completes it", () =>
    asked(async (each) => {
      await seconds(250);
      expect(await each.answer("ok")).toBe("accepted");
      expect(await outputOf(each)).toBe("ok");
    }));

  test("wf-11 a token is good for one answer; a second one, a failure and an unknown token are refused", () =>
    asked(async (each) => {
      for (let passed = 0; passed < 800; passed += 200) {
        await seconds(200);
        await each.beat();
      }
      await seconds(100);
      expect(await each.answer("ok")).toBe("accepted");
      expect(await outputOf(each)).toBe("ok");
      const before = await eventsOf(await ended(each.arn));
      expect([await each.answer("again"), await each.fail(), await each.beat()]).toEqual([
        "gone",
        "gone",
        "gone",
      ]);
      expect(await eventsOf(await ended(each.arn))).toEqual(before);
      const { activities } = kit.platform.workflows;
      expect((await activities.succeed(randomUUID(), {})).status).toBe("gone");
      expect((await activities.succeed("no token", {})).status).toBe("invalid");
    }));
});

describe("branches and items", () => {
  test("wf-12 a failing branch ends the one that waits for a callback, whose answer is refused", async () => {
    let token: string | undefined;
    const gate = signal();
    class Rejected extends Error {}
    const tasks = {
      ask: (_input: Json, ctx: TaskContext) => void (token = ctx.taskToken),
      reject: async () => {
        await gate.promise;
        throw new Rejected();
      },
    };
    const definition = one(
      {
        Type: "Parallel",
        Branches: [inner(callback()), inner(call("reject"), "J")],
        Catch: [{ ErrorEquals: ["Rejected"], Next: "R" }],
      },
      { R: pass("R") },
    );
    await serving({ definition, tasks }, async (begin) => {
      const arn = await begin();
      await expect.poll(() => token).toBeDefined();
      gate.resolve();
      const execution = await ended(arn);
      expect(execution.output).toBe('"R"');
      expect((await kit.platform.workflows.activities.succeed(token!, "late")).status).toBe("gone");
      expect(await leftOf(execution)).toEqual({ calls: 0, due: 0 });
    });
  });

  test("wf-12 item 9 fails while item 0 works: item 0 is told to stop, no item starts, its result is dropped", async () => {
    class Boom extends Error {}
    const begun: number[] = [];
    const stopped = signal();
    const all = signal();
    const work = async (n: number, ctx: TaskContext) => {
      if (begun.push(n) === 10) all.resolve();
      await all.promise;
      if (n === 9) throw new Boom();
      ctx.signal.addEventListener("abort", () => stopped.resolve());
      if (n === 0) await stopped.promise; // else for a minute
      return n;
    };
    const definition = one(
      { Type: "Map", ItemProcessor: inner(call("work")), Catch: [{ ErrorEquals: ["Boom"], Next: "R" }] },
      { R: pass("R") },
    );
    await serving({ definition, tasks: { work } }, async (begin) => {
      const execution = await ended(await begin([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
      expect(execution.output).toBe('"R"');
      await stopped.promise;
      await expect.poll(() => leftOf(execution)).toEqual({ calls: 0, due: 0 });
      expect(begun).toHaveLength(10);
      expect(await ended(execution.arn)).toEqual(execution);
    });
  });

  test("wf-12 results keep the input's order, never more than two at a time, and [] gives []", async () => {
    let atOnce = 0;
    let most = 0;
    const work = async (ms: number) => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, ms));
      atOnce--;
      return ms;
    };
    const definition = one({ Type: "Map", MaxConcurrency: 2, ItemProcessor: inner(call("work")) });
    const inputs = [[300, 200, 100], []];
    expect(await outcomes(definition, inputs, { work })).toEqual(inputs);
    expect(most).toBe(2);
  });

  test("P-38 wf-12 outputs keep the order of the branches, whichever is first", async () => {
    const second = signal();
    const tasks = {
      slow: async () => (await second.promise, "slow"),
      fast: () => (second.resolve(), "fast"),
    };
    const definition = one({ Type: "Parallel", Branches: [inner(call("slow")), inner(call("fast"), "J")] });
    expect(await outcomes(definition, [{}], tasks)).toEqual([["slow", "fast"]]);
  });
});

test("wf-14 a redrive runs only what failed, on its own revision, with its retries anew", async () => {
  const calls: Record<string, number> = {};
  const count = (name: string) => (calls[name] = (calls[name] ?? 0) + 1);
  const p2Inputs: unknown[] = [];
  const done = (name: string) =>
    task({ idempotent: true, handle: (input: unknown) => (count(name), name === "B" ? input : name) });
  class Broken extends Error {}
  const P2 = task({
    idempotent: true,
    handle(input: unknown) {
      p2Inputs.push(input);
      if (count("P2") < 6) throw new Broken();
      return "P2";
    },
  });
  const Retry = [{ ErrorEquals: ["States.ALL"], MaxAttempts: 2, IntervalSeconds: 1 }];
  const definition = (last: string): JsonObject => ({
    StartAt: "A",
    States: {
      A: call("A", { Next: "P" }),
      P: { Type: "Parallel", Branches: [inner(call("P1")), inner(call("P2", { Retry }), "J")], Next: last },
      [last]: call("B", { End: true }),
    },
  });
  const tasks = { A: done("A"), P1: done("P1"), P2, B: done("B") };
  await serving({ definition: definition("B"), tasks }, async (begin) => {
    const { executions, machines, redrives } = kit.platform.workflows;
    const arn = await begin({ n: 1 });
    const redrive = async () => executions.redrive((await executions.find(arn))!);
    expect(await redrive()).toBe(false); // it runs
    const tried = async (times: number) => {
      while ((calls.P2 ?? 0) < times) await kit.advance(1000);
      return ended(arn);
    };
    const failed = await tried(3);
    expect(failed).toMatchObject({ status: "FAILED", error: "Broken", redriveCount: 0 });
    const { machine } = (await machines.resolve(failed.machineArn))!;
    await machines.update(machine, {
      settings: { definition: JSON.stringify(definition("Changed")) },
      publish: false,
    });
    expect(await redrive()).toBe(true);
    const again = await tried(6);
    expect(again).toMatchObject({ status: "SUCCEEDED", output: '["P1","P2"]', redriveCount: 1 });
    expect(again.revision).toBe(failed.revision);
    expect(calls).toEqual({ A: 1, P1: 1, P2: 6, B: 1 });
    expect(new Set(p2Inputs.map((each) => JSON.stringify(each)))).toEqual(new Set(['"A"']));
    const history = await executions.history(again);
    expect(history.map(({ id }) => id)).toEqual(history.map((_, index) => index + 1));
    expect(history.filter(({ type }) => type === "ExecutionRedriven")).toHaveLength(1);
    expect(await redrive()).toBe(false); // it succeeded
    expect((await redrives.inspect(arn))?.verdict).toBe("forbidden");
  });
});

describe("batch", () => {
  /** A child execution an item. */
  const items = (more: JsonObject = {}): JsonObject =>
    one({
      Type: "Map",
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        ...inner(call("work")),
      },
      ...more,
    });

  /** What the map run says: how many by status, and what failed by which error. */
  const reportOf = async (execution: ExecutionRecord) => {
    const { executions } = kit.platform.workflows;
    const [run] = await executions.mapRuns(execution, { limit: 10, offset: 0 });
    const children = await executions.children(run!.arn, { status: "FAILED" }, { limit: 10, offset: 0 });
    const failed = await Promise.all(children.map(({ arn }) => executions.find(arn)));
    const failures = failed.map((child) => `${child!.input} ${child!.error}`).toSorted();
    return { status: run!.status, itemCount: run!.itemCount, counts: run!.counts, failures };
  };

  test("batch-02 where every item fails the report has every item", async () => {
    const work = (item: string) => {
      throw new RangeError(item);
    };
    const tolerant = items({ ToleratedFailurePercentage: 100 });
    await serving({ definition: tolerant, tasks: { work } }, async (begin) => {
      const execution = await ended(await begin(["a", "b"]));
      expect(execution.status).toBe("SUCCEEDED");
      expect(await reportOf(execution)).toEqual({
        status: "SUCCEEDED",
        itemCount: 2,
        counts: { FAILED: 2 },
        failures: ['"a" RangeError', '"b" RangeError'],
      });
    });
    await serving({ definition: items(), tasks: { work } }, async (begin) => {
      const execution = await ended(await begin(["a", "b"]));
      expect(execution).toMatchObject({ status: "FAILED", error: "States.ExceedToleratedFailureThreshold" });
      const { status, failures } = await reportOf(execution);
      expect(status).toBe("FAILED");
      expect(failures.length).toBeGreaterThan(0);
    });
  });

  test("batch-02 an item that throws undefined fails alone, and is named", async () => {
    const work = (item: number) => {
      if (item === 2) throw undefined;
      return item;
    };
    await serving({ definition: items({ ToleratedFailureCount: 1 }), tasks: { work } }, async (begin) => {
      const execution = await ended(await begin([1, 2, 3]));
      expect(execution.status).toBe("SUCCEEDED");
      expect(await reportOf(execution)).toEqual({
        status: "SUCCEEDED",
        itemCount: 3,
        counts: { FAILED: 1, SUCCEEDED: 2 },
        failures: ["2 Error"],
      });
    });
  });
});
