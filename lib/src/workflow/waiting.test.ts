// What it costs that very many executions wait for people: rows, and nothing else. And what it costs where a transaction waits.
import pg from "pg";
import { expect, test } from "vitest";
import { app, start } from "../app.ts";
import { statement } from "../pg/database.ts";
import { testPlatform } from "../testing/index.ts";
import { workflow } from "./declaration.ts";

const invoke = "arn:aws:states:::lambda:invoke.waitForTaskToken";
const Parameters = { FunctionName: "ask", Payload: { "token.$": "$$.Task.Token" } };
const count = 2000;

/** How many statements this process sends in the time. */
async function statementsIn(ms: number): Promise<number> {
  const { query } = pg.Client.prototype;
  let sent = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    sent++;
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as never;
  await new Promise((resolve) => setTimeout(resolve, ms));
  pg.Client.prototype.query = query;
  return sent;
}

test("two thousand executions that wait for a person cost no statement and no running task", async () => {
  await using kit = await testPlatform();
  const definition = {
    StartAt: "Ask",
    States: { Ask: { Type: "Task", Resource: invoke, Parameters, End: true } },
  };
  const tokens: string[] = [];
  const asking = workflow("asking", {
    definition: definition as never,
    tasks: { ask: (_input, ctx) => void tokens.push(ctx.taskToken!) },
  });
  await using running = await start(app({ asking }), { platform: kit.platform });
  const { database, workflows } = running.platform;
  const submitted = async () => {
    const text = "select count(*)::int as count from tuntas.workflow_call where started and owner_id is null";
    return (await database.run(statement(text)))[0]!.count as number;
  };
  const idle = await statementsIn(6000);
  await Promise.all(Array.from({ length: count }, () => asking.start({})));
  await expect.poll(submitted).toBe(count);
  const waiting = await statementsIn(6000);
  // What a process does anyway varies by a few; one statement in twenty executions would already be too many.
  expect(waiting).toBeLessThan(idle + count / 20);
  const held = await database.run(statement("select from tuntas.workflow_call where owner_id is not null"));
  expect(held).toEqual([]);
  expect((await workflows.activities.succeed(tokens[0]!, {})).status).toBe("accepted");
}, 120_000);

test("P-13 where transactions wait for people, a pool of two is exhausted by two cases; as executions they hold nothing", async () => {
  await using kit = await testPlatform();
  const connectionTimeoutMillis = 2000;
  const pool = new pg.Pool({ connectionString: kit.databaseUrl, max: 2, connectionTimeoutMillis });
  await pool.query(`create table ${kit.schema}.cases (id text primary key)`);
  let decide!: () => void;
  const decided = new Promise<void>((resolve) => (decide = resolve));
  // Insert, wait for the supervisor, commit: all in one transaction.
  const activate = async (id: string) => {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query(`insert into ${kit.schema}.cases values ($1)`, [id]);
      await decided;
      await client.query("commit");
    } finally {
      client.release();
    }
  };
  const cases = [activate("one"), activate("two")];
  await expect.poll(() => pool.idleCount + pool.waitingCount + pool.totalCount).toBe(2);
  await expect(pool.query("select 1")).rejects.toThrow(/timeout/);
  decide();
  await Promise.all(cases);

  const definition = {
    StartAt: "Ask",
    States: { Ask: { Type: "Task", Resource: invoke, Parameters, End: true } },
  };
  const activating = workflow("activating", {
    definition: definition as never,
    tasks: {
      ask: (_input, { tx }) =>
        tx.query(`insert into ${kit.schema}.cases_asked default values`).then(() => undefined),
    },
  });
  await pool.query(`create table ${kit.schema}.cases_asked (at timestamptz default now())`);
  await using running = await start(app({ activating }), { platform: kit.platform });
  const begun = await Promise.all(Array.from({ length: 5 }, () => activating.start({})));
  const waiting = statement(
    "select count(*)::int as count from tuntas.workflow_call where started and owner_id is null",
  );
  const { database } = running.platform;
  await expect.poll(async () => (await database.run(waiting))[0]!.count).toBe(begun.length);
  const open = `select count(*)::int as count from pg_stat_activity
    where state like 'idle in transaction%' and query like '%${kit.schema}%'`;
  await expect.poll(async () => (await pool.query(open)).rows[0].count).toBe(0);
  await pool.end();
}, 60_000);
