// What a batch costs: a million rows scored in partitions, as a batch and as the loop that one writes by hand (one transaction
// a partition with its row of status, then one that copies), in turn; and small partitions, where the batch itself is what
// there is to measure. `node bench/batch.mjs [--rows N] [--partitions N] [--rounds N]`.
import { parseArgs } from "node:util";
import pg from "pg";
import { z } from "zod";
import { app, batch, openPlatform, start } from "../lib/dist/index.js";
import { load, serverCpuSeconds } from "./parts/machine.mjs";
import { openServer } from "./parts/server.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    partitions: { type: "string", default: "100" },
    rounds: { type: "string", default: "3" },
  },
});
const [rows, partitions, rounds] = [values.rows, values.partitions, values.rounds].map(Number);
process.env.TUNTAS_LOG_LEVEL ??= "silent";
const concurrency = 2;
/** Partitions of one row each. */
const small = 2000;
const server = await openServer();

const score = `insert into scoring_staging (job, partition, customer, score)
  select $1, $2, n, (n * 7919::bigint) % 1000 from generate_series($3::int, $4::int) n`;
const copy = `insert into scoring select customer, score from scoring_staging where job = $1`;
const partsOf = (count, of) =>
  Array.from({ length: count }, (_, index) => ({
    key: `part-${index + 1}`,
    from: Math.floor((index * of) / count) + 1,
    to: Math.floor(((index + 1) * of) / count),
  }));

const scoring = batch("scoring", {
  input: z.object({ rows: z.number(), partitions: z.number() }),
  partitions: (input) => partsOf(input.partitions, input.rows),
  handle: ({ from, to }, { job, number, write }) => write(score, [job.id, number, from, to]),
  validate: ({ rows: staged, job }) => (staged === job.input.rows ? [] : ["rows are missing"]),
  promote: ({ job, tx }) => tx.query(copy, [job.id]),
  staging: { table: "scoring_staging", kept: "1h" },
  retry: { attempts: 3, base: "1s", max: "1m" },
  timeout: "10m",
  concurrency,
  priority: 0,
  runsOn: "anywhere",
  owner: "bench",
  runbook: "bench",
});

/** The wall time of the work, and the CPU time of this process and of the server's sessions. */
async function measured(work) {
  const [begun, own, before] = [performance.now(), process.cpuUsage(), serverCpuSeconds(server.postmaster)];
  await work();
  const wall = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(own);
  return { wall, own: (user + system) / 1e6, server: serverCpuSeconds(server.postmaster) - before };
}

async function byHand(pool, job, count, of) {
  await pool.query("insert into loop_part (job, partition) select $1, n from generate_series(1, $2::int) n", [
    job,
    count,
  ]);
  const parts = partsOf(count, of);
  let next = 0;
  const loop = async () => {
    const client = await pool.connect();
    while (next < parts.length) {
      const number = ++next;
      const { from, to } = parts[number - 1];
      await client.query("begin");
      await client.query(score, [job, number, from, to]);
      await client.query("update loop_part set done = true where job = $1 and partition = $2", [job, number]);
      await client.query("commit");
    }
    client.release();
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  await pool.query(copy, [job]);
}

async function asBatch(platform, input) {
  const { jobId } = await scoring.start(input, { key: `round-${Math.random()}` });
  const job = await platform.batches.settled(jobId);
  if (job.state !== "completed") throw new Error(`the job is ${job.state}: ${job.failure}`);
}

const tell = (name, { wall, own, server }, count) =>
  console.log(
    `${name.padEnd(28)} ${wall.toFixed(2)} s  ${(count / wall).toFixed(0)} partitions/s  CPU: process ${own.toFixed(2)} s, server ${server.toFixed(2)} s`,
  );

const pool = new pg.Pool({ connectionString: server.url, max: concurrency + 1 });
await pool.query(`create table scoring_staging (job bigint not null, partition integer not null, customer integer, score integer);
  create index on scoring_staging (job, partition); create table scoring (customer integer, score integer);
  create table loop_part (job bigint, partition integer, done boolean default false, primary key (job, partition))`);
const platform = await openPlatform({ databaseUrl: server.url, watches: false });
const running = await start(app({ scoring }), { platform });
await asBatch(platform, { rows: 1000, partitions: 10 });
console.log(`load ${load()}`);
let round = 0;
for (const [count, of] of [
  [partitions, rows],
  [small, small],
])
  for (let again = 0; again < rounds; again++) {
    tell(`${of} rows, by hand`, await measured(() => byHand(pool, --round, count, of)), count);
    tell(
      `${of} rows, as a batch`,
      await measured(() => asBatch(platform, { rows: of, partitions: count })),
      count,
    );
    await pool.query("truncate scoring_staging, scoring");
  }
console.log(`load ${load()}`);
await running.stop();
await platform.close();
await pool.end();
await server.close();
