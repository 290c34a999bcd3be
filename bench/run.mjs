// `npm run bench`: the main figures, each beside the same work in hand-written SQL on the same server in the same run.
// Ratios travel between machines; absolute numbers do not. `--messages N --seconds N --rounds N` change its size.
import { parseArgs } from "node:util";
import pg from "pg";
import adapter from "./adapters/tuntas.mjs";
import { openEmbedded } from "./parts/server.mjs";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "100000" },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
  },
});
const [messages, seconds, rounds] = [values.messages, values.seconds, values.rounds].map(Number);

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.floor(list.length * q)];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls `work` for some seconds, `inFlight` at a time; answers calls per second. */
async function rateOf(work, inFlight) {
  const begun = performance.now();
  let calls = 0;
  const loop = async () => {
    while (performance.now() - begun < seconds * 1000) {
      await work(calls++);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return calls / ((performance.now() - begun) / 1000);
}

// ---- hand-written SQL, the floor

async function rawSends(url) {
  const pool = new pg.Pool({ connectionString: url, max: 16 });
  await pool.query(
    "create table if not exists raw_queue (id bigint generated always as identity primary key, body text not null, until timestamptz not null default '-infinity', attempts int not null default 0)",
  );
  const rate = await rateOf(
    (i) =>
      pool.query({ name: "send", text: "insert into raw_queue (body) values ($1)", values: [`{"i":${i}}`] }),
    16,
  );
  await pool.query("truncate raw_queue");
  await pool.end();
  return rate;
}

async function rawDrain(url) {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  await pool.query(
    "insert into raw_queue (body) select '{\"i\":' || i || '}' from generate_series(1, $1::int) i",
    [messages],
  );
  await pool.query("vacuum analyze raw_queue");
  const claim = {
    name: "claim",
    text: "update raw_queue set until = now() + interval '30 s', attempts = attempts + 1 where id in (select id from raw_queue where until < now() order by id for update skip locked limit 500) returning id, body",
  };
  const begun = performance.now();
  const loop = async () => {
    for (;;) {
      const { rows } = await pool.query(claim);
      if (rows.length === 0) return;
      for (const row of rows) JSON.parse(row.body);
      await pool.query({
        name: "ack",
        text: "delete from raw_queue where id = any($1)",
        values: [rows.map((row) => row.id)],
      });
    }
  };
  await Promise.all([loop(), loop()]);
  const rate = messages / ((performance.now() - begun) / 1000);
  await pool.end();
  return rate;
}

// ---- Tuntas, by the same adapter that runs beside the peers

async function withAdapter(url, variant, work) {
  const ctx = { url, variant: adapter.variants[variant] };
  await adapter.setup(ctx);
  try {
    return await work(ctx);
  } finally {
    await adapter.teardown(ctx);
  }
}

const sends = (url) =>
  withAdapter(url, "default", async (ctx) => {
    const rate = await rateOf((i) => adapter.enqueue(ctx, [{ i }]), 16);
    await ctx.running.platform.queues.catalog.delete(
      await ctx.running.platform.queues.catalog.get(
        { account: "000000000000", region: "us-east-1" },
        "bench",
      ),
    );
    return rate;
  });

const drain = (url, variant, count) =>
  withAdapter(url, variant, async (ctx) => {
    for (let i = 0; i < count; i += 1000)
      await adapter.enqueue(
        ctx,
        Array.from({ length: Math.min(1000, count - i) }, (_, k) => ({ i: i + k })),
      );
    await ctx.running.platform.database.run({ name: "bench_vacuum", text: "vacuum analyze" });
    let handled = 0;
    let begun;
    const all = Promise.withResolvers ? Promise.withResolvers() : deferred();
    const { stop } = await adapter.work(ctx, () => {
      begun ??= performance.now();
      if (++handled === count) all.resolve();
    });
    await all.promise;
    while ((await adapter.pending(ctx)) > 0) await pause(5);
    const rate = count / ((performance.now() - begun) / 1000);
    await stop();
    return rate;
  });

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

const latency = (url) =>
  withAdapter(url, "default", async (ctx) => {
    const waits = [];
    const { stop } = await adapter.work(ctx, ({ t }) => void waits.push(performance.now() - t));
    await pause(1000);
    for (let i = 0; i < 50 * seconds; i++) {
      void adapter.enqueue(ctx, [{ i, t: performance.now() }]);
      await pause(20);
    }
    while (waits.length < 50 * seconds) await pause(10);
    await stop();
    return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
  });

// ---- the run

const server = await openEmbedded();
const rows = {
  rawSends: [],
  sends: [],
  rawDrain: [],
  drain: [],
  keyed: [],
  tx: [],
  write: [],
  p50: [],
  p99: [],
};
for (let round = 0; round < rounds; round++) {
  rows.rawSends.push(await rawSends(server.url));
  rows.sends.push(await sends(server.url));
  rows.rawDrain.push(await rawDrain(server.url));
  rows.drain.push(await drain(server.url, "default", messages));
  rows.keyed.push(await drain(server.url, "keyed", messages));
  rows.tx.push(await drain(server.url, "tx", Math.min(messages, 20_000)));
  rows.write.push(await drain(server.url, "write", Math.min(messages, 50_000)));
  const waited = await latency(server.url);
  rows.p50.push(waited.p50);
  rows.p99.push(waited.p99);
}
await server.close();

const figure = Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, median(list)]));
const rate = (value) => `${Math.round(value).toLocaleString("en")}/s`;
const beside = (value, floor) =>
  `${rate(value)} (${(value / floor).toFixed(2)} of hand-written SQL: ${rate(floor)})`;
console.log(
  `medians of ${rounds} rounds, synchronous_commit=on, PostgreSQL ${server.version}, Node ${process.version}`,
);
console.log(`sends one at a time, 16 in flight   ${beside(figure.sends, figure.rawSends)}`);
console.log(`drain of ${messages} no-op messages     ${beside(figure.drain, figure.rawDrain)}`);
console.log(`the same with an idempotency key    ${beside(figure.keyed, figure.rawDrain)}`);
console.log(`the same with ctx.tx                ${rate(figure.tx)}`);
console.log(`the same with ctx.write             ${rate(figure.write)}`);
console.log(
  `send to handler at 50/s             p50 ${figure.p50.toFixed(2)} ms, p99 ${figure.p99.toFixed(2)} ms`,
);
