// The ledger's figures: `once` and `outbox.add` in transactions of their own, the same change in hand-written SQL beside
// them, and what the relay publishes, to a queue in the same database and to a function outside.
// `node bench/ledger.mjs [--rows N] [--seconds N]`; DATABASE_URL, else an embedded server in a temporary folder.
import { parseArgs } from "node:util";
import pg from "pg";
import { openPlatform } from "../lib/dist/index.js";
import { once } from "../lib/dist/ledger/index.js";
import { add, addAll, readStatus } from "../lib/dist/outbox/index.js";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({
  options: { rows: { type: "string", default: "20000" }, seconds: { type: "string", default: "3" } },
});
const [rows, seconds] = [values.rows, values.seconds].map(Number);
const clients = 8;
process.env.TUNTAS_LOG_LEVEL ??= "silent";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What `work` did: items a second, and the CPU that this process spent on each, which other load does not change. */
async function measured(work) {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const count = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / ((performance.now() - begun) / 1000), cpuUs: (user + system) / count };
}

/** Transactions, over some clients at a time. */
const rateOf = (pool, work) => measured(() => transactions(pool, work));

async function transactions(pool, work) {
  const begun = performance.now();
  let count = 0;
  const loop = async () => {
    const client = await pool.connect();
    while (performance.now() - begun < seconds * 1000) {
      await client.query("begin");
      await work(client, count++);
      await client.query("commit");
    }
    client.release();
  };
  await Promise.all(Array.from({ length: clients }, loop));
  return count;
}

/** Rows, from the first look to the last row published. */
async function drain(platform, pool, target) {
  for (let from = 0; from < rows; from += 1000) {
    const client = await pool.connect();
    await client.query("begin");
    const some = Array.from({ length: 1000 }, (_, index) => ({
      target,
      key: `k${index % 97}`,
      payload: `{"n":${from + index}}`,
    }));
    await addAll(client, some, { wake: false });
    await client.query("commit");
    client.release();
  }
  return measured(() => emptied(platform, target));
}

async function emptied(platform, target) {
  platform.waker.wake("outbox");
  const waiting = async () =>
    (await readStatus(platform.database)).targets.find((each) => each.target.name === target.name)?.waiting ??
    0;
  const first = await waiting();
  while ((await waiting()) > 0) await pause(20);
  return first;
}

async function measure(url) {
  const pool = new pg.Pool({ connectionString: url, max: clients });
  const platform = await openPlatform({ databaseUrl: url, name: "bench" });
  await pool.query("create table bench_change (n bigint)");
  const change = (client, n) => client.query("insert into bench_change values ($1)", [n]);
  const run = `${Date.now()}`;
  const target = { kind: "function", name: "later" };

  const report = (what, { perSecond, cpuUs }) =>
    console.log(
      `${what.padEnd(56)} ${Math.round(perSecond).toLocaleString("en").padStart(9)} /s ${cpuUs.toFixed(0).padStart(7)} µs of CPU each`,
    );
  report("a change alone (begin, insert, commit)", await rateOf(pool, change));
  report(
    "once(tx, …) around it",
    await rateOf(pool, (client, n) =>
      once(client, { scope: "bench", key: `${run}-${n}`, request: { n } }, () =>
        change(client, n).then(() => n),
      ),
    ),
  );
  report(
    "once(tx, …), repeated key",
    await rateOf(pool, (client) =>
      once(client, { scope: "bench", key: `${run}-0`, request: { n: 0 } }, () => 0),
    ),
  );
  const adding = (wake) => async (client, n) => {
    await change(client, n);
    await add(client, { target, key: `k${n % 97}`, payload: `{"n":${n}}` }, { wake });
  };
  report("outbox.add(tx, …) beside it", await rateOf(pool, adding(true)));
  report("outbox.add(tx, …) without waking the relays", await rateOf(pool, adding(false)));

  await platform.queues.catalog.create({ account: "000000000000", region: "us-east-1" }, "bench-out", {});
  report(
    `relay to a queue, ${rows} rows of 97 keys`,
    await drain(platform, pool, { kind: "queue", name: "bench-out" }),
  );
  platform.targets.bind({ kind: "function", name: "bench-function" }, { deliver: async () => undefined });
  report(
    `relay to a function, ${rows} rows of 97 keys`,
    await drain(platform, pool, { kind: "function", name: "bench-function" }),
  );
  await platform.close();
  await pool.end();
}

await withDatabase(measure);
