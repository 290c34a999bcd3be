// A column and a message's shape become others under running processes: each step recorded, none skipped, nothing started that would do
// harm beside what runs.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, start, type RunningApp } from "../app.ts";
import { runMigrations, type Migrations } from "../pg/migrate/application/index.ts";
import { queue, worker } from "../queue/declaration.ts";
import { testDatabase, testPlatform, type TestDatabase, type TestPlatform } from "../testing/index.ts";
import type { Release } from "./contract.ts";
import { change } from "./declaration.ts";
import { unfit } from "./shape.ts";

let database: TestDatabase;
let kit: TestPlatform;
beforeAll(async () => {
  database = await testDatabase();
  kit = await testPlatform({ databaseUrl: database.url, schema: "tuntas" });
});
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const act = { by: "ada", reason: "ticket 7" };
const lacks = (text: RegExp | string) => ({
  code: "TUNTAS_CHANGE_NOT_YET",
  message: typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
});
/** Where the clock was moved, processes count as dead until their next heartbeat. */
const alive = (name: string) =>
  expect.poll(async () => (await kit.platform.changes.show(name)).live.length, { timeout: 20_000 }).toBe(1);
const recorded = async (name: string) =>
  (
    await database.query(
      `select action, details::json ->> 'to' as "to" from tuntas.audit where subject = 'change ${name}' order by id`,
    )
  ).map(({ action, to }) => `${action.slice(7)} ${to}`);

