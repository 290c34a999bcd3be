// The recipe for backfills runs as it stands: its code against the built package, its commands by the built command.
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("backfill.md", import.meta.url);
const lines = blocksOf(page, "sh")[0]!.trim().split("\n");
const line = (word: string): string => lines.find((each) => each.startsWith(`tuntas backfill ${word} `))!;

let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("backfill");
  for (const table of blocksOf(page, "sql")) await kitchen.client.query(table);
});
afterAll(() => kitchen.close());

const fees = async () =>
  (await kitchen.client.query("select id::int, fee from invoice order by id")).rows as {
    id: number;
    fee: number;
  }[];

test("batch-03 docs/recipes/backfill.md: planned, tried out, approved, run; nothing is skipped: not behind a deleted row, not among equal times, not by a crash", async () => {
  await kitchen.client.query(`insert into invoice
    select n, 'acme', case when n <= 400 then timestamptz '2026-03-05 10:00:00.000001+00' else timestamptz '2026-07-01 00:00+00' end,
      100, 2, case when n = 7 then 'paid' else 'open' end from generate_series(1, 700) n;
    create sequence deaths;
    create function harm() returns trigger language plpgsql as $$ begin
      if new.id = 300 and nextval('deaths') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
      if new.id = 250 then delete from invoice where id = 1; end if;
      return null; end $$;
    create trigger harms after update on invoice for each row execute function harm()`);
  const { fees: of, app, start, backfill } = await kitchen.recipe("backfill", ["app", "backfill"]);
  const { window: _, ...options } = of.options;
  const always = backfill("fees", { ...options, window: "any" });
  await using running = await start(app({ always }), { databaseUrl: kitchen.url });
  const { backfills } = running.platform;

  expect((await kitchen.type(line("plan"))).out).toMatch(/1 +fees +.*planned +0 of 700 \(0 %\)/);
  expect((await kitchen.type(line("dry-run"))).code).toBe(0);
  const shown = (await kitchen.type(line("show"))).out;
  expect(shown).toMatch(/199 handled, 1 final, 0 failed/);
  expect(shown).toMatch(/"fee":2\}.*"fee":3\}/);
  expect((await kitchen.type(line("approve").replace("ben", "ana"))).code).toBe(1);
  expect((await kitchen.type(line("approve"))).out).toMatch(/approved/);
  expect((await kitchen.type(line("rate"))).out).toMatch(/500\/s/);
  expect((await kitchen.type(line("start"))).code).toBe(0);
  await kitchen.type(line("pause"));
  await expect.poll(async () => (await backfills.run("1")).state).toMatch(/paused|completed/);
  await kitchen.type(line("resume"));
  await expect.poll(async () => (await backfills.run("1")).state).toBe("completed");
  expect(await backfills.run("1")).toMatchObject({ handled: 699, final: 1, failed: 0, approvedBy: "ben" });
  expect((await fees()).filter(({ fee }) => fee !== 3)).toEqual([{ id: 7, fee: 2 }]);
  expect(await fees()).toHaveLength(699);
  const { out } = await kitchen.type(line("list"));
  expect(JSON.parse(out)).toMatchObject({
    backfills: [{ name: "fees" }],
    runs: [{ id: "1", state: "completed" }],
  });
}, 300_000);
