import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import type { Announcement, Receipt } from "../../engine/target.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { StartCommand, StartPattern } from "./command.ts";
import { choosePattern, executionName, startInput } from "./command.ts";
import {
  recordStart,
  startByOutbox,
  startDirectly,
  startMissing,
  startRecorded,
  workflowTarget,
} from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await query(
    `create table ${kit.schema}.started_execution (name text primary key, input text not null, starts integer not null default 1)`,
  );
  await query(`create table ${kit.schema}.domain (command_id text primary key)`);
});
afterAll(() => kit[Symbol.asyncDispose]());

async function query(text: string, values: unknown[] = []): Promise<any[]> {
  const client = await kit.platform.database.handlerClient();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    client.release();
  }
}

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

/** The recording workflow service: a start under a known name finds the execution that is there. */
async function starter({ key, payload }: Announcement): Promise<Receipt> {
  const [row] = await query(
    `insert into ${kit.schema}.started_execution (name, input) values ($1, $2) on conflict (name) do update set starts = started_execution.starts + 1 returning starts`,
    [key, payload],
  );
  return { status: row.starts === 1 ? "created" : "duplicate", reference: `arn:${key}` };
}

const executionsOf = (commandId: string) =>
  query(`select name, input from ${kit.schema}.started_execution where name like $1`, [`%-${commandId}`]);
const startOf = async (commandId: string) =>
  (await query(`select * from ${kit.schema}.workflow_start where command_id = $1`, [commandId]))[0];
const inTx = <T>(work: (tx: Parameters<typeof startByOutbox>[0]) => Promise<T>) =>
  kit.platform.database.transaction(work);

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 400) throw new Error("it did not come to hold in time");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

describe("the start itself", () => {
  test("P-27 P-19 its name and its bytes are the same at every retry, whatever the order of the fields", () => {
    const command = commandOf("cmd-1");
    expect(executionName(command)).toBe("CaseActivation-t1-c7-cmd-1");
    const shuffled = Object.fromEntries(Object.entries(command).toReversed()) as unknown as StartCommand;
    expect(startInput(shuffled)).toBe(startInput(command));
  });

  test("P-19 an embedded document, a missing id and a name that Step Functions refuses are refused", () => {
    const wrong: object[] = [
      { case: { status: "DRAFT" } },
      { caseId: { id: "c7" } },
      { caseId: "" },
      { startedAt: "now" },
      { requestedBy: undefined },
    ];
    for (const part of wrong)
      expect(() => startInput({ ...commandOf("x"), ...part })).toThrow(
        expect.objectContaining({ code: "TUNTAS_START_INVALID" }),
      );
    for (const caseId of ["c 7", "c/7", "x".repeat(80)])
      expect(() => executionName({ ...commandOf("x"), caseId })).toThrow(/execution name/);
  });

  test("P-26 which pattern, by need", () => {
    const need = (workflowOwnsProcess: boolean, durableAcceptance: boolean, lowLatency: boolean) =>
      choosePattern({ workflowOwnsProcess, durableAcceptance, lowLatency });
    expect([
      need(true, false, false),
      need(false, true, false),
      need(true, true, false),
      need(false, true, true),
      need(false, false, false),
    ]).toEqual(["A", "B", "B", "C", "B"]);
  });
});

test("P-22 P-27 pattern A: calling twice is one execution", async () => {
  expect(await startDirectly(starter, commandOf("a-1"))).toMatchObject({
    status: "created",
    executionArn: "arn:CaseActivation-t1-c7-a-1",
  });
  expect(await startDirectly(starter, commandOf("a-1"))).toMatchObject({ status: "duplicate" });
  expect(await executionsOf("a-1")).toHaveLength(1);
});

