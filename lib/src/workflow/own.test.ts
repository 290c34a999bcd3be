// Tasks that handlers of the application carry out, on a real PostgreSQL.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../app.ts";
import type { JsonObject } from "../asl/contract.ts";
import { rejected, retry } from "../core/outcome.ts";
import { statement } from "../pg/database.ts";
import { readMigrations } from "../pg/migrate/index.ts";
import type { Platform } from "../platform.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { ExecutionRecord, StartResult } from "./contract.ts";
import { task, workflow, type Task, type TaskContext, type WorkflowDefinition } from "./declaration.ts";

let kit: TestPlatform;
beforeEach(async () => {
  kit = await testPlatform();
  await sql("create table tuntas.effect (step text not null, execution text not null)");
});
afterEach(() => kit[Symbol.asyncDispose]());

const sql = (text: string, values: unknown[] = []) => kit.platform.database.run(statement(text), values);

const lambda = (name: string, more: JsonObject = {}): JsonObject => ({
  Type: "Task",
  Resource: name,
  ...more,
});

/** States one after another, each a task of its own name. */
function chain(names: readonly string[], more: JsonObject = {}): JsonObject {
  const next = (index: number): JsonObject =>
    names[index + 1] ? { Next: names[index + 1]! } : { End: true };
  const states = names.map((name, index) => [name, lambda(name, { ...more, ...next(index) })] as const);
  return { StartAt: names[0]!, States: Object.fromEntries(states) };
}

async function ended(platform: Platform, { arn }: Pick<StartResult, "arn">): Promise<ExecutionRecord> {
  for (const until = Date.now() + 20_000; Date.now() < until;) {
    const execution = (await platform.workflows.executions.find(arn))!;
    if (execution.status !== "RUNNING") return execution;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${arn} has not ended`);
}

async function run(
  definition: JsonObject,
  tasks: Record<string, Task>,
  input: unknown = {},
): Promise<ExecutionRecord> {
  const declared = workflow("w", { definition, tasks });
  await using running = await start(app({ declared }), { platform: kit.platform });
  return await ended(running.platform, await declared.start(input));
}

const insert = (ctx: TaskContext) =>
  [
    `insert into ${kit.schema}.effect (step, execution) values ($1, $2)`,
    [ctx.stateName, ctx.execution.name],
  ] as const;

const effects = async () =>
  (await sql("select step from tuntas.effect order by step")).map(({ step }) => step);

/** Has the step's record where it was before it had its place in the history, and moves it as the migration does. */
async function recordAsBefore({ arn, id }: ExecutionRecord): Promise<void> {
  await sql("update tuntas.execution_history set visit = null where execution_id = $1", [id]);
  await sql(
    `insert into tuntas.command (scope, key, request_hash, result, created_at, expires_at)
     values ('workflow', $1, 'hash', '{"paid":true}', tuntas.now(), tuntas.now() + interval '1 day')`,
    [`${arn}/pay#2`],
  );
  const { text } = readMigrations().find(({ name }) => name === "0076-step-record.sql")!;
  await sql(text.slice(text.indexOf("with step")));
}

test("P-43 a handler that changes its input, or later what it returned, changes nothing but its own copy", async () => {
  const kept: { list: number[] }[] = [];
  const definition = chain(["first", "second"], {
    Retry: [{ ErrorEquals: ["Again"], MaxAttempts: 1, IntervalSeconds: 1 }],
  });
  const seen: unknown[] = [];
  const { status, output, input } = await run(
    definition,
    {
      first: task({
        input: z.custom<{ list: number[] }>(),
        idempotent: true,
        async handle(given, ctx) {
          seen.push(structuredClone(given));
          given.list.push(99);
          if (ctx.attempt === 1) throw Object.assign(new Error("once more"), { name: "Again" });
          const result = { list: [2] };
          kept.push(result);
          return result;
        },
      }),
      second: task({
        input: z.custom<{ list: number[] }>(),
        idempotent: true,
        async handle(given) {
          kept[0]!.list.push(98);
          seen.push(structuredClone(given));
          return given;
        },
      }),
    },
    { list: [1] },
  );
  expect({ status, input, output }).toEqual({
    status: "SUCCEEDED",
    input: '{"list":[1]}',
    output: '{"list":[2]}',
  });
  expect(seen).toEqual([{ list: [1] }, { list: [1] }, { list: [2] }]);
});

