// The three ways to start a workflow, end to end: the real outbox, the real engine, a worker of the first step, and a
// process that dies at every write between them. On PostgreSQL 18, and on 15 where that is installed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killAtEachStep } from "../engine/stepwise.fixture.ts";
import { once, stepKey } from "../ledger/index.ts";
import {
  executionName,
  recordStart,
  startByOutbox,
  startDirectly,
  startInput,
  startMissing,
  startRecorded,
  workflowTarget,
  type StartCommand,
  type StartPattern,
} from "../outbox/index.ts";
import { installed, startPostgres15, type SystemServer } from "../testing/debian.fixture.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { activityArn, executionArn, workflowStarter } from "./index.ts";
import { machineOf } from "./machine.fixture.ts";

const scope = { account: "000000000000", region: "us-east-1" };
const activity = activityArn(scope, "record");

const commandOf = (commandId: string): StartCommand => ({
  workflowName: "CaseActivation",
  workflowVersion: "3",
  tenantId: "t1",
  caseId: "c7",
  commandId,
  requestedBy: "ana",
  correlationId: "corr-1",
  startedAt: "2026-07-05T00:00:00Z",
});

const arnOf = (command: StartCommand) => executionArn(scope, "CaseActivation", executionName(command));

/** A worker that dies with the task's token in its hands is missed after a second. */
const definition = {
  StartAt: "Record",
  States: {
    Record: {
      Type: "Task",
      Resource: activity,
      TimeoutSeconds: 1,
      Retry: [{ ErrorEquals: ["States.Timeout"], IntervalSeconds: 1, BackoffRate: 1, MaxAttempts: 99 }],
      End: true,
    },
  },
};

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 800) throw new Error("it did not come to hold in time");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe.each(["18", "15"])("PostgreSQL %s", (version) => {
  const absent = version === "15" && !installed().postgres;
  let server: SystemServer | undefined;
  let kit: TestPlatform;

  beforeAll(async () => {
    if (absent) return;
    server = version === "15" ? await startPostgres15() : undefined;
    kit = await testPlatform(server ? { databaseUrl: server.url } : {});
    await query(
      `create table ${kit.schema}.domain (command_id text primary key, steps integer not null default 0)`,
    );
    await kit.platform.workflows.activities.create(scope, "record", { tags: {} });
    await machineOf(kit.platform, "CaseActivation", definition);
  });
  afterAll(async () => {
    await kit?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const query = (text: string, values: unknown[] = []): Promise<any[]> =>
    kit.platform.database.transaction(async (tx) => (await tx.client.query(text, values)).rows);

  const starter = () => workflowStarter(kit.platform.workflows);

  const accept = (command: StartCommand, start: typeof startByOutbox) =>
    kit.platform.database.transaction(async (tx) => {
      const insert = `insert into ${kit.schema}.domain (command_id) values ($1) on conflict do nothing`;
      await tx.client.query(insert, [command.commandId]);
      return start(tx, command);
    });

  /** The workflow's first step, which makes or completes the domain's record; answers whether there was one to take. */
  async function firstStep(): Promise<boolean> {
    const { database, workflows } = kit.platform;
    const task = await workflows.activities.task(activity, { waitMs: 50 });
    if (!task) return false;
    const { commandId } = JSON.parse(task.input) as StartCommand;
    await database.transaction((tx) =>
      once(tx, { scope: "start", key: stepKey(commandId, "Record"), request: commandId }, async () => {
        const upsert = `insert into ${kit.schema}.domain as d (command_id, steps) values ($1, 1) on conflict (command_id) do update set steps = d.steps + 1`;
        await tx.client.query(upsert, [commandId]);
      }),
    );
    await workflows.activities.succeed(task.token, {});
    return true;
  }

  async function ended(command: StartCommand) {
    for (let tries = 0; tries < 1000; tries++) {
      const execution = await kit.platform.workflows.executions.find(arnOf(command));
      if (execution && execution.status !== "RUNNING") return execution;
      // Whoever died with the token is missed when its time is over.
      if (!(await firstStep())) await kit.advance(1000);
    }
    throw new Error(`${arnOf(command)} has not ended`);
  }

  const startOf = async (command: StartCommand) =>
    (await query(`select * from ${kit.schema}.workflow_start where command_id = $1`, [command.commandId]))[0];

  async function expectWhole(command: StartCommand, pattern: StartPattern): Promise<void> {
    expect(await ended(command)).toMatchObject({ status: "SUCCEEDED", input: startInput(command) });
    const like = `%-${command.commandId}`;
    expect(await query(`select arn from ${kit.schema}.execution where name like $1`, [like])).toHaveLength(1);
    const steps = await query(`select steps from ${kit.schema}.domain where command_id = $1`, [
      command.commandId,
    ]);
    expect(steps).toEqual([{ steps: 1 }]);
    if (pattern === "A") return expect(await startOf(command)).toBeUndefined();
    await until(async () => (await startOf(command)).state === "started");
    expect(await startOf(command)).toMatchObject({ execution_arn: arnOf(command), pattern });
    await until(async () => (await query(`select from ${kit.schema}.outbox`)).length === 0);
  }

  test.skipIf(absent)(
    "P-22 P-27 pattern A: the workflow's first step creates the record; a second call finds the execution",
    async () => {
      const command = commandOf("a-1");
      expect(await startDirectly(starter(), command)).toMatchObject({
        status: "created",
        executionArn: arnOf(command),
      });
      expect(await startDirectly(starter(), command)).toMatchObject({ status: "duplicate" });
      await expectWhole(command, "A");
      expect(await startDirectly(starter(), command)).toMatchObject({
        status: "duplicate",
        executionArn: arnOf(command),
      });
      const other = { ...command, requestedBy: "eve" };
      await expect(startDirectly(starter(), other)).rejects.toMatchObject({ code: "TUNTAS_EXECUTION_TAKEN" });
    },
  );

  test.skipIf(absent)(
    "P-23 P-28 pattern B: accepted in the transaction, started by the platform's own relay",
    async () => {
      const command = commandOf("b-1");
      expect(await accept(command, startByOutbox)).toMatchObject({ status: "created" });
      await expectWhole(command, "B");
      expect(await accept(command, startByOutbox)).toMatchObject({
        status: "duplicate",
        executionArn: arnOf(command),
      });
    },
  );

  test.skipIf(absent)(
    "P-24 R-08 pattern C: a start that failed is made by the reconciliation, and a started one is left alone",
    async () => {
      const command = commandOf("c-1");
      await accept(command, recordStart);
      const down = () => Promise.reject(Object.assign(new Error("down"), { code: "ECONNREFUSED" }));
      await expect(startRecorded(kit.platform.database, down, command)).rejects.toThrow("down");
      expect(await startOf(command)).toMatchObject({ state: "requested", failure_message: "down" });
      expect(await startMissing(kit.platform.database, starter(), 0)).toBe(1);
      await expectWhole(command, "C");
      expect(await startMissing(kit.platform.database, starter(), 0)).toBe(0);
    },
  );

  const everywhere = [
    "insert into execution",
    "update execution_state",
    "insert into domain",
    "insert into command",
    "commit",
  ];
  /** The writes at which a process must have died; relay and engine go side by side, so their order varies. */
  const pointsOf: Record<StartPattern, readonly string[]> = {
    A: everywhere,
    B: [
      ...everywhere,
      "insert into workflow_start",
      "insert into outbox",
      "update outbox",
      "update workflow_start",
      "delete from outbox",
    ],
    C: [...everywhere, "insert into workflow_start", "update workflow_start"],
  };

  const recover: Record<StartPattern, (command: StartCommand) => Promise<unknown>> = {
    A: (command) => startDirectly(starter(), command),
    B: (command) => accept(command, startByOutbox),
    async C(command) {
      await accept(command, recordStart);
      await startMissing(kit.platform.database, starter(), 0);
    },
  };

  test.skipIf(absent).each(["A", "B", "C"] as const)(
    "P-25 G-12 G-13 pattern %s: killed at every write, one execution runs to its end and its step takes effect once",
    async (pattern) => {
      const { database, targets } = kit.platform;
      const target = workflowTarget(database, starter());
      const wanted = pointsOf[pattern].map((point) => `before ${point}`);
      const commandAt = (life: number) => commandOf(`kill-${pattern}-${life}`);
      const points = await killAtEachStep({
        script: new URL("start.fixture.mjs", import.meta.url),
        wanted,
        args(life) {
          // This process starts nothing while the other one lives.
          targets.bind({ kind: "workflow" }, target)();
          return [kit.databaseUrl, kit.schema, activity, pattern, JSON.stringify(commandAt(life))];
        },
        async check(_, life) {
          const command = commandAt(life);
          targets.bind({ kind: "workflow" }, target);
          await recover[pattern](command);
          await expectWhole(command, pattern);
        },
      });
      expect(new Set(points)).toEqual(new Set(wanted));
    },
    600_000,
  );
});
