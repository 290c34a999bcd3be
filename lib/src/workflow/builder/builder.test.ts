// Machines out of the builder: the document that they are, on the virtual clock, and on a real PostgreSQL.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../../app.ts";
import { testPlatform, testWorkflow, type Mock } from "../../testing/index.ts";
import { approval } from "../approval/declaration.ts";
import { task, workflow } from "../declaration.ts";
import { toOutline } from "../../asl/graph/index.ts";
import {
  and,
  eq,
  exists,
  expressionOf,
  gt,
  item,
  jsonata,
  not,
  or,
  orElse,
  refOf,
  shape,
  written,
} from "./expression.ts";
import { machine } from "./flow.ts";
import { s3Items } from "./run.ts";

class NoStock extends Error {}

const lines = z.array(z.object({ sku: z.string(), count: z.number() }));
const order = z.object({ orderId: z.string(), lines, note: z.string().optional() });
const reserve = task({
  input: z.object({ sku: z.string(), count: z.number() }),
  idempotent: true,
  handle: ({ sku, count }) => {
    if (count > 100) throw new NoStock(sku);
    return { sku, reserved: count };
  },
});
const total = (reserved: readonly { readonly reserved: number }[]) => ({
  pieces: reserved.reduce((sum, each) => sum + each.reserved, 0),
});
const confirm = approval({
  input: z.object({ orderId: z.string(), pieces: z.number() }),
  request: ({ orderId, pieces }) => ({
    subject: `order ${orderId}`,
    requestedBy: "shop",
    evidence: { pieces },
    deciders: { roles: ["clerk"] },
    due: "1d",
    expires: "2d",
  }),
});
const invoice = ({ pieces }: { pieces: number }) => ({ invoice: `for ${pieces}` });
const pack = ({ pieces }: { pieces: number }) => ({ parcels: Math.ceil(pieces / 10) });

/** All eight kinds of state, with Retry, Catch, variables, an approval and a loop. */
const ordering = machine({ input: order, comment: "An order, from stock to door", timeout: "30d" })
  .aside(shape<{ readonly why: string }>(), (flow) =>
    flow.fail("Refused", { error: "OrderRefused", cause: ($) => $.input.why }),
  )
  .map(
    "Reserve lines",
    ($) => $.input.lines,
    (flow) =>
      flow
        .task("Reserve", reserve, {
          retry: [{ errors: ["TransientDatabaseError"], interval: "2s", attempts: 4, jitter: "FULL" }],
        })
        .end(),
    { concurrency: 5 },
  )
  .catch([NoStock], (flow) => flow.pass("No stock", ($) => ({ why: $.input.Cause })).next("Refused"))
  .task("Count", total, { assign: ($) => ({ pieces: $.result.pieces }) })
  .choice("Large?")
  .when(
    ($) => gt($.input.pieces, 50),
    (flow) =>
      flow
        .approval("Confirm", confirm, {
          input: ($) => ({ orderId: $.context.Execution.Input.orderId, pieces: $.input.pieces }),
          timeout: "3d",
        })
        .catch(["States.Timeout"], (late) =>
          late.pass("Late", () => ({ why: "nobody answered" })).next("Refused"),
        )
        .choice("Confirmed?")
        .when(
          ($) => eq($.input.decision, "APPROVED"),
          (yes) => yes.pass("Go on", ($) => ({ pieces: $.vars.pieces })),
        )
        .otherwise((no) => no.pass("No", ($) => ({ why: $.input.reason })).next("Refused")),
  )
  .otherwise()
  .parallel("Both", [(flow) => flow.task("Invoice", invoice).end(), (flow) => flow.task("Pack", pack).end()])
  .wait("Cool down", "2s")
  .succeed("Ready", ($) => ({
    invoice: $.input[0].invoice,
    parcels: $.input[1].parcels,
    pieces: $.vars.pieces,
  }));

