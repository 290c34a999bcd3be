// An application's own tables: there before anything of it works, each file once, none that has changed, and nothing taken away
// under those who use it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { app, start } from "../../../app.ts";
import { testDatabase, testPlatform, type TestDatabase, type TestPlatform } from "../../../testing/index.ts";
import { planMigrations, runMigrations, type Migrations } from "./index.ts";

let database: TestDatabase;
let kit: TestPlatform;
let path: string;
let migrations: Migrations;
let serial = 0;

beforeAll(async () => {
  database = await testDatabase();
  kit = await testPlatform({ databaseUrl: database.url, schema: "tuntas" });
});
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), "migrations-"));
  migrations = { folder: pathToFileURL(`${path}/`), schema: `shop${++serial}` };
  await write("0001-items.sql", `create table ${migrations.schema}.item (name text primary key, note text)`);
});
afterEach(() => rm(path, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(path, name), text);
const names = async () =>
  (await database.query(`select name from ${migrations.schema}.migration order by 1`)).map(
    ({ name }) => name,
  );
const run = (options?: Parameters<typeof runMigrations>[2]) =>
  runMigrations(kit.platform.database, migrations, options);

test("M-04 M-05 processes that start at once bring the tables up to date, once; a file that has changed is refused", async () => {
  const { schema } = migrations;
  // The list of an application that kept it itself before.
  await database.query(`create schema ${schema}; create table ${schema}.migration (name text primary key)`);
  const shop = app({}, { migrations });
  await write("0002-more.sql", `insert into ${schema}.item values ('a')`);
  const platforms = [kit.platform, await kit.another()];
  for (const running of await Promise.all(platforms.map((platform) => start(shop, { platform }))))
    await running.stop();
  expect(await database.query(`select name from ${schema}.item`)).toEqual([{ name: "a" }]);
  const list = await database.query(`select * from ${schema}.migration`);
  expect(list.every((row) => row.duration_ms >= 0 && row.applied_at !== null && row.checksum)).toBe(true);

  await write("0002-more.sql", `insert into ${schema}.item values ('c')`);
  await expect(run()).rejects.toMatchObject({ code: "TUNTAS_MIGRATION_CHANGED" });
  const elsewhere = runMigrations(kit.platform.database, { ...migrations, schema: "a; drop table b" });
  await expect(elsewhere).rejects.toMatchObject({ code: "TUNTAS_MIGRATION_SCHEMA" });
});

test("a folder is found with and without its slash; one that is not there is named before anything has run", async () => {
  const folder = pathToFileURL(path);
  const plan = await planMigrations(kit.platform.database, { ...migrations, folder });
  expect(plan.pending).toMatchObject([{ name: "0001-items.sql" }]);
  for (const wrong of [new URL("nowhere/", migrations.folder), "./migrations", undefined])
    await expect(
      runMigrations(kit.platform.database, { ...migrations, folder: wrong as URL }),
    ).rejects.toMatchObject({
      code: "TUNTAS_MIGRATION_FOLDER",
      message: expect.stringContaining(`got ${String(wrong)}: `),
    });
});

test("M-06 M-07 a file that fails, waits or takes too long leaves nothing behind and says which; what ran is told with its time", async () => {
  const { schema } = migrations;
  await write(
    "0002-broken.sql",
    `insert into ${schema}.item values ('b'); insert into ${schema}.item values ('b')`,
  );
  const ran: string[] = [];
  await expect(run({ onRan: ({ name, ms }) => ran.push(`${name} ${ms > 0}`) })).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_FAILED",
    message: expect.stringMatching(/^0002-broken.sql: duplicate key .*23505/),
  });
  expect([ran, await names()]).toEqual([["0001-items.sql true"], ["0001-items.sql"]]);
  expect(await database.query(`select from ${schema}.item`)).toEqual([]);

  await rm(join(path, "0002-broken.sql"));
  await write("0002-wide.sql", `alter table ${schema}.item add column size integer`);
  const reader = await database.connect();
  await reader.query(`begin; select from ${schema}.item`);
  migrations = { ...migrations, lockTimeout: "50ms", statementTimeout: "2s" };
  await expect(run()).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_LIMIT",
    retryable: true,
    message: "0002-wide.sql: a statement waited too long for a lock",
  });
  await reader.end();
  await write("0003-slow.sql", "select pg_sleep(60)");
  await expect(run()).rejects.toThrow("0003-slow.sql: a statement took too long");
  expect(await names()).toEqual(["0001-items.sql", "0002-wide.sql"]);
});

test("M-01 M-08 apart from the start a process refuses tables that lack something, and a dry run changes nothing", async () => {
  migrations = { ...migrations, run: "apart" };
  const shop = app({}, { migrations });
  await expect(start(shop, { platform: kit.platform })).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_PENDING",
    message: `the tables in ${migrations.schema} lack 0001-items.sql`,
  });
  const plan = await planMigrations(kit.platform.database, migrations);
  expect(plan.pending.map(({ name }) => name)).toEqual(["0001-items.sql"]);
  expect(await database.query("select from pg_namespace where nspname = $1", [migrations.schema])).toEqual(
    [],
  );
  await run();
  await (await start(shop, { platform: kit.platform })).stop();
});

test("what only looks like the end of a transaction runs: in a body, a quoted text, a CASE", async () => {
  const { schema } = migrations;
  await write(
    "0002-bodies.sql",
    `create function ${schema}.one() returns int language plpgsql as $body1$\r\nbegin return 1; end $body1$;
     create function ${schema}.two() returns int language sql begin atomic select case when true then 1 end; select 2; end;
     insert into ${schema}.item values (E'it\\'s; commit; '), ('; begin;'); -- ; rollback`,
  );
  expect((await run()).map(({ name }) => name)).toEqual(["0001-items.sql", "0002-bodies.sql"]);
  const made = `select ${schema}.one() + ${schema}.two() as sum, array_agg(name order by name) as names from ${schema}.item`;
  expect(await database.query(made)).toEqual([{ sum: 3, names: ["; begin;", "it's; commit; "] }]);
});

test("a file that begins or ends a transaction is refused before anything has run", async () => {
  await write("0002-own.sql", "begin; select 1; commit");
  await expect(run()).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_CONTROL",
    message: expect.stringContaining(
      '0002-own.sql: expected statements that run in one transaction, got "begin"',
    ),
  });
  expect(await database.query("select from pg_namespace where nspname = $1", [migrations.schema])).toEqual(
    [],
  );
});

test("M-03 M-11 what is dropped or renamed waits for the end of the processes before it, unless told otherwise", async () => {
  const { schema } = migrations;
  const old = await start(app({}, { migrations }), { platform: kit.platform });
  await write(
    "0002-plain.sql",
    `alter table ${schema}.item add column size integer, alter column note drop default`,
  );
  await run(); // takes nothing away
  await write("0003-away.sql", `/* drop */ alter table ${schema}.item drop note`);
  await expect(run()).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_DESTRUCTIVE",
    message: expect.stringMatching(
      /^0003-away.sql takes away .*drop note.* while tuntas \(pid \d+ on .*\) is alive/,
    ),
  });
  const next = start(app({}, { migrations }), { platform: await kit.another() });
  await expect(next).rejects.toMatchObject({ code: "TUNTAS_MIGRATION_DESTRUCTIVE" });
  expect(await names()).toEqual(["0001-items.sql", "0002-plain.sql"]);
  await run({ whileRunning: true });
  await write("0004-rename.sql", `alter table ${schema}.item rename column size to width`);
  await old.stop();
  expect((await run()).map(({ name }) => name)).toEqual(["0004-rename.sql"]);
});
