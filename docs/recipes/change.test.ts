// The recipe for changes runs as it stands: its code against the built package, release by release, its commands by the built command.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, change, type Platform } from "tuntas";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("change.md", import.meta.url);
const [forward, backward] = blocksOf(page, "sh").map((block) =>
  block.split("\n").filter((line) => line.startsWith("tuntas ")),
) as [string[], string[]];

let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("change");
});
afterAll(() => kitchen.close());

/** The lines of the page that begin with `tuntas backfill`; backfill.test.ts types them. */
async function fill(backfills: Platform["backfills"]): Promise<void> {
  const ana = { by: "ana", reason: "ticket 7" };
  const { runId } = await backfills.plan("labels", {}, ana);
  await backfills.settled(runId);
  await backfills.say("dry-run", runId, ana);
  await backfills.settled(runId);
  await backfills.say("approve", runId, { ...ana, by: "ben" });
  await backfills.say("start", runId, ana);
  expect((await backfills.settled(runId)).state).toBe("completed");
}

test("M-10 docs/recipes/change.md: a column under running releases, as typed; the record has who and why, and the drop waits for its turn", async () => {
  mkdirSync(join(kitchen.folder, "migrations"));
  const [made, added] = blocksOf(page, "sql") as [string, string];
  const write = (name: string, text: string) => writeFileSync(join(kitchen.folder, "migrations", name), text);
  write("0001-item.sql", made);
  const { labels, label, default: shop, start } = await kitchen.recipe("change");
  const type = (line: string) =>
    kitchen.type(line.replace("dist/app.js", join(kitchen.folder, "change.mjs")));
  const line = (words: string): string => forward.find((each) => each.startsWith(`tuntas ${words}`))!;
  const run = (release: string) =>
    start(
      app(
        { labels, label: change("item-label", { ...label.options, release }) },
        { migrations: shop.migrations },
      ),
      {
        databaseUrl: kitchen.url,
      },
    );

  await type(line("migration run"));
  const old = await start(app({}, { migrations: shop.migrations }), { databaseUrl: kitchen.url });
  await kitchen.client.query("insert into shop.item select n, 'n' || n from generate_series(1, 300) n");
  write("0002-label.sql", added);
  expect((await type(line("migration run"))).code).toBe(0);
  const both = await run("both");
  expect((await type(line("change show"))).out).toMatch(
    /added +.*start[\s\S]*runs release old, expected both/,
  );
  await old.stop();
  expect((await type(line("change advance item-label --to written"))).out).toMatch(/written +filled/);
  const filled = line("change advance item-label --to filled");
  expect((await type(filled)).code).toBe(1);
  await fill(both.platform.backfills);
  expect((await type(filled)).code).toBe(0);
  const switched = await run("switched");
  await both.stop();
  expect((await type(line("change advance item-label --to read"))).code).toBe(0);
  await kitchen.client.query("alter table shop.item alter column note drop not null");
  const away = () => write("0003-away.sql", "alter table shop.item drop column note");
  away();
  const drop = forward.filter((each) => each.startsWith("tuntas migration run")).at(-1)!;
  expect((await type(`${drop} --while-running`)).code).toBe(1);
  rmSync(join(kitchen.folder, "migrations/0003-away.sql"));
  expect((await type(line("change advance item-label --to verified"))).code).toBe(0);
  const fresh = await run("new");
  await switched.stop();
  away();
  expect((await type(drop)).code).toBe(0);
  expect((await type(line("change advance item-label --to removed"))).out).toMatch(/removed/);
  const document = JSON.parse((await type(line("change list"))).out);
  expect(document[0].steps).toMatchObject({
    added: { by: "start" },
    filled: { by: "ana", found: expect.arrayContaining(["backfill labels has completed (run 1)"]) },
    verified: { by: "ben", reason: "a week without trouble" },
  });
  expect((await type(backward[0]!)).code).toBe(1);
  await fresh.stop();
}, 300_000);
