// The recipe for one-off commands runs as it stands: its code against the built package, its commands by the built command.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { exitCodes } from "tuntas";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("one-off.md", import.meta.url);
const lines = blocksOf(page, "sh")[0]!.trim().split("\n");

let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("one_off");
  for (const table of blocksOf(page, "sql")) await kitchen.client.query(table);
  await kitchen.client.query(
    `insert into event values (1, 'case-98211', 'acme', 100), (2, 'case-98211', 'acme', 200)`,
  );
});
afterAll(async () => {
  await kitchen.client.query("drop owned by ledger_repair; drop role ledger_repair");
  await kitchen.close();
});

const booked = async () => (await kitchen.client.query("select event_id::int as id from entry")).rows.length;

test("O-16 L-16 docs/recipes/one-off.md: checked, tried out, asked for, approved by another, run, closed", async () => {
  const of = await kitchen.recipe("one-off");
  await using running = await of.start(of.default, { databaseUrl: kitchen.url });
  const [check, dry, output, apply, show, approve, close, list] = lines as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const checked = await kitchen.type(`${check} --json`);
  expect(JSON.parse(checked.out).map(({ ok }: { ok: boolean }) => ok)).toEqual(
    Array.from({ length: 10 }, () => true),
  );

  expect(await kitchen.type(dry)).toMatchObject({
    code: 0,
    out: expect.stringContaining("SUCCEEDED, exit code 0"),
  });
  expect((await kitchen.type(output)).out).toContain('[{"id":1,"cents":100},{"id":2,"cents":200}]');
  expect(await booked()).toBe(0);

  expect((await kitchen.type(apply)).out).toMatch(/awaiting_approval/);
  expect((await kitchen.type(show)).out).toMatch(/\+ Is there a dry run\? run 1/);
  expect((await kitchen.type(approve.replace("grace", "ada"))).code).toBe(1);
  expect((await kitchen.type(approve)).code).toBe(0);
  await running.platform.operations.settled("2");
  expect(await booked()).toBe(2);
  expect((await kitchen.type(list)).code).toBe(1);
  const { out } = await kitchen.type(`${show} --json`);
  const document = JSON.parse(blocksOf(page, "json")[0]!);
  expect(JSON.parse(out).result).toEqual({
    ...document,
    startedAt: expect.stringMatching(/Z$/),
    finishedAt: expect.stringMatching(/Z$/),
  });
  expect(await kitchen.type(close)).toMatchObject({ code: 0, out: expect.stringContaining("closed") });
  expect((await kitchen.type(list)).code).toBe(0);

  // Once more it is the same run; something else is refused.
  expect((await kitchen.type(`${apply} --json`)).out).toContain('"duplicate"');
  expect((await kitchen.type(apply.replace("case-98211", "all"))).code).toBe(1);
  expect((await kitchen.type(apply.replace("repair-case-ledger", "drop-tables"))).code).toBe(1);
}, 300_000);

test("O-19 docs/operate/operations.md has the table of exit codes as it is", () => {
  const text = readFileSync(new URL("../operate/operations.md", import.meta.url), "utf8");
  const waits = { never: "never", backoff: "after a while", later: "later", person: "by a person" };
  for (const { code, status, retry } of exitCodes)
    expect(text).toMatch(new RegExp(`\\| +${code} \\| \`${status}\` +\\| ${waits[retry]} +\\|`));
});
