// What is told of an execution before it grows too long, and what is left of it long after its end.
import diagnostics from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { app, start } from "../app.ts";
import { statement } from "../pg/database.ts";
import { testPlatform } from "../testing/index.ts";
import { workflow } from "./declaration.ts";
import { removeEnded } from "./store/retention.ts";
import { makeRetention } from "./worker/retention.ts";

const wait = { Type: "Wait", Seconds: 200 * 86_400, End: true };
const machine = (state: object) => ({ StartAt: "S", States: { S: state } }) as never;

test("executions that ended 90 days ago are forgotten; what runs and what is young is kept", async () => {
  await using kit = await testPlatform();
  const quick = workflow("quick", { definition: machine({ Type: "Succeed" }) });
  const long = workflow("long", { definition: machine(wait) });
  await using running = await start(app({ quick, long }), { platform: kit.platform });
  const { database } = running.platform;
  await long.start({}, { name: "long" });
  await quick.start({}, { name: "old" });
  await kit.advance(91 * 86_400_000);
  await quick.start({}, { name: "young" });
  const retentionMs = 90 * 86_400_000;

  const found = await removeEnded(database, { cursor: "0", retentionMs, limit: 500 });
  // The platform's own sweep may have come first.
  expect(found.cursor).toEqual(expect.any(String));
  const names = await database.run(statement("select name from tuntas.execution order by name"));
  expect(names.map(({ name }) => name)).toEqual(["long", "young"]);
  const left = await database.run(
    statement("select count(distinct execution_id)::int as count from tuntas.execution_history"),
  );
  expect(left).toEqual([{ count: 2 }]);
  const further = await removeEnded(database, { cursor: found.cursor!, retentionMs, limit: 500 });
  expect(further).toEqual({ removed: 0, cursor: null });
});

test("executions that are over are forgotten however many they are", async () => {
  await using kit = await testPlatform();
  const quick = workflow("quick", { definition: machine({ Type: "Succeed" }) });
  await using running = await start(app({ quick }), { platform: kit.platform });
  const { database } = running.platform;
  await Promise.all(Array.from({ length: 1200 }, () => quick.start({})));
  const count = async () =>
    (
      await database.run<{ count: number }>(statement("select count(*)::int as count from tuntas.execution"))
    )[0]!.count;
  await expect.poll(count).toBe(1200);
  const ended = statement("select count(*)::int as count from tuntas.execution where stopped_at is null");
  await expect.poll(async () => (await database.run(ended))[0]).toEqual({ count: 0 });
  await kit.advance(91 * 86_400_000);
  await makeRetention(database, undefined).sweep();
  expect(await count()).toBe(0);
});

test("P-31 a history that has come half-way to its limit is told of once", async () => {
  await using kit = await testPlatform();
  const told: unknown[] = [];
  const listen = (message: unknown) => void told.push(message);
  diagnostics.subscribe("tuntas.workflow.near_limit", listen);
  const definition = {
    StartAt: "Step",
    States: {
      Step: { Type: "Task", Resource: "step", Next: "Again" },
      Again: {
        Type: "Choice",
        Choices: [{ Variable: "$", NumericLessThan: 2000, Next: "Step" }],
        Default: "End",
      },
      End: { Type: "Succeed" },
    },
  } as never;
  const loop = workflow("loop", { definition, tasks: { step: (count: number) => count + 1 } });
  await using running = await start(app({ loop }), { platform: kit.platform });
  const { arn } = await loop.start(0 as never);
  const { executions } = running.platform.workflows;
  await expect.poll(async () => (await executions.find(arn))!.status, { timeout: 120_000 }).toBe("SUCCEEDED");
  diagnostics.unsubscribe("tuntas.workflow.near_limit", listen);
  expect(told).toEqual([expect.objectContaining({ arn, workflow: "loop", most: 25_000 })]);
}, 130_000);

test("P-31 data that has grown past half of its limit is told of once, wherever it comes from", async () => {
  await using kit = await testPlatform();
  const told: unknown[] = [];
  const listen = (message: unknown) => void told.push(message);
  diagnostics.subscribe("tuntas.workflow.near_limit", listen);
  const definition = {
    StartAt: "Make",
    States: {
      Make: { Type: "Task", Resource: "make", Next: "Keep" },
      Keep: { Type: "Pass", Next: "Wait" },
      Wait: { Type: "Wait", Seconds: 1, Next: "Again" },
      Again: { Type: "Task", Resource: "make", End: true },
    },
  } as never;
  const large = workflow("large", { definition, tasks: { make: () => "x".repeat(140_000) } });
  const given = workflow("given", { definition: machine({ Type: "Succeed" }) });
  await using running = await start(app({ large, given }), { platform: kit.platform });
  const { executions } = running.platform.workflows;
  const { arn } = await large.start({});
  await expect.poll(async () => (await executions.find(arn))!.status).toBe("SUCCEEDED");
  await given.start({ text: "é".repeat(70_000) });
  await given.start({ text: "x".repeat(100_000) });
  diagnostics.unsubscribe("tuntas.workflow.near_limit", listen);
  const most = 262_144;
  const limit = "bytes of state data";
  expect(told).toEqual([
    { arn, workflow: "large", limit, used: 140_002, most },
    expect.objectContaining({ workflow: "given", limit, used: 140_011, most }),
  ]);
});
