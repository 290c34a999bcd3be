// A process that starts a job of each batch and works on it to its end, killed at the step that it was told: the first write
// of a transaction, its commit. Arguments: step, url, schema, the batches' names.
import pg from "pg";
import { z } from "zod";
import { stepping, watchWrites } from "../engine/stepwise.fixture.mjs";
import { app, batch, start } from "../../dist/index.js";
import { openPlatform } from "../../dist/platform.js";

const [step, databaseUrl, schema, ...names] = process.argv.slice(2);
const numbers = (name) =>
  batch(name, {
    input: z.object({}),
    partitions: () => [{ key: "all" }],
    handle: (_, { job, number, tx }) =>
      tx.query(`insert into ${schema}.staged select $1, $2, generate_series(1, 10)`, [job.id, number]),
    validate: () => [],
    promote: ({ job, tx }) =>
      tx.query(`insert into ${schema}.final select $2, n from ${schema}.staged where job = $1`, [
        job.id,
        job.batch,
      ]),
    staging: { table: `${schema}.staged`, kept: "1h" },
    retry: { attempts: 5, base: "10ms", max: "20ms" },
    timeout: "20s",
    concurrency: 1,
    priority: 0,
    runsOn: "anywhere",
    owner: "numbers-team",
    runbook: "r",
  });

const platform = await openPlatform({ databaseUrl, schema, name: "batch", watches: false });
const { at } = stepping(step);
watchWrites(pg.Client, at, ["batch_job", "batch_manifest", "staged"]);
const batches = Object.fromEntries(names.map((name) => [name, numbers(name)]));
const running = await start(app(batches), { platform });
for (const each of Object.values(batches)) {
  const { jobId } = await each.start({});
  await platform.batches.settled(jobId);
}
await running.stop();
await platform.close();