test("all eight states become one document, which the validator takes", () => {
  const { definition, tasks } = workflow("ordering", { definition: ordering });
  expect([...tasks.keys()]).toEqual(["Reserve", "Count", "Confirm", "Invoice", "Pack"]);
  expect(toOutline(definition as never)).toBe(`• Refused [Fail]
▶ Reserve lines [Map] → Count, No stock (NoStock)
    ▶ Reserve [Function]
• No stock [Pass] → Refused
• Count [Function] → Large?
• Large? [Choice] → Confirm (pieces > 50), Both (otherwise)
• Confirm [Function, waits for an answer] → Confirmed?, Late (States.Timeout)
• Late [Pass] → Refused
• Confirmed? [Choice] → Go on (decision = "APPROVED"), No (otherwise)
• Go on [Pass] → Both
• No [Pass] → Refused
• Both [Parallel] → Cool down
    ▶ Invoice [Function]
    ▶ Pack [Function]
• Cool down [Wait 2 s] → Ready
• Ready [Succeed]
`);
  expect(definition).toMatchObject({ QueryLanguage: "JSONata", TimeoutSeconds: 30 * 86_400 });
  const states = definition.States as Record<string, object>;
  expect(states["Reserve lines"]).toEqual({
    Type: "Map",
    Items: "{% $states.input.lines %}",
    MaxConcurrency: 5,
    ItemProcessor: {
      StartAt: "Reserve",
      States: {
        Reserve: {
          Type: "Task",
          Resource: "arn:aws:lambda:us-east-1:000000000000:function:Reserve",
          Retry: [
            {
              ErrorEquals: ["TransientDatabaseError"],
              IntervalSeconds: 2,
              MaxAttempts: 4,
              JitterStrategy: "FULL",
            },
          ],
          End: true,
        },
      },
    },
    Catch: [{ ErrorEquals: ["NoStock"], Next: "No stock" }],
    Next: "Count",
  });
  expect(states.Confirm).toMatchObject({
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    TimeoutSeconds: 3 * 86_400,
    Arguments: {
      FunctionName: "Confirm",
      Payload: {
        orderId: "{% $states.context.Execution.Input.orderId %}",
        pieces: "{% $states.input.pieces %}",
      },
    },
  });
  expect(states.Ready).toMatchObject({ Output: { invoice: "{% $states.input[0].invoice %}" } });
});

describe("on the virtual clock", () => {
  const run = async (count: number, mocks: Record<string, Mock> = {}) => {
    const input = {
      orderId: "o1",
      lines: [
        { sku: "a", count },
        { sku: "b", count: 5 },
      ],
    };
    const Reserve: Mock = ({ sku, count: pieces }) => {
      if (pieces > 100) throw new NoStock(sku);
      return { sku, reserved: pieces };
    };
    const all = { Reserve, Count: total, Invoice: invoice, Pack: pack, ...mocks };
    const { status, output, cause, path, durationMs } = await testWorkflow(ordering, { input, mocks: all });
    return { status, output, cause, durationMs, path: path.map(({ state }) => state) };
  };

  test("a small order goes straight through", async () => {
    const { status, output } = await run(7);
    expect({ status, output }).toEqual({
      status: "SUCCEEDED",
      output: { invoice: "for 12", parcels: 2, pieces: 12 },
    });
  });

  test("a large one asks, and goes on or is refused", async () => {
    const answer = (decision: string) => ({
      after: "1d" as const,
      returns: { decision, reason: "too much" },
    });
    expect(await run(80, { Confirm: answer("APPROVED") })).toMatchObject({
      output: { pieces: 85 },
      durationMs: 86_402_000,
    });
    expect(await run(80, { Confirm: answer("REJECTED") })).toMatchObject({
      status: "FAILED",
      cause: "too much",
    });
    expect(await run(80, { Confirm: { never: true } })).toMatchObject({ cause: "nobody answered" });
  });

  test("an error class is caught by its name", async () => {
    expect((await run(101)).path.slice(-2)).toEqual(["No stock", "Refused"]);
  });
});

test("it runs on PostgreSQL, with the handlers that it was built with", async () => {
  await using kit = await testPlatform();
  const declared = workflow("ordering", { definition: ordering });
  await using running = await start(app({ declared }), { platform: kit.platform });
  const { approvals, executions } = running.platform.workflows;
  const { arn } = await declared.start({ orderId: "o1", lines: [{ sku: "a", count: 60 }] });
  const clerk = { name: "ann", roles: ["clerk"] };
  await expect.poll(() => approvals.list({ for: clerk })).toHaveLength(1);
  const [asked] = await approvals.list({ for: clerk });
  await approvals.decide(asked!.id, { by: clerk, decision: "approve", reason: "fine" });
  const state = async () => {
    await kit.advance(1000);
    return executions.find(arn);
  };
  await expect.poll(state).toMatchObject({
    status: "SUCCEEDED",
    output: '{"invoice":"for 60","parcels":6,"pieces":60}',
  });
  await expect(declared.start({ orderId: 5 } as never)).rejects.toMatchObject({
    code: "TUNTAS_WORKFLOW_INPUT",
  });
});

test("a loop goes back, and a poll ends when the answer is there", async () => {
  let asked = 0;
  const poll = machine<{ jobId: string }>()
    .task("Ask", (_input: { jobId: string }) => ({ state: "RUNNING" as "RUNNING" | "DONE" }))
    .choice("Done?")
    .when(
      ($) => eq($.input.state, "DONE"),
      (flow) => flow.end(),
    )
    .otherwise((flow) =>
      flow
        .wait("Later", "1m")
        .pass("Again", ($) => $.context.Execution.Input)
        .next("Ask"),
    );
  const result = await testWorkflow(workflow("poll", { definition: poll }), {
    input: { jobId: "j" },
    mocks: { Ask: () => ({ state: ++asked < 4 ? "RUNNING" : "DONE" }) },
  });
  expect(result).toMatchObject({ status: "SUCCEEDED", output: { state: "DONE" }, durationMs: 180_000 });
});

