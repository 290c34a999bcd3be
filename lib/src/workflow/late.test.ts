// Executions that nobody went on with for a while: no process ran, or their beginning was committed late. What fell due
// happens when somebody looks, is dated with that time, and what it begins counts from then.
import { afterEach, beforeEach, expect, test } from "vitest";
import { app, start } from "../app.ts";
import type { HistoryEvent } from "../asl/contract.ts";
import { statement } from "../pg/database.ts";
import { openPlatform, type Platform } from "../platform.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { activityArn } from "./arn.ts";
import { workflow } from "./declaration.ts";
import { machineOf } from "./machine.fixture.ts";

const hourMs = 3_600_000;
const scope = { account: "000000000000", region: "us-east-1" };
let kit: TestPlatform;
beforeEach(async () => {
  kit = await testPlatform();
});
afterEach(() => kit[Symbol.asyncDispose]());

const ask = (resource: string) => ({
  Type: "Task",
  Resource: resource,
  TimeoutSeconds: 600,
  Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Late" }],
  End: true,
});
const activity = activityArn(scope, "nobody");
const resting = () =>
  workflow("resting", {
    definition: {
      StartAt: "Both",
      States: {
        Both: {
          Type: "Parallel",
          Branches: [
            {
              StartAt: "Rest",
              States: {
                Rest: { Type: "Wait", Seconds: 3600, Next: "Note" },
                Note: { Type: "Task", Resource: "note", Next: "Again" },
                Again: { Type: "Wait", Seconds: 60, End: true },
              },
            },
            {
              StartAt: "Ask",
              States: { Ask: ask(activity), Late: { Type: "Pass", Result: "late", End: true } },
            },
          ],
          End: true,
        },
      },
    } as never,
    tasks: { note: () => "noted" },
  });

/** On a schema of its own, so that at times nobody runs there. */
async function away(work: (open: () => Promise<Platform>) => Promise<void>): Promise<void> {
  const opened: Platform[] = [];
  const schema = `${kit.schema}_away`;
  const open = async () => {
    const platform = await openPlatform({ databaseUrl: kit.databaseUrl, schema });
    opened.push(platform);
    return platform;
  };
  try {
    await work(open);
  } finally {
    for (const each of opened) await each.close();
    await kit.platform.database.run(statement(`drop schema ${schema} cascade`));
  }
}

const moveClock = (ms: number) =>
  kit.platform.database.run(
    statement(`create or replace function ${kit.schema}_away.now() returns timestamptz language sql stable parallel safe
      as 'select pg_catalog.now() + interval ''${ms} milliseconds'''`),
  );

const find = async ({ workflows }: Platform, arn: string) => (await workflows.executions.find(arn))!;
const historyOf = async (platform: Platform, arn: string): Promise<HistoryEvent[]> =>
  platform.workflows.executions.history(await find(platform, arn));
/** When the first event of that type was. */
const timeOf = (events: readonly HistoryEvent[], type: string): number =>
  events.find((each) => each.type === type)!.timestamp * 1000;

test("P-01 goes on at once with what fell due while no process ran, and dates it truly", () =>
  away(async (open) => {
    const declared = resting();
    const before = await open();
    await before.workflows.activities.create(scope, "nobody", { tags: {} });
    const first = await start(app({ declared }), { platform: before });
    const { arn, startedAtMs } = (await declared.start({})) as { arn: string; startedAtMs: number };
    await first.stop();
    await before.close();
    await moveClock(2 * hourMs);

    const after = await open();
    await using second = await start(app({ declared }), { platform: after });
    const entered = async () =>
      (await historyOf(after, arn)).filter(({ type }) => type === "WaitStateEntered").length;
    await expect.poll(entered).toBe(2);
    const events = await historyOf(after, arn);
    const lateBy = (type: string) => timeOf(events, type) - startedAtMs;
    for (const type of ["ActivityTimedOut", "WaitStateExited"]) {
      expect(lateBy(type)).toBeGreaterThan(2 * hourMs - 1000);
      expect(lateBy(type)).toBeLessThan(2 * hourMs + 60_000);
    }
    const times = events.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted((a, b) => a - b));

    expect((await find(second.platform, arn)).status).toBe("RUNNING");
    await moveClock(2 * hourMs + 61_000);
    await after.workflows.sweepDue();
    await expect.poll(async () => (await find(after, arn)).status).toBe("SUCCEEDED");
    expect((await find(after, arn)).output).toBe('["noted","late"]');
  }));

test("counts from its decision where the transaction that began it commits late", async () => {
  const declared = resting();
  await kit.platform.workflows.activities.create(scope, "nobody", { tags: {} });
  await using running = await start(app({ declared }), { platform: kit.platform });
  const { executions, machines } = kit.platform.workflows;
  const target = { machine: (await machines.find(scope, "resting"))!, versionArn: null, aliasArn: null };
  const { arn } = await kit.platform.database.transaction(async (tx) => {
    const started = await executions.startIn(tx, { target, name: "late", input: "{}" });
    await kit.advance(2 * hourMs);
    return started;
  });
  const entered = async () =>
    (await historyOf(running.platform, arn)).filter(({ type }) => type === "WaitStateEntered").length;
  await expect.poll(entered).toBe(2);
  const events = await historyOf(running.platform, arn);
  const beganMs = timeOf(events, "ExecutionStarted");
  expect(timeOf(events, "WaitStateExited") - beganMs).toBeGreaterThan(2 * hourMs - 1000);
  await kit.advance(61_000);
  await expect.poll(async () => (await find(kit.platform, arn)).status).toBe("SUCCEEDED");
});

test("makes the first call of what a transaction began at its commit, and not at the next round of the minute", async () => {
  const { queues, workflows } = kit.platform;
  await queues.catalog.create(scope, "told", {});
  const first = {
    Type: "Task",
    Resource: "arn:aws:states:::sqs:sendMessage",
    Parameters: { QueueUrl: "http://localhost/000000000000/told", MessageBody: "begun" },
    End: true,
  };
  await machineOf(kit.platform, "telling", { StartAt: "Tell", States: { Tell: first } });
  const target = {
    machine: (await workflows.machines.find(scope, "telling"))!,
    versionArn: null,
    aliasArn: null,
  };
  // A round may come right after the first commit; the next is a minute later.
  for (const name of ["one", "two"]) {
    const { arn } = await kit.platform.database.transaction((tx) =>
      workflows.executions.startIn(tx, { target, name, input: "{}" }),
    );
    const status = async () => (await find(kit.platform, arn)).status;
    await expect.poll(status, { timeout: 30_000 }).toBe("SUCCEEDED");
  }
});
