// Rows of tenants in an application's own table, kept apart by the database: its handlers act for the tenant of their message. The
// application's role is no superuser and may not look past the policies, as in earnest.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform, type Platform } from "../../index.ts";
import { declareTenanted, workTenanted } from "./tenanted.fixture.ts";

let platform: Platform;
let client: pg.Client;
const name = `isolation_${randomBytes(4).toString("hex")}`;

async function onServer(...texts: readonly string[]): Promise<void> {
  const admin = new pg.Client(process.env.DATABASE_URL);
  await admin.connect();
  for (const text of texts) await admin.query(text);
  await admin.end();
}

beforeAll(async () => {
  await onServer(`create role ${name} login password '${name}'`, `create database ${name} owner ${name}`);
  const url = new URL(process.env.DATABASE_URL!);
  Object.assign(url, { username: name, password: name, pathname: name });
  client = new pg.Client(url.href);
  await client.connect();
  await client.query(`
    create table document (tenant text not null, id text not null, title text not null, primary key (tenant, id));
    alter table document enable row level security;
    alter table document force row level security;
    create policy own on document using (tenant = current_setting('app.tenant', true))`);
  platform = await openPlatform({ databaseUrl: url.href });
});
afterAll(async () => {
  await client.end();
  await platform.close();
  await onServer(`drop database ${name} with (force)`, `drop role ${name}`);
});

/** What a tenant's own eyes see. */
async function seenBy(tenant: string): Promise<string[]> {
  await client.query("begin");
  await client.query("select set_config('app.tenant', $1, true)", [tenant]);
  const { rows } = await client.query("select tenant || ' ' || id as row from document order by 1");
  await client.query("commit");
  return rows.map(({ row }) => row);
}

test("N-12 whose a message is, its body says: one that a stranger put into another's group does not act for that other", async () => {
  const of = declareTenanted(`${name}-strangers`);
  const acted: (string | undefined)[] = [];
  // No limits: what lies in a wrong group is not moved into its own first.
  await using it = await workTenanted(platform, of, {
    async handle(_, ctx) {
      const { rows } = await ctx.tx.query("select current_setting('app.tenant', true) as tenant");
      acted.push(ctx.tenant, rows[0].tenant);
    },
  });
  await client.query("select tuntas.send($1, $2, group_id => 'B')", [of.name, '{"id":"1","tenant":"A"}']);
  await it.attempts.until(1);
  expect(acted).toEqual(["A", "A"]);
  await client.query("select tuntas.send($1, $2, group_id => 'B')", [of.name, '{"id":"2","tenant":""}']);
  await it.attempts.until(2);
  expect(it.attempts.seen[1]).toMatchObject({ outcome: "poison" });
});

test("N-12 a handler sees and writes the rows of its message's tenant only, by tx and by write, in whatever commits they share", async () => {
  const of = declareTenanted(name);
  const seen: string[][] = [];
  await using it = await workTenanted(platform, of, {
    tenants: {},
    concurrency: 16,
    async handle({ id, tenant }, ctx) {
      if (id === "steal-tx")
        return void (await ctx.tx.query("insert into document values ('B', 'stolen', '')"));
      if (id === "steal-write") return ctx.write("insert into document values ('B', 'stolen', '')");
      if (id.startsWith("write")) return ctx.write("insert into document values ($1, $2, '')", [tenant, id]);
      await ctx.tx.query("insert into document values ($1, $2, '')", [tenant, id]);
      const { rows } = await ctx.tx.query("select tenant from document");
      seen.push([ctx.tenant!, ...new Set(rows.map((row: { tenant: string }) => row.tenant))]);
    },
  });
  const sent = ["A", "B"].flatMap((tenant) =>
    ["write-1", "write-2", "write-3", "tx-1", "tx-2"].map((id) => ({ id, tenant })),
  );
  await Promise.all(sent.map((each) => of.send(each)));
  const isDone = () => it.attempts.seen.filter(({ outcome }) => outcome === "done").length === sent.length;
  while (!isDone()) await it.attempts.until(it.attempts.seen.length + 1);
  expect(seen.toSorted()).toEqual([
    ["A", "A"],
    ["A", "A"],
    ["B", "B"],
    ["B", "B"],
  ]);
  expect(await seenBy("A")).toEqual(["A tx-1", "A tx-2", "A write-1", "A write-2", "A write-3"]);
  expect(await seenBy("B")).toHaveLength(5);
  expect((await client.query("select * from document")).rows).toEqual([]);
  // Each is refused by the database, also where it shares its commit with the other tenant's writes.
  const before = it.attempts.seen.length;
  await Promise.all([
    of.send({ id: "steal-write", tenant: "A" }),
    of.send({ id: "write-4", tenant: "B" }),
    of.send({ id: "steal-tx", tenant: "A" }),
  ]);
  while (it.attempts.seen.length < before + 7) await it.attempts.until(it.attempts.seen.length + 1);
  expect(it.attempts.seen.slice(before).filter(({ outcome }) => outcome === "done")).toMatchObject([
    { tenant: "B" },
  ]);
  expect((await seenBy("B")).filter((row) => row.includes("stolen"))).toEqual([]);
});
