// What a user of workflows relies on, wherever they run: the same document, the same handlers, the same assertions, for each tier.
// Two files run it, postgresql.test.ts and step-functions.test.ts.
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rejected, workflow, type RunningApp } from "tuntas";
import { answerTask, approval, task, type TaskContext } from "tuntas/workflow";
import { ask } from "../ask.fixture.ts";
import { gate } from "../work.fixture.ts";
// @ts-expect-error a fixture that processes of their own share
import { killed } from "./killed.fixture.mjs";
import { run, type Place, type Tier } from "./place.fixture.ts";

export function conformance(tier: Tier): void {
  describe(`W-40 P-01 workflows on ${tier.name}`, { timeout: 60_000 }, () => suite(tier));
}

let names = 0;
export const freshName = (): string => `flow-${process.pid}-${++names}`;

export const end = async (running: RunningApp, arn: string) => {
  const { executions } = running.platform.workflows;
  await expect
    .poll(async () => (await executions.find(arn))?.status, { timeout: 120_000 })
    .not.toBe("RUNNING");
  return (await executions.find(arn))!;
};

export const effects = async (place: Place): Promise<string[]> =>
  (await ask<{ id: string }>(place.kit, "select id from tuntas.effect order by id")).map(({ id }) => id);

const state = (name: string, next: string | undefined, more: object = {}) => ({
  Type: "Task",
  Resource: name,
  ...(next === undefined ? { End: true } : { Next: next }),
  ...more,
});

