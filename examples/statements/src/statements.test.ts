// The nights of the README, by the database's clock, which the test moves.
import { afterAll, beforeAll, expect, test } from "vitest";
import { start, type RunningApp } from "tuntas";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import statements, { abandonedCarts, nightlyStatements } from "./statements.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const { name } = nightlyStatements;

let kit: TestPlatform;
let running: RunningApp;
/** Two in the morning, in Jakarta, of the first night. */
let firstMs: number;
beforeAll(async () => {
  kit = await testPlatform();
  await query("drop schema if exists statements cascade");
  running = await start(statements, { platform: kit.platform });
  firstMs = (await schedules().next(name, 1))[0]!.dueMs;
});
afterAll(async () => {
  await running.stop();
  await query("drop schema statements cascade");
  await kit[Symbol.asyncDispose]();
});

const schedules = () => kit.platform.schedules;
const query = (text: string, values: unknown[] = []): Promise<any[]> =>
  kit.platform.database.transaction(async ({ client }) => (await client.query(text, values)).rows);

/** So many hours before two o'clock after that night. */
const buy = (customerId: string, night: number, { hours, cents }: { hours: number; cents: number }) =>
  query("insert into statements.purchase values ($1, to_timestamp($2::float8 / 1000), $3)", [
    customerId,
    firstMs + night * dayMs - hours * hourMs,
    cents,
  ]);

const written = async () =>
  (
    await query(
      `select customer_id as customer, (extract(epoch from window_end) * 1000 - $1::float8)::float8 / 86400000 as night, purchases, cents::int
       from statements.statement order by window_end, customer_id`,
      [firstMs],
    )
  ).map(({ customer, night, purchases, cents }) => `${night} ${customer}: ${purchases} for ${cents}`);

/** Moves the clock to a second and some minutes after two of that night, at once: whoever looks then finds all that was due. */
async function passTo(night: number, minutes = 0): Promise<void> {
  const [{ ms }] = await query(`select extract(epoch from ${kit.schema}.now()) * 1000 as ms`);
  await kit.advance(firstMs + night * dayMs + minutes * 60_000 + 1000 - Number(ms));
}

test("S-10 S-13 S-14 S-26: each night has its window, nights that nobody was there for come in order, and one that is run again is put right", async () => {
  await buy("ana", 0, { hours: 24, cents: 500 });
  await buy("ana", 0, { hours: 1, cents: 700 });
  await buy("ben", 0, { hours: 0, cents: 900 }); // at two sharp: of the next night
  await passTo(0);
  await expect.poll(written).toEqual(["0 ana: 2 for 1200"]);

  await buy("ben", 2, { hours: 3, cents: 100 });
  await buy("ana", 3, { hours: 3, cents: 200 });
  await passTo(3, 5); // three nights later
  const nights = ["0 ana: 2 for 1200", "1 ben: 1 for 900", "2 ben: 1 for 100", "3 ana: 1 for 200"];
  await expect.poll(written).toEqual(nights);
  await expect
    .poll(async () => (await schedules().occurrences(name)).map(({ state }) => state))
    .toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
  const ran = (await schedules().occurrences(name)).toReversed();
  expect(ran.map(({ windowStartMs, windowEndMs }) => [windowStartMs, windowEndMs])).toEqual(
    ran.map((_, night) => [firstMs + (night - 1) * dayMs, firstMs + night * dayMs]),
  );
  for (const [night, { startedAtMs }] of ran.entries())
    expect(startedAtMs).toBeGreaterThanOrEqual(ran[night - 1]?.endedAtMs ?? 0);

  await buy("ben", 2, { hours: 5, cents: 50 });
  await schedules().run(name, { by: "dewi", reason: "a till was late", dueMs: firstMs + 2 * dayMs });
  await expect.poll(written).toEqual(nights.with(2, "2 ben: 2 for 150"));
});

test("a sweep that nobody was there for is let go, and the next one does its work", async () => {
  const missed = async () =>
    (await schedules().occurrences(abandonedCarts.name)).filter(({ state }) => state === "missed").length;
  await query(
    `insert into statements.cart values ('old', ${kit.schema}.now() - interval '40 days'), ('new', ${kit.schema}.now())`,
  );
  const before = await missed();
  await kit.advance(5.5 * hourMs);
  expect(await missed()).toBeGreaterThanOrEqual(before + 4);
  const [next] = await schedules().next(abandonedCarts.name, 1);
  await passTo((next!.dueMs - firstMs) / dayMs);
  await expect.poll(() => query("select cart_id from statements.cart")).toEqual([{ cart_id: "new" }]);
});
