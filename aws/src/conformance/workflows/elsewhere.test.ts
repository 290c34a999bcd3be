// What there is only where the machine and the effect are not in one database: answers that are lost or come too late, and what
// cannot be asked for from here.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { app, schedule, start, workflow } from "tuntas";
import { task, type TaskContext } from "tuntas/workflow";
import { stepFunctions } from "../../index.ts";
import { ask } from "../ask.fixture.ts";
import { gate } from "../work.fixture.ts";
import { openAws, run, type AwsPlace } from "./place.fixture.ts";
import { effects, end, freshName } from "./suite.fixture.ts";
import { openDeafWay } from "./way.fixture.ts";

let place: AwsPlace;
const fates: string[] = [];
const heard = (fields: unknown) => void fates.push((fields as { fate: string }).fate);

beforeAll(async () => {
  place = await openAws();
  await ask(place.kit, "create table tuntas.effect (id text not null)");
  subscribe("tuntas.workflow.answered", heard);
}, 240_000);
afterAll(async () => {
  unsubscribe("tuntas.workflow.answered", heard);
  await place[Symbol.asyncDispose]();
}, 240_000);
beforeEach(async () => {
  fates.length = 0;
  await ask(place.kit, "truncate tuntas.effect");
});

const one = (handle: (input: any, ctx: TaskContext) => unknown, more: object = {}) =>
  workflow(freshName(), {
    definition: {
      StartAt: "Pay",
      States: { Pay: { Type: "Task", Resource: "Pay", End: true, ...more } },
    },
    tasks: { Pay: task({ idempotent: true, handle }) },
  });

const insert = () => `insert into ${place.kit.schema}.effect (id) values ($1)`;
const rows = (declared: { name: string }) =>
  ask(place.kit, "select fate, token, retries from tuntas.remote_task where workflow = $1 order by taken_at", [
    declared.name,
  ]);

test("W-04 P-43 an answer that comes too late is on record; the Retry is given what was done, and the handler is not called again", async () => {
  await using way = await openDeafWay(place.cloud.url);
  let calls = 0;
  const declared = one(
    (_, ctx) => {
      calls++;
      ctx.write(insert(), ["paid"]);
      return { receipt: ctx.idempotencyKey };
    },
    {
      TimeoutSeconds: 3,
      Retry: [{ ErrorEquals: ["States.Timeout"], IntervalSeconds: 1, MaxAttempts: 40, BackoffRate: 1 }],
    },
  );
  await place.deploy(declared);
  await using running = await run(place, declared, { workflows: stepFunctions({ endpoint: way.url }) });
  const { arn } = await declared.start({});
  await expect.poll(() => rows(declared)).toMatchObject([{ fate: "answered", retries: 0 }, { retries: 1 }]);
  way.heal();
  const { status, output } = await end(running, arn);
  expect(status).toBe("SUCCEEDED");
  expect(JSON.parse(output!)).toEqual({ receipt: expect.stringContaining("/Pay#") });
  expect({ calls, effects: await effects(place) }).toEqual({ calls: 1, effects: ["paid"] });
  await expect.poll(() => fates.toSorted()).toEqual(expect.arrayContaining(["accepted", "closed"]));
  await expect.poll(async () => (await rows(declared)).every(({ token }) => token === null)).toBe(true);
}, 120_000);

test("P-15 an execution that is stopped aborts its step at the next heartbeat, and nothing of that is written", async () => {
  const [begun, aborted] = [gate(), gate<unknown>()];
  const declared = one(
    async (_, ctx) => {
      await ctx.tx.query(insert(), ["never"]);
      begun.open();
      while (!ctx.signal.aborted) {
        ctx.heartbeat();
        await sleep(200);
      }
      aborted.open(ctx.signal.reason);
    },
    { HeartbeatSeconds: 4 },
  );
  await place.deploy(declared);
  await using running = await run(place, declared);
  const { executions } = running.platform.workflows;
  const { arn } = await declared.start({});
  await begun.promise;
  const execution = (await executions.find(arn))!;
  expect(await executions.stop(execution, { error: "Stopped", cause: "by hand" })).toBe(true);
  expect(await executions.stop(execution, {})).toBe(false);
  expect(await aborted.promise).toMatchObject({ code: "TUNTAS_TASK_LOST" });
  await expect.poll(() => rows(declared)).toEqual([{ fate: "closed", token: null, retries: 0 }]);
  expect(await executions.find(arn)).toMatchObject({ status: "ABORTED", error: "Stopped" });
  expect(await effects(place)).toEqual([]);
  expect(fates).toEqual(["closed"]);
  for (const asked of [() => executions.history(execution), () => executions.redrive(execution)])
    await expect(asked()).rejects.toMatchObject({ code: "TUNTAS_WORKFLOW_ELSEWHERE" });
}, 120_000);

test("what AWS has no match for is refused before anything is started", async () => {
  const declared = one(() => undefined);
  const nightly = schedule("nightly", {
    when: "cron(0 2 * * ? *)",
    timeZone: "Asia/Jakarta",
    overlap: "allow",
    catchUp: { all: "2h" },
    target: declared,
    succeedsWithin: "12h",
    owner: "team",
    runbook: "runbooks/nightly.md",
  });
  const { platform } = place.kit;
  const { queues, workflows } = place.options;
  const begin = (options: object) => start(app({ declared, nightly }), { platform, ...options });
  await expect(begin({ workflows, schedules: [] })).rejects.toMatchObject({ code: "TUNTAS_WORKFLOW_ELSEWHERE" });
  await expect(begin({ queues, workflows })).rejects.toMatchObject({ code: "TUNTAS_SCHEDULE_TARGET" });
  await expect(begin({ queues, workflows, schedules: [] })).rejects.toMatchObject({ code: "TUNTAS_QUEUE_MISSING" });
  await using running = await begin({ queues, workflows, schedules: [], workers: false });
  await expect(declared.start({})).rejects.toMatchObject({ code: "TUNTAS_WORKFLOW_MISSING" });
  expect(running.active()).toEqual([]);
}, 120_000);
