// The whole way of a run, with kill -9 in the middle: no record is done twice or left out, and what is final is not touched.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { priceCorrection } from "./price-correction.ts";

const main = new URL("./price-correction.main.js", import.meta.url);
const ana = { by: "ana", reason: "ticket 7" };

test("tried out, approved by another, killed, gone on with, verified", async () => {
  await using database = await testDatabase();
  await using asking = await start(work, { databaseUrl: database.url, workers: false });
  await database.query(
    `insert into price_correction.invoice
     select n, 'north', now(), 100, 2, case when n = 7 then 'paid' else 'open' end from generate_series(1, 700) n`,
  );
  const fees = async () =>
    (
      await database.query(
        "select fee, count(*)::int as n from price_correction.invoice group by fee order by fee",
      )
    ).map(({ fee, n }) => `${n} of ${fee}`);
  const { backfills } = asking.platform;
  const first = database.run(main);
  const { runId } = await backfills.plan(priceCorrection.name, { shop: "north" }, ana);
  await backfills.settled(runId);
  await backfills.say("dry-run", runId, ana);
  assert.equal((await backfills.settled(runId)).state, "sampled");
  assert.deepEqual(await fees(), ["700 of 2"]); // the handler ran, and all of it was taken back
  await assert.rejects(backfills.say("approve", runId, ana), { code: "TUNTAS_BACKFILL_FOUR_EYES" });
  await backfills.say("approve", runId, { by: "ben", reason: "the changes are right" });

  const holder = await database.connect();
  await holder.query("begin; lock table price_correction.invoice in share mode"); // so that the run waits
  await backfills.say("start", runId, ana);
  await first.line(({ event, dryRun }) => event === "slice.begun" && dryRun === false);
  await first.kill();
  await holder.end();
  database.run(main);
  const { state, handled, final, failed } = await backfills.settled(runId);
  assert.deepEqual(
    { state, handled, final, failed },
    { state: "completed", handled: 699, final: 1, failed: 0 },
  );
  assert.deepEqual(await fees(), ["1 of 2", "699 of 3"]);
});
