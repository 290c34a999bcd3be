import { randomBytes } from "node:crypto";
import pg from "pg";
import { expect, test } from "vitest";
import { testPlatform } from "../testing/index.ts";
import { readTenantReaders } from "./index.ts";

test("C-18 who reads which tenant's rows: each way around a policy is named, and what the report says is what a role sees", async () => {
  await using kit = await testPlatform();
  const mark = randomBytes(4).toString("hex");
  const [owner, reader, bypass, member, open] = ["owner", "reader", "bypass", "member", "open"].map(
    (name) => `${name}_${mark}`,
  );
  const roles = [member, reader, bypass, open, owner];
  const client = new pg.Client({ connectionString: kit.databaseUrl });
  await client.connect();
  const table = `rendered_${mark}`;
  const readers = async () => {
    const all = await readTenantReaders(kit.platform.database);
    const mine = all.filter((each) => each.table === table && roles.includes(each.role));
    return Object.fromEntries(mine.map(({ role, reach, because }) => [role, `${reach}: ${because}`]));
  };
  /** Customers that a role sees in a transaction of A's. */
  const sees = async (role: string) => {
    await client.query(`begin; set local role ${role}; set local app.tenant = 'A'`);
    const { rows } = await client.query(`select customer from ${table} order by 1`);
    await client.query("rollback");
    return rows.map(({ customer }) => customer).join();
  };
  try {
    await client.query(
      [
        ...roles.map((role) => `create role ${role} login`),
        `alter role ${bypass} bypassrls; grant ${bypass} to ${member}`,
        `create table ${table} (customer text); insert into ${table} values ('A'), ('B')`,
        `alter table ${table} owner to ${owner}; alter table ${table} enable row level security`,
        `create policy own on ${table} using (customer = current_setting('app.tenant', true))`,
        `create policy report on ${table} for select to ${open} using (true)`,
        `grant select on ${table} to ${reader}, ${bypass}, ${member}, ${open}`,
      ].join(";"),
    );
    const kept = "own: a policy asks whose the transaction is";
    expect(await readers()).toEqual({
      [reader!]: kept,
      [bypass!]: "all: it has BYPASSRLS",
      [member!]: `all: it may become ${bypass}, which passes by policies`,
      [open!]: "all: a policy of its own lets it see more",
      [owner!]: "all: it owns the table, and row-level security is not forced",
    });
    const seen: string[] = [];
    for (const role of [reader, bypass, open, owner]) seen.push(await sees(role!));
    expect(seen).toEqual(["A", "A,B", "A,B", "A,B"]);
    await client.query(`alter table ${table} force row level security`);
    await client.query(
      `create policy bound on ${table} as restrictive using (customer = current_setting('app.tenant', true))`,
    );
    await client.query(`revoke ${bypass} from ${member}; revoke select on ${table} from ${bypass}`);
    expect(await readers()).toEqual({ [reader!]: kept, [member!]: kept, [open!]: kept, [owner!]: kept });
    expect([await sees(open!), await sees(owner!)]).toEqual(["A", "A"]);
    await client.query(`alter table ${table} disable row level security`);
    expect((await readers())[reader!]).toBe("all: row-level security is not enabled");
    const all = await readTenantReaders(kit.platform.database);
    // The tests' own role, here and at the bodies of messages.
    const here = all.filter(
      ({ current, table: name }) => current && [table, `${kit.schema}.message`].includes(name),
    );
    expect(here.map(({ because }) => because)).toEqual(["it is a superuser", "it is a superuser"]);
    expect(
      all.find(({ table: name, role }) => name === `${kit.schema}.message` && role === reader),
    ).toBeUndefined();
    await client.query(`grant select (body) on ${kit.schema}.message to ${reader}`);
    const bodies = (await readTenantReaders(kit.platform.database)).find(
      ({ table: name, role }) => name === `${kit.schema}.message` && role === reader,
    );
    expect(bodies).toMatchObject({ reach: "all", because: "it may read the bodies of all messages" });
  } finally {
    for (const role of roles) await client.query(`drop owned by ${role} cascade; drop role ${role}`);
    await client.end();
  }
});
