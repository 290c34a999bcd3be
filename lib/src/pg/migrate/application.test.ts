// An application's own tables: there before anything of it works, each file once, and none that has changed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, start } from "../../app.ts";
import { testDatabase, testPlatform, type TestDatabase } from "../../testing/index.ts";
import { migrateApplication } from "./application.ts";

let database: TestDatabase;
let path: string;
beforeAll(async () => {
  database = await testDatabase();
  path = await mkdtemp(join(tmpdir(), "migrations-"));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(path, { recursive: true });
});

test("processes that start at once bring the tables up to date, once; a file that has changed is refused", async () => {
  await using kit = await testPlatform({ databaseUrl: database.url, schema: "tuntas" });
  // The list of an application that kept it itself before.
  await database.query("create schema shop; create table shop.migration (name text primary key)");
  const migrations = { folder: pathToFileURL(`${path}/`), schema: "shop" };
  const shop = app({}, { migrations });
  const write = (name: string, text: string) => writeFile(join(path, name), text);
  await write("0002-more.sql", "insert into shop.item values ('a')");
  await write("0001-items.sql", "create table shop.item (name text primary key)");
  const platforms = [kit.platform, await kit.another()];
  for (const running of await Promise.all(platforms.map((platform) => start(shop, { platform }))))
    await running.stop();
  expect(await database.query("select name from shop.item")).toEqual([{ name: "a" }]);

  await write("0003-broken.sql", "insert into shop.item values ('b'); insert into shop.item values ('a')");
  await expect(start(shop, { platform: kit.platform })).rejects.toMatchObject({ code: "23505" });
  expect(await database.query("select name from shop.migration order by 1")).toHaveLength(2);

  await rm(join(path, "0003-broken.sql"));
  await write("0002-more.sql", "insert into shop.item values ('c')");
  const again = migrateApplication(kit.platform.database, migrations);
  await expect(again).rejects.toMatchObject({ code: "TUNTAS_MIGRATION_CHANGED" });
  const elsewhere = migrateApplication(kit.platform.database, { ...migrations, schema: "a; drop table b" });
  await expect(elsewhere).rejects.toMatchObject({ code: "TUNTAS_MIGRATION_SCHEMA" });
});