async function folderOf(files: Readonly<Record<string, string>>): Promise<Migrations> {
  const path = await mkdtemp(join(tmpdir(), "change-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { folder: pathToFileURL(`${path}/`), schema: "shop", run: "apart" };
}

test("M-02 M-10 a column is renamed in six recorded steps beside running processes; a skipped one, a wrong release and an early drop are refused", async () => {
  const { changes } = kit.platform;
  const table = `create table shop.item (id integer primary key, note text not null); insert into shop.item values (1, 'a'), (2, 'b')`;
  const before = await folderOf({ "0001.sql": table });
  const after = await folderOf({
    "0001.sql": table,
    "0002.sql": "alter table shop.item add column label text",
  });
  const away = await folderOf({
    "0001.sql": table,
    "0002.sql": "alter table shop.item add column label text",
    "0003.sql": "alter table shop.item drop column note",
  });
  const migrate = (migrations: Migrations, whileRunning = false) =>
    runMigrations(kit.platform.database, migrations, { whileRunning, judge: changes.judge });
  const run = (release: Release | undefined, migrations = after): Promise<RunningApp> => {
    const column = { table: "shop.item", from: "note", to: "label" };
    const parts =
      release === undefined ? {} : { it: change("item-label", { column, backfill: "none", release }) };
    return start(app(parts, { migrations }), { platform: kit.platform });
  };
  const advance = (to?: string) => changes.advance("item-label", { ...act, to });

  await migrate(before);
  const old = await run(undefined, before);
  await migrate(after);
  const both = await run("both");
  expect(await changes.show("item-label")).toMatchObject({ step: "added", next: "written" });
  await database.query("insert into shop.item (id, note) values (3, 'c')"); // as the release of before does
  await expect(advance()).rejects.toMatchObject(lacks(/\(pid \d+ on .*\) runs release old, expected both/));
  await expect(advance("read")).rejects.toMatchObject({
    code: "TUNTAS_CHANGE_SKIPPED",
    message: "item-label is added: expected written next, got read",
  });
  await old.stop();
  expect(await advance("written")).toMatchObject({ step: "written", mayStart: ["both"] });
  for (const early of [undefined, "switched", "new"] as const)
    await expect(run(early)).rejects.toMatchObject({ code: "TUNTAS_CHANGE_RELEASE" });

  await expect(advance()).rejects.toMatchObject(
    lacks("not on 3 rows of shop.item: label is not distinct from note"),
  );
  await database.query("update shop.item set label = note");
  await advance();
  const switched = await run("switched");
  await expect(advance()).rejects.toMatchObject(lacks("runs release both, expected switched"));
  await both.stop();
  expect(await advance()).toMatchObject({ step: "read" });

  expect((await changes.outlook("item-label"))!.lacks).toEqual([expect.stringMatching("note is not null")]);
  await database.query("alter table shop.item alter column note drop not null");
  await expect(migrate(away, true)).rejects.toMatchObject({
    code: "TUNTAS_MIGRATION_DESTRUCTIVE",
    message: expect.stringContaining("change item-label is read, expected verified"),
  });
  await advance();
  await expect(run("both")).rejects.toMatchObject({ code: "TUNTAS_CHANGE_RELEASE" });
  const last = await run("new");
  await expect(migrate(away, true)).rejects.toThrow("runs release switched");
  await expect(changes.back("item-label", { ...act, to: "read" })).rejects.toMatchObject(
    lacks("release new"),
  );
  await switched.stop();
  await expect(advance()).rejects.toMatchObject(lacks("shop.item.note is still there"));
  await migrate(away);
  expect(await advance()).toMatchObject({ step: "removed", next: null });
  await last.stop();
  await (await run(undefined, away)).stop();
  const steps = [
    "begin added",
    "advance written",
    "advance filled",
    "advance read",
    "advance verified",
    "advance removed",
  ];
  expect(await recorded("item-label")).toEqual(steps);
  for (const { folder } of [before, after, away]) await rm(folder, { recursive: true });
}, 60_000);

const from = z.object({ id: z.string(), amount: z.number() });
const to = z.object({ id: z.string(), cents: z.int(), currency: z.string() });
const deadLetter = { after: 3, owner: "ada", runbook: "r.md", retention: "14d" } as const;
const pay = (message: z.ZodType) => queue("pay", { message, deadLetter });

test("D-24 a message's shape is rolled out in five recorded steps: takers first, old support ends once nothing old is left", async () => {
  const { changes, queues } = kit.platform;
  const handled: unknown[] = [];
  function release(name: Release | undefined, message: z.ZodType) {
    const of = pay(message);
    const working = worker(of, {
      idempotencyKey: "none",
      timeout: "5s",
      handle: (given) => void handled.push(given),
    });
    const parts =
      name === undefined
        ? {}
        : { it: change("pay-cents", { message: { queue: of, from, to }, watch: "1h", release: name }) };
    return {
      of,
      run: (workers = true) => start(app({ of, working, ...parts }), { platform: kit.platform, workers }),
    };
  }
  const advance = (step?: string) => changes.advance("pay-cents", { ...act, to: step });

  const old = release(undefined, from);
  const oldRuns = await old.run(false);
  await old.of.send({ id: "1", amount: 1 });
  const both = release("both", z.union([from, to]));
  const bothRuns = await both.run(false);
  await expect(both.of.send({ id: "2", cents: 1, currency: "EUR" })).rejects.toMatchObject({
    code: "TUNTAS_MESSAGE_INVALID",
    message: expect.stringContaining("this release of a change does not send it"),
  });
  await both.of.send({ id: "2", amount: 1 });
  await expect(advance()).rejects.toMatchObject(lacks("runs release old, expected both"));
  await expect(release("switched", z.union([from, to])).run()).rejects.toMatchObject({
    code: "TUNTAS_CHANGE_RELEASE",
  });
  await oldRuns.stop();
  await advance("taken");
  await expect(advance("sent")).rejects.toMatchObject({ code: "TUNTAS_CHANGE_SKIPPED" });
  expect((await advance("checked")).steps.checked!.found[0]).toContain("+cents +currency -amount");

  await bothRuns.stop();
  const switched = release("switched", z.union([from, to]));
  const sender = await switched.run(false);
  await expect(switched.of.send({ id: "3", amount: 1 })).rejects.toThrow("expected number");
  await advance("sent");
  await expect(advance()).rejects.toMatchObject(lacks(/all have switched for .*, expected 1h$/));
  await sender.stop();
  const working = await switched.run();
  await expect.poll(() => handled.length, { timeout: 20_000 }).toBe(2);
  await switched.of.send({ id: "3", cents: 100, currency: "EUR" });
  await expect.poll(() => handled.length, { timeout: 20_000 }).toBe(3);
  await expect
    .poll(async () =>
      queues.observer.left({ account: "000000000000", region: "us-east-1" }, { name: "pay", through: null }),
    )
    .toEqual([]);
  await kit.advance(3_600_000);
  await expect(release("new", to).run()).rejects.toMatchObject({ code: "TUNTAS_CHANGE_RELEASE" });
  await working.stop();
  const quiet = await switched.run(false);
  await database.query(`insert into tuntas.delayed (id, queue_id, due, sent_at)
    select 1, id, tuntas.now() + interval '2 hours', tuntas.now() from tuntas.queue where name = 'pay'`);
  await alive("pay-cents");
  await advance("watched");
  await expect(advance()).rejects.toMatchObject(lacks("1 message of before is delayed"));
  await database.query("delete from tuntas.delayed");
  expect(await advance("drained")).toMatchObject({ next: null, mayStart: ["switched", "new"] });
  await quiet.stop();
  await (await release("new", to).run()).stop();
  expect(await recorded("pay-cents")).toEqual(
    ["taken", "checked", "sent", "watched", "drained"].map((step) => `advance ${step}`),
  );
}, 60_000);

test("D-24 D-27 a shape that its takers would refuse is refused where it is declared", () => {
  const declare =
    (message: z.ZodType, next: z.ZodType = to) =>
    () =>
      change("x", { message: { queue: pay(message), from, to: next }, watch: "1h", release: "both" });
  expect(declare(to)).toThrow("does not take the old message: cents: is required, and may be missing");
  expect(declare(from)).toThrow("does not take the new message: amount: is required");
  const grown = from.extend({ currency: z.string() });
  expect(declare(grown, grown)).toThrow("currency: is required, and may be missing");
  expect(declare(from.extend({ currency: z.string().default("EUR") }), grown)).not.toThrow();
  expect(declare(z.union([from, to]))).not.toThrow();

  const faults = (taker: z.ZodType, giver: z.ZodType) =>
    unfit(
      ...([taker, giver].map((each) => z.toJSONSchema(each, { io: "input" })) as [
        object,
        object,
      ] as never as [never, never]),
    );
  expect(faults(z.strictObject({ a: z.int() }), z.object({ a: z.int(), b: z.string() }))).toEqual([
    "b: is given, and not allowed",
  ]);
  expect(faults(z.object({ a: z.number().max(5) }), z.object({ a: z.int() }))[0]).toContain(
    "a: maximum 5 is asked for",
  );
  expect(faults(z.array(z.enum(["a"])), z.array(z.enum(["a", "b"])))).toEqual(['[]: expected "a"']);
  expect(faults(z.object({ a: z.string().nullable() }), z.object({ a: z.string() }))).toEqual([]);
  expect(faults(z.object({ a: z.string() }), z.object({ a: z.string().nullable() }))).toEqual([
    "a: expected string, is string or null",
  ]);
});

test("where nothing is that could go wrong, a later release begins at once; going back is recorded", async () => {
  const { changes } = kit.platform;
  const of = queue("fresh", { message: z.union([from, to]), deadLetter });
  const run = (release: Release) =>
    start(app({ of, it: change("fresh", { message: { queue: of, from, to }, watch: "1h", release }) }), {
      platform: kit.platform,
    });
  const running = await run("switched");
  expect(await changes.show("fresh")).toMatchObject({
    step: "checked",
    steps: { checked: { found: ["queue fresh is empty"] } },
  });
  await alive("fresh");
  await expect(changes.back("fresh", { ...act, to: "taken" })).rejects.toMatchObject(
    lacks("release switched, expected both"),
  );
  await running.stop();
  await changes.back("fresh", { ...act, to: "none" });
  expect(await changes.show("fresh")).toMatchObject({ step: null, steps: {} });
  await expect(changes.back("fresh", { ...act, to: "taken" })).rejects.toThrow("expected one of no step");
  await expect(changes.show("freshh")).rejects.toMatchObject({ code: "TUNTAS_CHANGE_MISSING" });
});
