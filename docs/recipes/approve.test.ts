// The recipe's code runs as it stands, against the built package, in a database of its own.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../node_modules/.cache/recipe-approve", import.meta.url));
const name = `approve_${randomBytes(4).toString("hex")}`;
const url = new URL(process.env.DATABASE_URL!);
let admin: pg.Client;

beforeAll(async () => {
  admin = new pg.Client(process.env.DATABASE_URL);
  await admin.connect();
  await admin.query(`create database ${name}`);
  url.pathname = `/${name}`;
  mkdirSync(folder, { recursive: true });
});
afterAll(async () => {
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
  rmSync(folder, { recursive: true, force: true });
});

test("two sign, the requester cannot, and the payment is marked with the decision", async () => {
  const page = readFileSync(new URL("approve.md", import.meta.url), "utf8");
  const code = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block).join("\n");
  const { outputText } = ts.transpileModule(`${code}\nexport { start } from "tuntas";`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const path = join(folder, "approve.mjs");
  writeFileSync(path, outputText);
  const recipe = await import(/* @vite-ignore */ pathToFileURL(path).href);
  const client = new pg.Client(url.href);
  await client.connect();
  await client.query(
    "create table payments (id text primary key, status text); insert into payments values ('p1', 'WAITING')",
  );
  const running = await recipe.start(recipe.default, { databaseUrl: url.href });
  try {
    await recipe.payment.start({ paymentId: "p1", requestedBy: "ana" }, { name: "p1" });
    const ben = { name: "ben", roles: ["treasurer"] };
    await expect.poll(() => recipe.inboxOf(running.platform, ben), { timeout: 20_000 }).toHaveLength(1);
    const [{ id }] = await recipe.inboxOf(running.platform, ben);
    const sign = (person: string) =>
      recipe.sign(running.platform, id, { name: person, roles: ["treasurer"] });
    await expect(sign("ana")).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_OWN" });
    expect(await sign("ben")).toMatchObject({ status: "signed" });
    expect((await client.query("select status from payments")).rows).toEqual([{ status: "WAITING" }]);
    expect(await sign("eve")).toMatchObject({ status: "decided" });
    expect((await client.query("select status from payments")).rows).toEqual([{ status: "approved" }]);
    const status = async () => (await client.query("select status from tuntas.execution")).rows[0].status;
    await expect.poll(status, { timeout: 20_000 }).toBe("SUCCEEDED");
  } finally {
    await running.stop();
    await client.end();
  }
});