test("P-23 P-28 pattern B: accepted, then started by the relay, and recorded with name, ARN and state", async () => {
  const undo = kit.platform.targets.bind(
    { kind: "workflow" },
    workflowTarget(kit.platform.database, starter),
  );
  expect(await inTx((tx) => startByOutbox(tx, commandOf("b-1")))).toMatchObject({
    status: "created",
    executionArn: undefined,
  });
  expect(await inTx((tx) => startByOutbox(tx, commandOf("b-1")))).toMatchObject({ status: "duplicate" });
  await until(async () => (await startOf("b-1")).state === "started");
  expect(await startOf("b-1")).toMatchObject({
    execution_name: "CaseActivation-t1-c7-b-1",
    execution_arn: "arn:CaseActivation-t1-c7-b-1",
    pattern: "B",
  });
  expect(await executionsOf("b-1")).toHaveLength(1);
  undo();
});

test("a command that comes again with another input is a conflict, and starts nothing", async () => {
  await inTx((tx) => startByOutbox(tx, commandOf("b-2")));
  const other = inTx((tx) => startByOutbox(tx, { ...commandOf("b-2"), requestedBy: "eve" }));
  await expect(other).rejects.toMatchObject({ code: "TUNTAS_START_CONFLICT" });
});

test("P-24 R-08 pattern C: a start that fails is made by the reconciliation, once; a refused one is left to a person", async () => {
  const { database } = kit.platform;
  await inTx((tx) => recordStart(tx, commandOf("c-1")));
  const down = Object.assign(new Error("down"), { code: "ECONNREFUSED" });
  await expect(startRecorded(database, () => Promise.reject(down), commandOf("c-1"))).rejects.toThrow("down");
  await inTx((tx) => recordStart(tx, commandOf("c-2")));
  await expect(
    startRecorded(database, () => Promise.reject(new Error("no such workflow")), commandOf("c-2")),
  ).rejects.toThrow();
  expect(await startOf("c-2")).toMatchObject({ state: "manual", failure_message: "no such workflow" });
  const cOnly = (announcement: Announcement) => starter(announcement);
  expect(await startMissing(database, cOnly, 60_000)).toBe(0);
  await kit.advance(60_000);
  await startMissing(database, cOnly, 60_000);
  expect(await executionsOf("c-1")).toHaveLength(1);
  expect(await executionsOf("c-2")).toHaveLength(0);
  expect(await startOf("c-1")).toMatchObject({ state: "started" });
});

/** What makes up for a death: the client that got no answer asks again, then relay or reconciliation do their part. */
const recover: Record<StartPattern, (command: StartCommand) => Promise<void>> = {
  async A(command) {
    await startDirectly(starter, command);
  },
  async B(command) {
    await inTx((tx) => startByOutbox(tx, command));
    // The dead relay has no row among the processes, so that what it had claimed is free at once.
    await until(async () => (await startOf(command.commandId)).state === "started");
    await until(
      async () =>
        (await query(`select 1 from ${kit.schema}.outbox where key = $1`, [executionName(command)]))
          .length === 0,
    );
  },
  async C(command) {
    await inTx((tx) => recordStart(tx, command));
    await startMissing(kit.platform.database, starter, 0);
  },
};

test.each(["A", "B", "C"] as const)(
  "P-25 G-12 G-13 pattern %s: killed at every point between its writes, one execution with one input is left",
  async (pattern) => {
    const points = await killAtEachStep({
      script: new URL("start.fixture.mjs", import.meta.url),
      args: (step) => [
        kit.databaseUrl,
        kit.schema,
        pattern,
        JSON.stringify(commandOf(`kill-${pattern}-${step}`)),
      ],
      async check(_, step) {
        const command = commandOf(`kill-${pattern}-${step}`);
        const undo = kit.platform.targets.bind(
          { kind: "workflow" },
          workflowTarget(kit.platform.database, starter),
        );
        await recover[pattern](command);
        undo();
        expect(await executionsOf(command.commandId)).toEqual([
          { name: executionName(command), input: startInput(command) },
        ]);
        if (pattern !== "A")
          expect(await startOf(command.commandId)).toMatchObject({
            state: "started",
            execution_arn: `arn:${executionName(command)}`,
          });
      },
    });
    expect(points).toContain("before the start");
    expect(points).toContain("after the start");
    if (pattern !== "A") expect(points).toContain("before commit");
  },
);