function suite(tier: Tier): void {
  let place: Place;
  beforeAll(async () => {
    place = await tier.open();
    await ask(place.kit, "create table tuntas.effect (id text not null)");
  }, 240_000);
  afterAll(() => place[Symbol.asyncDispose](), 240_000);
  beforeEach(() => ask(place.kit, "truncate tuntas.effect"));

  const insert = () => `insert into ${place.kit.schema}.effect (id) values ($1)`;

  test("steps hand their results on and write once, each in its own way; items that are alike are two", async () => {
    const keys: string[] = [];
    const declared = workflow(freshName(), {
      definition: {
        StartAt: "Own",
        States: {
          Own: state("Own", "Handed"),
          Handed: state("Handed", "Each"),
          Each: {
            Type: "Map",
            ItemsPath: "$.items",
            ItemProcessor: { StartAt: "Item", States: { Item: state("Item", undefined) } },
            End: true,
          },
        },
      },
      tasks: {
        async Own(_: object, { tx, execution }: TaskContext) {
          await tx.query(insert(), [`own ${execution.name}`]);
          return { own: true };
        },
        Handed(input: { own: boolean }, ctx: TaskContext) {
          if (input.own) ctx.write(insert(), [`handed ${ctx.workflowName} ${ctx.stateName} ${ctx.attempt}`]);
          return { items: [7, 7] };
        },
        Item(item: number, ctx: TaskContext) {
          keys.push(ctx.idempotencyKey);
          ctx.write(insert(), [`item ${item}`]);
          return item;
        },
      },
    });
    await place.deploy(declared);
    await using running = await run(place, declared);
    const { arn } = await declared.start({}, { name: "first" });
    expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED", output: "[7,7]", name: "first" });
    expect(await effects(place)).toEqual([
      `handed ${declared.name} Handed 1`,
      "item 7",
      "item 7",
      "own first",
    ]);
    expect(keys).toHaveLength(2);
  });

  test("P-22 P-27 a start is one for its name, and there only if its transaction commits", async () => {
    const declared = workflow(freshName(), {
      definition: { StartAt: "Do", States: { Do: state("Do", undefined) } },
      tasks: { Do: (_: object, ctx: TaskContext) => ctx.write(insert(), [ctx.execution.name]) },
    });
    await place.deploy(declared);
    await using running = await run(place, declared);
    const { database } = running.platform;
    const first = await declared.start({ n: 1 }, { name: "once" });
    expect(first).toMatchObject({ status: "created" });
    await end(running, first.arn);
    expect(await declared.start({ n: 1 }, { name: "once" })).toMatchObject({ status: "duplicate", arn: first.arn });
    expect(await declared.start({ n: 2 }, { name: "once" })).toMatchObject({ status: "conflict", arn: first.arn });
    const inTx = (name: string, fails: boolean) =>
      database.transaction(async (tx) => {
        const started = await declared.start({}, { name, tx: tx as never });
        if (fails) throw new Error("undone");
        return started;
      });
    await expect(inTx("never", true)).rejects.toThrow("undone");
    const { arn } = await inTx("committed", false);
    await expect.poll(async () => (await running.platform.workflows.executions.find(arn))?.status).toBeDefined();
    expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED" });
    expect(await effects(place)).toEqual(["committed", "once"]);
  });

  test("P-43 what fails goes by its name and leaves nothing; a business no and a timeout are what the document expects", async () => {
    const calls: string[] = [];
    const aborted = gate<unknown>();
    const caught = (error: string, next: string) => ({
      Catch: [{ ErrorEquals: [error], Next: next, ResultPath: "$.error" }],
    });
    const declared = workflow(freshName(), {
      definition: {
        StartAt: "Flaky",
        States: {
          Flaky: state("Flaky", "No", {
            Retry: [{ ErrorEquals: ["Again"], IntervalSeconds: 1, MaxAttempts: 2 }],
          }),
          No: state("No", "Unreachable", {
            Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 1 }],
            ...caught("NO_CREDIT", "Faulty"),
          }),
          Faulty: state("Faulty", "Unreachable", caught("States.ALL", "Slow")),
          Slow: state("Slow", "Unreachable", caught("States.Timeout", "Done")),
          Done: { Type: "Succeed", OutputPath: "$.error.Error" },
          Unreachable: { Type: "Fail" },
        },
      },
      tasks: {
        Flaky: task({
          idempotent: true,
          async handle(_, ctx) {
            calls.push(`flaky ${ctx.attempt} ${ctx.idempotencyKey}`);
            await ctx.tx.query(insert(), ["flaky"]);
            if (ctx.attempt === 1) throw Object.assign(new Error("once more"), { name: "Again" });
            return {};
          },
        }),
        No: task({
          idempotent: true,
          async handle(_, { tx }) {
            calls.push("no");
            await tx.query(insert(), ["no"]);
            return rejected({ code: "NO_CREDIT", message: "the limit is used up" });
          },
        }),
        Faulty(_: unknown, ctx: TaskContext) {
          ctx.write(insert(), ["faulty"]);
          ctx.write(insert(), [null]);
        },
        Slow: task({
          timeout: "1s",
          handle: (_, { signal }) =>
            new Promise(() => signal.addEventListener("abort", () => aborted.open(signal.reason))),
        }),
      },
    });
    await place.deploy(declared);
    await using running = await run(place, declared);
    const { arn } = await declared.start({});
    expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED", output: '"States.Timeout"' });
    expect(await aborted.promise).toMatchObject({ code: "TUNTAS_TASK_LOST" });
    expect(await effects(place)).toEqual(["flaky"]);
    const [first, second, ...rest] = calls;
    expect(rest).toEqual(["no"]);
    expect(second).toBe(first!.replace("flaky 1", "flaky 2"));
  });

  test("P-30 people decide and webhooks answer, each with its change; a second answer is late and changes nothing", async () => {
    const reference = gate<string>();
    const declared = workflow(freshName(), {
      definition: {
        StartAt: "Approve",
        States: {
          Approve: {
            Type: "Task",
            Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
            Parameters: { FunctionName: "Approve", "Payload.$": "$" },
            TimeoutSeconds: 3600,
            ResultPath: "$.decision",
            Next: "Wait",
          },
          Wait: {
            Type: "Task",
            Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
            Parameters: { FunctionName: "Wait", "Payload.$": "$" },
            End: true,
          },
        },
      },
      tasks: {
        Approve: approval({
          request: ({ of }: { of: string }) => ({
            subject: of,
            requestedBy: "ana",
            deciders: { people: ["ben"] },
            due: "1d",
            expires: "2d",
          }),
          decided: (tx, { status }) => tx.query(insert(), [status]),
        }),
        Wait: (_: unknown, { tokenReference }: TaskContext) => reference.open(tokenReference!),
      },
    });
    await place.deploy(declared);
    await using running = await run(place, declared);
    const { approvals } = running.platform.workflows;
    const { arn } = await declared.start({ of: "PAY-1" });
    const pending = () => approvals.list({ workflow: declared.name });
    await expect.poll(pending).toMatchObject([{ subject: "PAY-1", waiting: true, executionArn: arn }]);
    const [asked] = await pending();
    // The state's own time is sooner than that of the request.
    expect(asked!.expiresAtMs - asked!.requestedAtMs).toBeLessThanOrEqual(3_600_000);
    await approvals.decide(asked!.id, { by: { name: "ben" }, decision: "approve", reason: "agreed" });
    const tokenReference = await reference.promise;
    await expect.poll(async () => (await approvals.show(asked!.id))?.toldAtMs).not.toBeNull();
    const answer = (id: string) =>
      running.platform.database.transaction(async (tx) => {
        await answerTask(tx, { tokenReference, output: { by: "courier" } });
        await tx.client.query(insert(), [id]);
      });
    // The row of the waiting task is there once its own commit is.
    await expect.poll(() => answer("answered").then(() => "answered", ({ code }) => code)).toBe("answered");
    expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED", output: '{"by":"courier"}' });
    await expect(answer("again")).rejects.toMatchObject({ code: "TUNTAS_ANSWER_LATE" });
    expect(await effects(place)).toEqual(["answered", "approved"]);
  });

  test("a heartbeat keeps a step alive that takes longer than its HeartbeatSeconds", async () => {
    const declared = workflow(freshName(), {
      definition: { StartAt: "Long", States: { Long: state("Long", undefined, { HeartbeatSeconds: 3 }) } },
      tasks: {
        async Long(_: unknown, ctx: TaskContext) {
          for (let beats = 0; beats < 10; beats++) {
            ctx.heartbeat();
            await sleep(500);
          }
          return "alive";
        },
      },
    });
    await place.deploy(declared);
    await using running = await run(place, declared);
    const { arn } = await declared.start({});
    expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED", output: '"alive"' });
  });

  test.each(["hold, before the commit", "commit, before anything follows it"])(
    "P-14 P-43 killed at %s: another process goes on, with one effect",
    async (id) => {
      const name = freshName();
      const declared = killed(name, place.kit.schema, async () => undefined);
      await place.deploy(declared);
      const { env, parts } = place.child;
      const script = fileURLToPath(new URL("./process.fixture.mjs", import.meta.url));
      const child = fork(script, [JSON.stringify({ ...parts, name })], {
        env: { ...process.env, ...env, TUNTAS_LOG_LEVEL: "silent" },
      });
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      const told = (field: string) =>
        new Promise<void>((resolve) =>
          child.on("message", (message) => field in (message as object) && resolve()),
        );
      try {
        await Promise.race([told("ready"), exited.then(() => Promise.reject(new Error("it died at once")))]);
        const begun = told("begun");
        const sender = await run(place, declared, { workers: false });
        const { arn } = await declared.start({ id });
        await begun;
        if (id.startsWith("hold")) child.kill("SIGKILL");
        await exited;
        await sender.stop();
        await using running = await run(place, declared);
        expect(await end(running, arn)).toMatchObject({ status: "SUCCEEDED", output: JSON.stringify({ paid: id }) });
        expect(await effects(place)).toEqual([id]);
      } finally {
        child.kill("SIGKILL");
      }
    },
  );
}
