// Executions in this process and in two at once, on a real PostgreSQL with a clock that can be moved.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../asl/contract.ts";
import { statement } from "../pg/database.ts";
import type { Platform } from "../platform.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { activityArn } from "./arn.ts";
import type { ExecutionRecord, Target } from "./contract.ts";
import { machineOf } from "./machine.fixture.ts";

const scope = { account: "000000000000", region: "us-east-1" };

const start = async ({ workflows }: Platform, target: Target, input: object = {}): Promise<string> =>
  (await workflows.executions.start({ target, name: randomUUID(), input: JSON.stringify(input) })).arn;

async function ended({ workflows }: Platform, arn: string): Promise<ExecutionRecord> {
  for (const until = Date.now() + 20_000; Date.now() < until;) {
    const execution = (await workflows.executions.find(arn))!;
    if (execution.status !== "RUNNING") return execution;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${arn} has not ended`);
}

const withKit = async (work: (kit: TestPlatform) => Promise<void>) => {
  await using kit = await testPlatform();
  await work(kit);
};

const pass = (next?: string): JsonObject => ({ Type: "Pass", ...(next ? { Next: next } : { End: true }) });

describe("time", () => {
  test("a wait of 300 days ends when the database's clock says so", () =>
    withKit(async (kit) => {
      const { platform } = kit;
      const seconds = 300 * 86_400;
      const definition = {
        StartAt: "Wait",
        States: { Wait: { Type: "Wait", Seconds: seconds, Next: "Done" }, Done: pass() },
      };
      const arn = await start(platform, await machineOf(platform, "machine", definition));
      expect((await platform.workflows.executions.find(arn))!.status).toBe("RUNNING");
      await kit.advance(seconds * 1000 - 60_000);
      expect((await platform.workflows.executions.find(arn))!.status).toBe("RUNNING");
      await kit.advance(60_000);
      expect((await ended(platform, arn)).status).toBe("SUCCEEDED");
    }));

  test("a machine's own timeout ends it, and nothing stays behind", () =>
    withKit(async (kit) => {
      const { platform } = kit;
      const resource = activityArn(scope, "nobody");
      await platform.workflows.activities.create(scope, "nobody", { tags: {} });
      const definition = {
        StartAt: "Ask",
        TimeoutSeconds: 600,
        States: { Ask: { Type: "Task", Resource: resource, HeartbeatSeconds: 900, End: true } },
      };
      const arn = await start(platform, await machineOf(platform, "machine", definition));
      await kit.advance(601_000);
      expect((await ended(platform, arn)).status).toBe("TIMED_OUT");
      const left = statement(
        `select (select count(*) from tuntas.workflow_due)::int + (select count(*) from tuntas.workflow_call)::int as count`,
      );
      expect(await platform.database.run(left)).toEqual([{ count: 0 }]);
    }));
});

describe("commits", () => {
  test("states that wait for nothing are one advance, written once", () =>
    withKit(async ({ platform }) => {
      const names = Array.from({ length: 10 }, (_, index) => `S${index}`);
      const states = Object.fromEntries(names.map((name, index) => [name, pass(names[index + 1])]));
      const arn = await start(
        platform,
        await machineOf(platform, "machine", { StartAt: "S0", States: states }),
      );
      const execution = await ended(platform, arn);
      const rows = statement("select count(*)::int as count from tuntas.execution_history");
      expect(await platform.database.run(rows)).toEqual([{ count: 1 }]);
      expect(await platform.workflows.executions.history(execution)).toHaveLength(22);
    }));
});

describe("two processes", () => {
  test("answer the tasks of the same executions at the same time, and each counts once", () =>
    withKit(async (kit) => {
      const { platform } = kit;
      const other = await kit.another();
      const branches = 4;
      const arn = (index: number) => activityArn(scope, `a${index}`);
      for (let index = 0; index < branches; index++)
        await platform.workflows.activities.create(scope, `a${index}`, { tags: {} });
      const target = await machineOf(platform, "machine", {
        StartAt: "All",
        States: {
          All: {
            Type: "Parallel",
            End: true,
            Branches: Array.from({ length: branches }, (_, index) => ({
              StartAt: `Ask${index}`,
              States: { [`Ask${index}`]: { Type: "Task", Resource: arn(index), End: true } },
            })),
          },
        },
      });
      const count = 10;
      const executions = await Promise.all(
        Array.from({ length: count }, (_, index) => start(index % 2 ? platform : other, target, { index })),
      );
      const answers = await Promise.all(
        Array.from({ length: branches * count }, async (_, index) => {
          const { activities } = (index % 2 ? platform : other).workflows;
          const task = (await activities.task(arn(index % branches), { waitMs: 10_000 }))!;
          // The same answer in both processes at once: one of them is late.
          return Promise.all(
            [platform, other].map(({ workflows }) => workflows.activities.succeed(task.token, index)),
          );
        }),
      );
      const statuses = answers.map((pair) => pair.map(({ status }) => status).toSorted());
      expect(statuses).toEqual(answers.map(() => ["accepted", "gone"]));
      for (const each of executions) {
        const execution = await ended(platform, each);
        expect(execution.status).toBe("SUCCEEDED");
        const history = await other.workflows.executions.history(execution);
        expect(history.map(({ id }) => id)).toEqual(history.map((_, index) => index + 1));
        expect(history.filter(({ type }) => type === "ActivitySucceeded")).toHaveLength(branches);
      }
    }));
});

describe("announcements", () => {
  test("start an execution once, however often they are delivered", () =>
    withKit(async ({ platform }) => {
      await machineOf(platform, "announced", { StartAt: "Done", States: { Done: pass() } });
      const target = platform.targets.find({ kind: "workflow", name: "announced" });
      if (!target || !("deliver" in target)) throw new Error("workflows are no target");
      const announcement = {
        target: { kind: "workflow", name: "announced" },
        eventId: randomUUID(),
        key: null,
        type: null,
        payload: '{"a":1}',
      };
      const { signal } = new AbortController();
      const receipts = [
        await target.deliver(announcement, signal),
        await target.deliver(announcement, signal),
      ];
      expect(receipts.map((receipt) => receipt?.status)).toEqual(["created", "duplicate"]);
    }));
});
