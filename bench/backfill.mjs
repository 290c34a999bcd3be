// What a backfill costs: every row of a table corrected as a backfill and by the loop that one writes by hand (a transaction a
// page with its row of status), in turn, in pages of the same size. The rate is set so high that nothing waits for it.
// `node bench/backfill.mjs [--rows N] [--partitions N] [--rounds N]`.
import { parseArgs } from "node:util";
import pg from "pg";
import { z } from "zod";
import { app, backfill, openPlatform, start } from "../lib/dist/index.js";
import { load, serverCpuSeconds } from "./parts/machine.mjs";
import { openServer } from "./parts/server.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "200000" },
    partitions: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
  },
});
const [rows, partitions, rounds] = [values.rows, values.partitions, values.rounds].map(Number);
process.env.TUNTAS_LOG_LEVEL ??= "silent";
const concurrency = 2;
const pageSize = 1000;
const server = await openServer();

const correct = `update item set fee = u.fee from unnest($1::bigint[], $2::int[]) as u(id, fee) where item.id = u.id`;
const fees = (records) => [records.map(({ id }) => id), records.map(({ cents }) => Math.ceil(cents * 0.029))];
const parts = Array.from({ length: partitions }, (_, index) => ({
  key: `part-${index + 1}`,
  from: Math.floor((index * rows) / partitions) + 1,
  to: Math.floor(((index + 1) * rows) / partitions),
}));

const correction = backfill("correction", {
  scope: z.object({ round: z.number() }),
  records: {
    table: "item",
    key: "id",
    columns: ["id", "cents"],
    where: (_, { from, to }) => ({ text: "id between $1 and $2", values: [from, to] }),
    final: "status = 'closed'",
  },
  partitions: () => parts,
  handle: (records, { tx }) => tx.query(correct, fees(records)),
  throttle: { perSecond: 1_000_000, slowAbove: { database: "60s", downstream: "60s" } },
  abort: { errorShare: 0, downstream: "60s" },
  window: "any",
  verify: () => [],
  rollback: { plan: "none" },
  timeout: "1m",
  concurrency,
  runsOn: "anywhere",
  owner: "bench",
  runbook: "bench",
});

async function byHand(pool, round) {
  let next = 0;
  const loop = async () => {
    const client = await pool.connect();
    while (next < parts.length) {
      const { key, from, to } = parts[next++];
      for (let after = from - 1; ;) {
        await client.query("begin");
        const { rows: page } = await client.query(
          `select id, cents, status from item where id > $1 and id <= $2 order by id limit ${pageSize} for no key update`,
          [after, to],
        );
        await client.query(correct, fees(page.filter(({ status }) => status !== "closed")));
        after = page.at(-1)?.id ?? after;
        await client.query(
          `insert into loop_part (round, key, checkpoint) values ($1, $2, $3) on conflict (round, key) do update set checkpoint = $3`,
          [round, key, after],
        );
        await client.query("commit");
        if (page.length < pageSize) break;
      }
    }
    client.release();
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

const [ana, ben] = [
  { by: "ana", reason: "bench" },
  { by: "ben", reason: "bench" },
];

async function approved({ backfills }, round) {
  const { runId } = await backfills.plan("correction", { round }, ana);
  await backfills.settled(runId);
  await backfills.say("dry-run", runId, ana);
  await backfills.settled(runId);
  await backfills.say("approve", runId, ben);
  return runId;
}

async function asBackfill({ backfills }, runId) {
  await backfills.say("start", runId, ana);
  const run = await backfills.settled(runId);
  if (run.state !== "completed") throw new Error(`the run is ${run.state}: ${run.failure}`);
}

/** The wall time of the work, and the CPU time of this process and of the server's sessions. */
async function measured(work) {
  const [begun, own, before] = [performance.now(), process.cpuUsage(), serverCpuSeconds(server.postmaster)];
  await work();
  const wall = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(own);
  return { wall, own: (user + system) / 1e6, server: serverCpuSeconds(server.postmaster) - before };
}

const tell = (name, { wall, own, server }) =>
  console.log(
    `${name.padEnd(14)} ${wall.toFixed(2)} s  ${(rows / wall).toFixed(0)} rows/s  CPU: process ${own.toFixed(2)} s, server ${server.toFixed(2)} s`,
  );

const pool = new pg.Pool({ connectionString: server.url, max: concurrency + 1 });
await pool.query(`create table item (id bigint primary key, cents integer, fee integer, status text, note text) with (fillfactor = 50);
  insert into item select n, n % 100000, 0, case when n % 10 = 0 then 'closed' else 'open' end, repeat('x', 100) from generate_series(1, ${rows}) n;
  create table loop_part (round integer, key text, checkpoint bigint, primary key (round, key))`);
const platform = await openPlatform({ databaseUrl: server.url, watches: false });
const running = await start(app({ correction }), { platform });
await asBackfill(platform, await approved(platform, 0));
console.log(`load ${load()}`);
for (let round = 1; round <= rounds; round++) {
  await pool.query("vacuum analyze item");
  tell("by hand", await measured(() => byHand(pool, round)));
  const runId = await approved(platform, round);
  await pool.query("vacuum analyze item");
  tell("as a backfill", await measured(() => asBackfill(platform, runId)));
}
console.log(`load ${load()}`);
await running.stop();
await platform.close();
await pool.end();
await server.close();
