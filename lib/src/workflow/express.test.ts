// Express executions whose tasks are handlers of an application: asynchronous ones, and such that a caller waits for.
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { app, start, type RunningApp } from "../app.ts";
import { statement } from "../pg/database.ts";
import type { Platform } from "../platform.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { task, workflow, type WorkflowDefinition } from "./declaration.ts";

let kit: TestPlatform;
let running: RunningApp | undefined;
beforeEach(async () => {
  kit = await testPlatform();
  await sql("create table tuntas.effect (step text not null)");
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await kit[Symbol.asyncDispose]();
});

const sql = (text: string) => kit.platform.database.run(statement(text));
const steps = async () => (await sql("select step from tuntas.effect order by step")).map(({ step }) => step);

/** Three steps: with a transaction, with a hand-over, with a result alone. */
const quoting = (): WorkflowDefinition =>
  workflow("quoting", {
    type: "EXPRESS",
    definition: {
      StartAt: "Look",
      States: {
        Look: { Type: "Task", Resource: "look", Next: "Note" },
        Note: { Type: "Task", Resource: "note", ResultPath: null, Next: "Price" },
        Price: { Type: "Task", Resource: "price", End: true },
      },
    },
    tasks: {
      look: task({
        async handle({ n }, { tx, stateName }) {
          await tx.query(`insert into ${kit.schema}.effect values ($1)`, [stateName]);
          return { n: n + 1 };
        },
      }),
      note: (_input, ctx) => ctx.write(`insert into ${kit.schema}.effect values ($1)`, [ctx.stateName]),
      price: ({ n }) => {
        if (n > 100) throw new RangeError("too dear");
        return { price: n * 10 };
      },
    },
  });

/** As the gateway calls it, which knows the machine by its name alone. */
async function startSync({ workflows }: Platform, name: string, input: object) {
  const scope = { account: "000000000000", region: "us-east-1" };
  const machine = (await workflows.machines.find(scope, name))!;
  const target = { machine, versionArn: null, aliasArn: null };
  return workflows.executions.startSync({ target, name: randomUUID(), input: JSON.stringify(input) });
}

test("an Express execution has its steps carried out, each write with its advance", async () => {
  const declared = quoting();
  running = await start(app({ declared }), { platform: kit.platform });
  const { arn } = await declared.start({ n: 1 });
  const find = () => kit.platform.workflows.executions.find(arn);
  await expect.poll(async () => (await find())!.status).toBe("SUCCEEDED");
  expect((await find())!.output).toBe('{"price":20}');
  expect(await steps()).toEqual(["Look", "Note"]);
});

test("StartSyncExecution answers with what the handlers came to, or how they failed", async () => {
  const declared = quoting();
  running = await start(app({ declared }), { platform: kit.platform });
  expect(await startSync(kit.platform, "quoting", { n: 1 })).toMatchObject({
    status: "SUCCEEDED",
    output: '{"price":20}',
  });
  expect(await startSync(kit.platform, "quoting", { n: 100 })).toMatchObject({
    status: "FAILED",
    error: "RangeError",
    cause: expect.stringContaining("too dear"),
  });
  expect(await steps()).toEqual(["Look", "Look", "Note", "Note"]);
});

test("StartSyncExecution finds handlers that are in another process", async () => {
  const declared = quoting();
  const elsewhere = await kit.another();
  running = await start(app({ declared }), { platform: elsewhere });
  expect(await startSync(kit.platform, "quoting", { n: 2 })).toMatchObject({
    status: "SUCCEEDED",
    output: '{"price":30}',
  });
});

test("an Express execution ends after five minutes, whoever it waits for", async () => {
  const never = workflow("never", {
    type: "EXPRESS",
    definition: {
      StartAt: "Wait",
      States: {
        Wait: { Type: "Wait", Seconds: 400, Next: "Work" },
        Work: { Type: "Task", Resource: "work", End: true },
      },
    },
    tasks: { work: () => null },
  });
  running = await start(app({ never }), { platform: kit.platform });
  const answer = startSync(kit.platform, "never", {});
  await expect.poll(() => sql("select from tuntas.execution")).toHaveLength(1);
  await kit.advance(301_000);
  expect((await answer).status).toBe("TIMED_OUT");
});