describe("steps", () => {
  test("hand their results on, whether they return, write or hold a transaction", async () => {
    const execution = await run(
      chain(["one", "two", "three"]),
      {
        one: ({ n }) => ({ n: n + 1 }),
        async two({ n }, ctx) {
          await ctx.tx.query(insert(ctx)[0], [...insert(ctx)[1]]);
          return { n: n + 1 };
        },
        three({ n }, ctx) {
          ctx.write(...insert(ctx));
          return { n: n + 1 };
        },
      },
      { n: 1 },
    );
    expect(execution).toMatchObject({ status: "SUCCEEDED", output: '{"n":4}' });
    expect(await effects()).toEqual(["three", "two"]);
    const left = await sql("select count(*)::int as count from tuntas.workflow_call");
    expect(left).toEqual([{ count: 0 }]);
    const visits = await sql(
      "select visit from tuntas.execution_history where visit is not null order by seq",
    );
    expect(visits.map(({ visit }) => visit.replace(/#\d+/, ""))).toEqual(["two", "three"]);
  });

  test.each(["tx", "write"] as const)(
    "P-43 a step that wrote by ctx.%s is not done again by a redrive, even where what came behind it failed",
    async (how) => {
      let calls = 0;
      const tasks = {
        async pay(_input: unknown, ctx: TaskContext) {
          calls++;
          if (how === "write") ctx.write(...insert(ctx));
          else await ctx.tx.query(insert(ctx)[0], [...insert(ctx)[1]]);
          return { paid: true };
        },
      };
      const declared = workflow("w", {
        definition: chain(["pay"], { ResultSelector: { "none.$": "$.missing" } }),
        tasks,
      });
      await using running = await start(app({ declared }), { platform: kit.platform });
      const { executions, redrives } = running.platform.workflows;
      const failed = await ended(running.platform, await declared.start({}));
      expect(failed).toMatchObject({ status: "FAILED", redriveCount: 0 });
      const { commands } = (await redrives.inspect(failed.arn))!;
      expect(commands).toMatchObject([
        { key: `${failed.arn}/pay#2`, outcome: "done", result: '{"paid":true}' },
      ]);

      const redriven = async (execution: ExecutionRecord) => {
        expect(await executions.redrive(execution)).toBe(true);
        return ended(running.platform, execution);
      };
      const again = await redriven(failed);
      expect(again).toMatchObject({ status: "FAILED", error: failed.error, redriveCount: 1 });
      await recordAsBefore(again);
      expect(await redriven(again)).toMatchObject({ status: "FAILED", redriveCount: 2 });
      expect({ calls, effects: await effects() }).toEqual({ calls: 1, effects: ["pay"] });
    },
  );

  test("an error has the name of its class, and undoes what was written", async () => {
    class NoNumberAvailable extends Error {}
    const definition: JsonObject = {
      StartAt: "reserve",
      States: {
        reserve: lambda("reserve", {
          Catch: [{ ErrorEquals: ["NoNumberAvailable"], Next: "Escalate" }],
          End: true,
        }),
        Escalate: { Type: "Pass", End: true },
      },
    };
    const execution = await run(definition, {
      async reserve(_input, ctx) {
        await ctx.tx.query(insert(ctx)[0], [...insert(ctx)[1]]);
        ctx.write(...insert(ctx));
        throw new NoNumberAvailable("none left");
      },
    });
    const output = JSON.parse(execution.output!);
    expect(output.Error).toBe("NoNumberAvailable");
    expect(JSON.parse(output.Cause)).toEqual({ errorType: "NoNumberAvailable", errorMessage: "none left" });
    expect(await effects()).toEqual([]);
  });

  test("a business no is not tried again, a retry is", async () => {
    let calls = 0;
    const retrier = [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 3 }];
    const tasks = {
      no: task({
        idempotent: true,
        handle: () => (calls++, rejected({ code: "CREDIT_LIMIT", message: "too much" })),
      }),
    };
    const execution = await run(chain(["no"], { Retry: retrier }), tasks);
    expect(execution).toMatchObject({ status: "FAILED", error: "CREDIT_LIMIT" });
    expect(calls).toBe(1);
  });

  test("tries have one idempotency key and count up", async () => {
    const seen: string[] = [];
    const flaky = task({
      idempotent: true,
      handle(_input: unknown, ctx) {
        seen.push(`${ctx.attempt} ${ctx.idempotencyKey}`);
        return ctx.attempt < 2 ? retry({ code: "BUSY" }) : "ok";
      },
    });
    const retrier = [{ ErrorEquals: ["BUSY"], IntervalSeconds: 1, MaxAttempts: 3 }];
    const declared = workflow("w", { definition: chain(["flaky"], { Retry: retrier }), tasks: { flaky } });
    await using running = await start(app({ declared }), { platform: kit.platform });
    const started = await declared.start({});
    await expect.poll(() => seen.length).toBe(1);
    await kit.advance(2000);
    expect((await ended(running.platform, started)).output).toBe('"ok"');
    expect(seen.map((line) => line.split(" ")[0])).toEqual(["1", "2"]);
    expect(new Set(seen.map((line) => line.split(" ")[1])).size).toBe(1);
  });

  test("input that does not fit the schema fails by TUNTAS_TASK_INPUT", async () => {
    const strict = task({ input: z.object({ id: z.string() }), handle: ({ id }) => id });
    const execution = await run(chain(["strict"]), { strict }, { id: 5 });
    expect(execution).toMatchObject({ status: "FAILED", error: "TUNTAS_TASK_INPUT" });
  });
});

describe("starting", () => {
  const quick = (): WorkflowDefinition =>
    workflow("w", { definition: chain(["one"]), tasks: { one: () => "done" } });

  test("P-27 is once for a name: created, duplicate, conflict", async () => {
    const declared = quick();
    await using running = await start(app({ declared }), { platform: kit.platform });
    const first = await declared.start({ a: 1 }, { name: "n" });
    expect(first.status).toBe("created");
    await ended(running.platform, first);
    expect((await declared.start({ a: 1 }, { name: "n" })).status).toBe("duplicate");
    expect((await declared.start({ a: 2 }, { name: "n" })).status).toBe("conflict");
  });

  test("in a transaction it begins with the commit, and never without it", async () => {
    const declared = quick();
    await using running = await start(app({ declared }), { platform: kit.platform });
    const { database } = running.platform;
    const begin = async (name: string, fail: boolean) =>
      database.transaction(async (tx) => {
        const started = await declared.start({}, { name, tx: tx as never });
        if (fail) throw new Error("no");
        return started;
      });
    await expect(begin("lost", true)).rejects.toThrow("no");
    const started = await begin("kept", false);
    expect(started.status).toBe("created");
    expect((await ended(running.platform, started)).output).toBe('"done"');
    expect(await sql("select name from tuntas.execution")).toEqual([{ name: "kept" }]);
  });

  test("a process without handlers leaves the steps to one that has them", async () => {
    const declared = quick();
    const other = await kit.another();
    const sender = await start(app({ declared }), { platform: kit.platform, workers: false });
    const started = await Promise.all(Array.from({ length: 20 }, () => declared.start({})));
    await sender.stop();
    await using running = await start(app({ declared }), { platform: other });
    for (const each of started) expect((await ended(running.platform, each)).output).toBe('"done"');
  });
});

describe("tokens", () => {
  test("nothing that is stored answers the task", async () => {
    const definition: JsonObject = {
      StartAt: "ask",
      States: {
        ask: {
          Type: "Task",
          Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
          Parameters: { FunctionName: "ask", Payload: { "token.$": "$$.Task.Token" } },
          End: true,
        },
      },
    };
    let token = "";
    let reference = "";
    const ask = async (input: { token: string }, ctx: TaskContext) => {
      token = ctx.taskToken!;
      reference = ctx.tokenReference!;
      expect(input.token).toBe(token);
      await ctx.tx.query(`insert into ${kit.schema}.effect (step, execution) values ($1, $2)`, [
        "ask",
        reference,
      ]);
    };
    const declared = workflow("w", { definition, tasks: { ask } });
    await using running = await start(app({ declared }), { platform: kit.platform });
    const { workflows } = running.platform;
    const started = await declared.start({});
    await expect.poll(async () => (await effects()).length).toBe(1);
    for (const table of ["execution_state", "execution_history", "workflow_call", "execution"]) {
      const [row] = await sql(`select string_agg(t::text, ' ') as text from tuntas.${table} t`);
      expect(String(row!.text)).not.toContain(token);
    }
    expect(workflows.tokenOf(reference)).toBe(token);
    expect((await workflows.activities.succeed(reference, {})).status).toBe("gone");
    expect((await workflows.activities.succeed(token, { decision: "APPROVED" })).status).toBe("accepted");
    expect((await ended(running.platform, started)).output).toBe('{"decision":"APPROVED"}');
    expect((await workflows.activities.succeed(token, {})).status).toBe("gone");
  });
});

test("P-36 declarations refuse what cannot work, a Retry of what is not idempotent too", () => {
  const definition = chain(["one"]);
  const one = () => randomUUID();
  expect(() => workflow("w", { definition, tasks: { two: one } })).toThrow(
    "state one: expected an ARN or the name of a task (two), got one",
  );
  expect(() => workflow("w", { definition, tasks: { one, two: one } })).toThrow(
    "no state calls the task two",
  );
  expect(() => workflow("a b", { definition, tasks: { one } })).toThrow("80 letters");
  const retried = chain(["one"], { Retry: [{ ErrorEquals: ["States.ALL"] }] });
  expect(() => workflow("w", { definition: retried, tasks: { one } })).toThrow(
    "does not say that it is idempotent",
  );
  const unfilled = { ...definition, States: { one: lambda("${Unknown}", { End: true }) } };
  expect(() => workflow("w", { definition: unfilled, tasks: {} })).toThrow("${Unknown}");
  const filled = workflow("w", { definition: unfilled, tasks: { Unknown: one } });
  expect(JSON.stringify(filled.definition)).toContain(":function:Unknown");
});

test("what is wrong in a file is told with its path", () => {
  const folder = mkdtempSync(join(tmpdir(), "tuntas-asl-"));
  const file = join(folder, "case.asl.json");
  const one = () => 1;
  const wrong: (readonly [text: string, tasks: Record<string, () => number>, message: string])[] = [
    ["{", {}, "expected JSON"],
    ['{"StartAt":"A","States":{"A":{"Type":"Pass"}}}', {}, "Invalid State Machine Definition"],
    [JSON.stringify(chain(["one"])), { two: one }, "expected an ARN"],
    [JSON.stringify(chain(["one"])), { one, two: one }, "no state calls the task two"],
    [JSON.stringify(chain(["one"], { Retry: [{ ErrorEquals: ["States.ALL"] }] })), { one }, "idempotent"],
  ];
  for (const [text, tasks, message] of wrong) {
    writeFileSync(file, text);
    const declare = () => workflow("w", { definition: pathToFileURL(file), tasks });
    expect(declare).toThrow(message);
    expect(declare).toThrow(`workflow "w", ${file}: `);
  }
  rmSync(folder, { recursive: true });
});