test("a distributed map over a file, and services that are no handlers", () => {
  const rows = s3Items<{ id: string }>({ type: "CSV", bucket: "in", key: "rows.csv" });
  const built = machine<{ queue: string }>()
    .distributedMap(
      "Rows",
      { items: rows, tolerate: "5%" },
      (flow) => flow.task("Row", ({ id }: { id: string }) => id).end(),
      {
        label: "Rows",
        concurrency: 20,
        output: ($) => ({ count: jsonata<number>`$count(${$.result})` }),
      },
    )
    .call("Tell", {
      resource: "arn:aws:states:::sqs:sendMessage",
      input: ($) => ({ QueueUrl: $.context.Execution.Input.queue, MessageBody: $.input }),
      returns: shape<{ MessageId: string }>(),
    })
    .end();
  const { definition } = workflow("rows", { definition: built });
  expect(definition.States).toMatchObject({
    Rows: {
      Type: "Map",
      Label: "Rows",
      ToleratedFailurePercentage: 5,
      ItemReader: { Arguments: { Bucket: "in", Key: "rows.csv" } },
      ItemProcessor: { ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" } },
      Output: { count: "{% $count($states.result) %}" },
    },
    Tell: { Arguments: { QueueUrl: "{% $states.context.Execution.Input.queue %}" } },
  });
});

test("everything that a run of children can be told stands in the document, and runs", async () => {
  const built = machine<{ bucket: string; ids: readonly number[]; most: number }>()
    .distributedMap(
      "Rows",
      {
        items: ($) => $.input.ids,
        select: ($) => ({ id: $.item, at: $.index }),
        batch: { items: ($) => $.input.most, bytes: 5000, input: ($) => ({ bucket: $.input.bucket }) },
        tolerate: { count: 1, percentage: jsonata<number>`$states.input.most` },
        results: { bucket: jsonata<string>`$states.input.bucket`, prefix: "out", transformation: "COMPACT" },
      },
      (flow) => flow.pass("Row", ($) => ({ ids: jsonata<number[]>`[${$.input.Items}.id]` })).end(),
      { type: "EXPRESS", concurrency: ($) => $.input.most },
    )
    .pass("Manifest", ($) => ({ key: $.input.ResultWriterDetails.Key }))
    .end();
  const definition = workflow("run", { definition: built });
  expect(definition.definition.States!["Rows" as never]).toMatchObject({
    MaxConcurrency: "{% $states.input.most %}",
    ItemSelector: {
      id: "{% $states.context.Map.Item.Value %}",
      at: "{% $states.context.Map.Item.Index %}",
    },
    ItemBatcher: {
      MaxItemsPerBatch: "{% $states.input.most %}",
      MaxInputBytesPerBatch: 5000,
      BatchInput: { bucket: "{% $states.input.bucket %}" },
    },
    ToleratedFailureCount: 1,
    ToleratedFailurePercentage: "{% $states.input.most %}",
    ResultWriter: {
      Resource: "arn:aws:states:::s3:putObject",
      Arguments: { Bucket: "{% $states.input.bucket %}", Prefix: "out" },
      WriterConfig: { Transformation: "COMPACT", OutputType: "JSON" },
    },
  });
  const input = { bucket: "b", ids: [1, 2, 3], most: 2 };
  const { status, output } = await testWorkflow(definition, { input });
  expect({ status, output }).toEqual({
    status: "SUCCEEDED",
    output: { key: expect.stringMatching(/^out\/.*\/manifest\.json$/) },
  });
});

test("batches reach their children, and lists that children give become one", async () => {
  const built = machine<{ ids: readonly number[] }>()
    .distributedMap(
      "Rows",
      { items: ($) => $.input.ids, batch: { items: 2 }, results: "flattened" },
      (flow) =>
        flow
          .pass("Row", ($) => jsonata<number[]>`[$map(${$.input.Items}, function($id) { $id * 10 })]`)
          .end(),
    )
    .end();
  const { output } = await testWorkflow(workflow("flat", { definition: built }), {
    input: { ids: [1, 2, 3] },
  });
  expect(output).toEqual([10, 20, 30]);
});

test("what ways are given, roles, times by expression, and a state in JSONPath", async () => {
  const built = machine<{ id: string; seconds: number }>()
    .state(
      "Old",
      {
        Type: "Pass",
        QueryLanguage: "JSONPath",
        Parameters: { "id.$": "States.Format('<{}>', $.id)", "seconds.$": "$.seconds" },
      },
      { gives: shape<{ id: string; seconds: number }>() },
    )
    .call("Ask", {
      resource: "arn:aws:states:::lambda:invoke",
      input: ($) => ({ FunctionName: "ask", Payload: $.input }),
      timeout: ($) => $.input.seconds,
      role: "arn:aws:iam::000000000000:role/other",
    })
    .catch(
      ["States.ALL"],
      {
        output: ($) => ({ why: $.error.Error }),
        assign: ($) => ({ late: $.error.Error }),
      },
      (flow) => flow.pass("Late", ($) => ({ why: $.input.why, late: $.vars.late })),
    )
    .pass("Keep", ($) => ({ why: jsonata<string>`${$.input as never}.why` }))
    .choice("Why?")
    .when(
      ($) => eq($.input.why, "States.Timeout"),
      { output: ($) => ({ text: $.input.why }), assign: () => ({ seen: true }) },
      (flow) => flow.pass("Seen", ($) => ({ text: $.input.text, seen: $.vars.seen })),
    )
    .otherwise((flow) => flow.fail("Odd", { error: "Odd" }))
    .end();
  const mixed = workflow("mixed", { definition: built });
  expect(mixed.definition).not.toHaveProperty("QueryLanguage");
  expect(mixed.definition.States).toMatchObject({
    Old: { QueryLanguage: "JSONPath" },
    Ask: {
      QueryLanguage: "JSONata",
      TimeoutSeconds: "{% $states.input.seconds %}",
      Credentials: { RoleArn: "arn:aws:iam::000000000000:role/other" },
      Catch: [{ Output: { why: "{% $states.errorOutput.Error %}" } }],
    },
  });
  const result = await testWorkflow(mixed, {
    input: { id: "a", seconds: 7 },
    mocks: { Ask: { never: true } },
  });
  expect(result).toMatchObject({ output: { text: "States.Timeout", seen: true }, durationMs: 7000 });
});

test("a beginning serves several machines, and a handler keeps its function in all of its states", () => {
  const work = () => 1;
  const beginning = machine<object>().task("First", work);
  const short = beginning.end();
  const long = beginning
    .pass("Empty", () => ({}))
    .task("Second", work)
    .end();
  expect(Object.keys(short.definition.States!)).toEqual(["First"]);
  expect(Object.keys(long.tasks)).toEqual(["First"]);
  expect(workflow("long", { definition: long }).definition.States).toMatchObject({
    Second: { Resource: "arn:aws:lambda:us-east-1:000000000000:function:First" },
  });
});

test("where only a choice leads to the end, a Succeed state stands there", () => {
  const built = machine<{ n: number }>()
    .choice("Which")
    .when(
      ($) => gt($.input.n, 0),
      (flow) => flow.pass("Positive"),
    )
    .otherwise()
    .end("Over");
  expect(workflow("choice", { definition: built }).definition.States).toMatchObject({
    Which: { Default: "Over" },
    Positive: { End: true },
    Over: { Type: "Succeed" },
  });
});

test("JavaScript callers are told what does not compile in TypeScript", () => {
  const untyped = machine() as any;
  expect(() => untyped.pass("A").pass("A")).toThrow('"A" twice');
  expect(() => untyped.parallel("P", [(flow: any) => flow.pass("A")])).toThrow("to end");
  expect(() => untyped.pass("A", ($: any) => `${$.input.a}`)).toThrow("jsonata`…`");
  expect(() => untyped.task("A b", () => 1).task("A-b", () => 2)).toThrow("function name A-b");
});

test("expressions", () => {
  const input = refOf<any>("$states.input") as any;
  const texts = [
    input.a[0]["b c"].and,
    and(eq(input.a, "x\n"), or(not(input.b), exists(input.c))),
    orElse(input.a, { n: [1, input.b] } as never),
    item(input.list, 2),
    jsonata<string>`$join(${input.a}, ${", "})`,
  ].map(expressionOf);
  expect(texts).toEqual([
    `$lookup($lookup($states.input.a[0], "b c"), "and")`,
    `(($states.input.a = "x\\n") and ($not($states.input.b) or $exists($states.input.c)))`,
    `($exists($states.input.a) ? $states.input.a : {"n": [1, $states.input.b]})`,
    "$states.input.list[2]",
    `$join($states.input.a, ", ")`,
  ]);
  expect(written({ text: "{% not code %}", n: 1, ref: [input.a] })).toEqual({
    text: `{% "{% not code %}" %}`,
    n: 1,
    ref: ["{% $states.input.a %}"],
  });
});
