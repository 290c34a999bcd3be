// A process that goes on with a run of a backfill to its end, killed at the step that it was told: a write, a commit.
// Arguments: step, url, schema, name, run.
import pg from "pg";
import { z } from "zod";
import { stepping, watchWrites } from "../../engine/stepwise.fixture.mjs";
import { app, backfill, start } from "../../../dist/index.js";
import { openPlatform } from "../../../dist/platform.js";

const [step, databaseUrl, schema, name, run] = process.argv.slice(2);
const fees = backfill(name, {
  scope: z.object({}),
  records: {
    table: `${schema}.item`,
    key: "id",
    columns: ["id"],
    where: (_, { low, high }) => ({ text: "id between $1 and $2", values: [low, high] }),
    final: "none",
  },
  partitions: () => [
    { key: "a", low: 1, high: 3500 },
    { key: "b", low: 3501, high: 6000 },
  ],
  handle: (records, { tx }) =>
    tx.query(`update ${schema}.item set fixed = fixed + 1 where id = any($1)`, [records.map(({ id }) => id)]),
  throttle: { perSecond: 1_000_000, slowAbove: { database: "60s", downstream: "60s" } },
  abort: { errorShare: 0, downstream: "60s" },
  window: "any",
  verify: () => [],
  rollback: { plan: "subtract one again" },
  timeout: "60s",
  concurrency: 2,
  runsOn: "anywhere",
  owner: "fees-team",
  runbook: "r",
});

const platform = await openPlatform({ databaseUrl, schema, name: "backfill", watches: false });
const { at } = stepping(step);
watchWrites(pg.Client, at, ["backfill_run", "backfill_partition", "item"]);
const running = await start(app({ fees }), { platform });
const { backfills } = platform;
const [ana, ben] = [
  { by: "ana", reason: "r" },
  { by: "ben", reason: "r" },
];
async function approved() {
  const { runId } = await backfills.plan(name, {}, ana);
  await backfills.settled(runId);
  await backfills.say("dry-run", runId, ana);
  await backfills.settled(runId);
  await backfills.say("approve", runId, ben);
  return runId;
}
const id = run ?? (await approved());
// Whoever was to start it may have died at that.
if ((await backfills.run(id)).state === "approved") await backfills.say("start", id, ana);
await backfills.settled(id);
await running.stop();
await platform.close();
