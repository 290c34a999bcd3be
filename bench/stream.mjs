// The streams' figures: appends with 16 in flight, and records handled with `ctx.tx`, `ctx.write` and whole batches, each
// beside the same in hand-written SQL: one row an insert, and an insert a record with its checkpoint in a commit a batch.
// `node bench/stream.mjs [--records N]`; DATABASE_URL, else an embedded server in a temporary folder.
import { readFileSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import { parseArgs } from "node:util";
import pg from "pg";
import { app, consumer, openPlatform, start, stream } from "../lib/dist/index.js";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({ options: { records: { type: "string", default: "8000" } } });
const records = Number(values.records);
const [inFlight, partitions, batch] = [16, 4, 100];
process.env.TUNTAS_LOG_LEVEL ??= "silent";

const ticksPerSecond = 100;

/** Seconds of CPU that the backends of the pool's server took so far, the dead ones' aside. */
async function serverCpu(pool) {
  const { rows } = await pool.query("select pid from pg_stat_activity where pid is not null");
  const ticks = rows.map(({ pid }) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [user, system] = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 13);
      return Number(user) + Number(system);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}

/** What the work does a second, and the CPU of this process and of the server for each. */
async function measured(pool, count, work) {
  const [server, cpu, begun] = [await serverCpu(pool), process.cpuUsage(), performance.now()];
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: Math.round(count / seconds),
    cpuUs: Math.round((user + system) / count),
    serverUs: Math.round(((await serverCpu(pool)) - server) * (1e6 / count)),
  };
}

/** So many callers, each of which goes on when its call is answered. */
async function closedLoop(count, call) {
  let next = 0;
  const caller = async () => {
    for (let n = next++; n < count; n = next++) await call(n);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}

const keyOf = (n) => `order-${n % 500}`;
const row = (n) => ({ orderId: keyOf(n), event: "paid", amount: n, note: "x".repeat(120) });
const record = { "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value }) } };
const events = stream("bench-events", {
  record,
  partitions,
  key: "order id",
  retention: "7d",
  owner: "bench",
  runbook: "bench/README.md",
});

const insert = "insert into effect (id, n) values ($1, $2)";
const ways = {
  tx: { handle: ({ id, value }, { tx }) => tx.query(insert, [id, value.amount]) },
  write: { handle: ({ id, value }, context) => context.write(insert, [id, value.amount]) },
  handleBatch: {
    handleBatch: (all, { tx }) =>
      tx.query("insert into effect select * from unnest($1::text[], $2::int[])", [
        all.map(({ id }) => id),
        all.map(({ value }) => value.amount),
      ]),
  },
};

/** A consumer reads the stream from its start; resolves once it has read all of it. */
async function drained(platform, name) {
  let handled = 0;
  let done;
  const all = new Promise((resolve) => (done = resolve));
  subscribe("tuntas.stream.handled", ({ consumer: who, count }) => {
    if (who === name && (handled += count) >= records) done();
  });
  const reader = consumer(events, {
    name,
    from: "start",
    batch,
    onBadRecord: "stop",
    retry: { attempts: 3 },
    timeout: "20s",
    lagWithin: "1h",
    ...ways[name],
  });
  const running = await start(app({ reader }), { platform });
  await all;
  await running.stop();
}

/** By hand: each partition on a connection of its own, an insert a record, and the checkpoint in the commit of a batch. */
const byHand = (pool) =>
  Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      const client = await pool.connect();
      for (let at = 0; ; at += batch) {
        const { rows } = await client.query({
          name: "read",
          text: "select n, body from raw where n >= $1 and n < $2 and n % $3 = $4 order by n",
          values: [at * partitions, (at + batch) * partitions, partitions, partition],
        });
        if (rows.length === 0) break;
        await client.query("begin");
        for (const { n, body } of rows)
          await client.query({ name: "effect", text: insert, values: [`raw ${n}`, JSON.parse(body).amount] });
        await client.query({
          name: "checkpoint",
          text: "update checkpoint set at = $1 where partition = $2",
          values: [at, partition],
        });
        await client.query("commit");
      }
      client.release();
    }),
  );

await withDatabase(async (url) => {
  const pool = new pg.Pool({ connectionString: url, max: inFlight });
  await pool.query("create table raw (n bigint primary key, key text, body text)");
  await pool.query("create table effect (id text, n integer)");
  await pool.query("create table checkpoint (partition integer primary key, at bigint)");
  await pool.query("insert into checkpoint select n, 0 from generate_series(0, $1 - 1) n", [partitions]);
  const platform = await openPlatform({ databaseUrl: url });
  const producer = await start(app({ events }), { platform });
  const figures = {};
  const text = "insert into raw values ($1, $2, $3)";
  figures["one insert a row, by hand"] = await measured(pool, records, () =>
    closedLoop(records, (n) =>
      pool.query({ name: "raw", text, values: [n, keyOf(n), JSON.stringify(row(n))] }),
    ),
  );
  figures.append = await measured(pool, records, () =>
    closedLoop(records, (n) => events.append(row(n), { key: keyOf(n) })),
  );
  figures["read and insert, by hand"] = await measured(pool, records, () => byHand(pool));
  for (const name of Object.keys(ways))
    figures[name] = await measured(pool, records, () => drained(platform, name));
  console.table(figures);
  await producer.stop();
  await platform.close();
  await pool.end();
});
