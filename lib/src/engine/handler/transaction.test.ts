// Transactions that follow one another on one connection, the next one sent before the last one is answered.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { statement } from "../../pg/database.ts";
import { isTransient } from "../../pg/faults.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { beginning } from "./begin.ts";
import { fenced, FenceLost, openTransaction, type Prepared } from "./transaction.ts";
import { commitWrites } from "./writes.ts";

let kit: TestPlatform;
let table: string;
beforeAll(async () => {
  kit = await testPlatform({ handlerConnectionsMax: 1 });
  table = `${kit.schema}.kept`;
  await run("create table tuntas.kept (id text unique deferrable initially deferred)");
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(() => run("truncate tuntas.kept"));

const run = (text: string) => kit.platform.database.run<Record<string, any>>(statement(text));
const kept = async () => (await run("select id from tuntas.kept order by id")).map(({ id }) => id);
const open = (timeoutMs = 60_000, opening: readonly Prepared[] = []) =>
  openTransaction({ database: kit.platform.database, timeoutMs, opening });
const insert = () => `insert into ${table} values ($1)`;

/** A transaction that writes, and is ended with the closing statement while the next one is already behind it. */
async function followed(closing: Prepared, ids: readonly string[]) {
  const [first, second] = [open(), open()];
  for (const id of ids) await first.tx.query(insert(), [id]);
  const behind = second.tx.query(insert(), ["behind"]);
  const ended = first.commit([closing]).catch((cause: unknown) => cause);
  await behind;
  await second.commit([]);
  return ended;
}

const nothing: Prepared = { statement: statement("select 1"), values: [] };
const raising: Prepared = { statement: statement("select 1 / $1::int"), values: [0] };

test("the next transaction is on its way before the one before is answered, and both are kept", async () => {
  expect(await followed(nothing, ["first"])).toBeUndefined();
  expect(await kept()).toEqual(["behind", "first"]);
});

test("a transaction that loses its fence takes nothing of the next one with it", async () => {
  expect(await followed(fenced(raising), ["late"])).toBeInstanceOf(FenceLost);
  expect(await kept()).toEqual(["behind"]);
});

test("a transaction that fails at its commit takes nothing of the next one with it", async () => {
  expect(await followed(nothing, ["twice", "twice"])).toMatchObject({ code: "23505" });
  expect(await kept()).toEqual(["behind"]);
});

test("a transaction that is undone while it waits for a connection leaves that to the next, and asks the database nothing", async () => {
  const [first, second, third] = [open(), open(), open()];
  await first.tx.query(insert(), ["first"]);
  const late = second.tx.query(insert(), ["late"]).catch((cause: unknown) => cause);
  const next = third.tx.query(insert(), ["third"]);
  await second.rollback(); // at once: whoever gives up does not wait for another's work
  await first.commit([]);
  expect(await late).toMatchObject({ code: "TUNTAS_TX_CLOSED" });
  await next;
  await third.commit([]);
  expect(await kept()).toEqual(["first", "third"]);
});

test("a transaction that is undone behind one that fails leaves the connection clean", async () => {
  const [first, second] = [open(), open()];
  await first.tx.query(insert(), ["late"]);
  const behind = second.tx.query(insert(), ["behind"]).catch((cause: unknown) => cause);
  const ended = first.commit([raising]).catch((cause: unknown) => cause);
  await second.rollback();
  await Promise.all([behind, ended]);
  const third = open();
  await third.tx.query(insert(), ["third"]);
  await third.commit([]);
  expect(await kept()).toEqual(["third"]);
});

test("whoever waits for a connection of the pool is not passed by", async () => {
  const { database } = kit.platform;
  const [first, second] = [open(), open()];
  await first.tx.query(insert(), ["first"]);
  const other = database.handlerClient();
  const behind = second.tx.query(insert(), ["second"]);
  await first.commit([]);
  const client = await other;
  expect(await kept()).toEqual(["first"]);
  client.release();
  await behind;
  await second.commit([]);
  expect(await kept()).toEqual(["first", "second"]);
});

test("whoever waits for a connection has not failed, however long others hold all of them", async () => {
  const { database } = kit.platform;
  const [first, second] = [open(), open()];
  await first.tx.query(insert(), ["first"]);
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const behind = second.tx.query(insert(), ["second"]);
  const writes = [{ text: insert(), values: ["handed over"] }];
  const handedOver = commitWrites(database, { closing: [], writes, timeoutMs: 60_000 });
  await vi.advanceTimersByTimeAsync(35_000);
  vi.useRealTimers();
  await first.commit([]);
  await Promise.all([behind.then(() => second.commit([])), handedOver]);
  expect(await kept()).toEqual(["first", "handed over", "second"]);
});

test("what waits behind a statement when its attempt ends is refused, not run by itself", async () => {
  const slow = open(300);
  const first = slow.tx.query("select pg_sleep(600)", []).catch((cause: unknown) => cause);
  const second = slow.tx.query(insert(), ["stray"]).catch((cause: unknown) => cause);
  await slow.rollback();
  expect(await first).toBeInstanceOf(Error);
  expect(await second).toMatchObject({ code: "TUNTAS_TX_CLOSED" });
  expect(await kept()).toEqual([]);
});

const limitsIn = async (timeoutMs: number, ...before: string[]) => {
  const transaction = open(timeoutMs);
  for (const text of before) await transaction.tx.query(text);
  const text = "select current_setting('statement_timeout') as own, current_setting('lock_timeout') as lock";
  const { rows } = await transaction.tx.query(text);
  await transaction.commit([]);
  return [rows[0].own, rows[0].lock];
};

test("each transaction has its own limits, whatever the one before had or set", async () => {
  expect(await limitsIn(60_000)).toEqual(["1min", "3s"]);
  expect(await limitsIn(60_000)).toEqual(["1min", "3s"]);
  expect(await limitsIn(7000)).toEqual(["7s", "3s"]);
  const undone = open(5000);
  await undone.tx.query("select 1");
  await undone.rollback();
  expect(await limitsIn(7000)).toEqual(["7s", "3s"]);
  expect(await limitsIn(7000, "set lock_timeout = '9s'")).toEqual(["7s", "9s"]);
  expect(await limitsIn(7000)).toEqual(["7s", "3s"]);
  await limitsIn(7000, "select 1", "select set_config('statement_timeout', '1h', false)");
  expect(await limitsIn(7000)).toEqual(["7s", "3s"]);
});

test("what a commit says about the limits holds for those that began before it was answered", async () => {
  const { database } = kit.platform;
  const client = await database.handlerClient();
  const begin = () => beginning(database, client, 1234);
  const [first, second] = [begin(), begin()];
  expect(second.statements.length).toBe(2);
  first.committed();
  expect(begin().statements.length).toBe(1);
  client.release(true);
});

test("a statement whose table was altered is worth another try, and is then parsed anew", async () => {
  const read = async () => {
    const transaction = open();
    try {
      const { rows } = await transaction.tx.query(`select * from ${table} where id = $1`, ["x"]);
      await transaction.commit([]);
      return rows;
    } catch (cause) {
      await transaction.rollback();
      return cause;
    }
  };
  await run("insert into tuntas.kept values ('x')");
  for (let times = 0; times < 3; times++) expect(await read()).toEqual([{ id: "x" }]);
  await run("alter table tuntas.kept add column note text");
  const stale = await read();
  expect(stale).toMatchObject({ code: "0A000" });
  expect(isTransient(stale)).toBe(true);
  expect(await read()).toEqual([{ id: "x", note: null }]);
  await run("alter table tuntas.kept drop column note");
});

test("the opening comes before the handler's first statement, which does not run where it raises", async () => {
  const refused = open(60_000, [{ ...raising, meaning: () => new Error("refused") }]);
  await expect(refused.tx.query(insert(), ["never"])).rejects.toThrow("refused");
  await expect(refused.commit([])).rejects.toThrow("refused");
  expect(await kept()).toEqual([]);
});
