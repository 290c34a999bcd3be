// How many handlers and connections a Map of many items has at once: never more than its MaxConcurrency, however many items wait.
// `node bench/fanout.mjs [--items 10000] [--at-once 20]`; DATABASE_URL, else an embedded server in a temporary folder. Fails where
// there are more.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { app, openPlatform, start, workflow } from "../lib/dist/index.js";
import { task } from "../lib/dist/workflow/index.js";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({
  options: { items: { type: "string", default: "10000" }, "at-once": { type: "string", default: "20" } },
});
const [items, atOnce] = [Number(values.items), Number(values["at-once"])];
process.env.TUNTAS_LOG_LEVEL ??= "silent";

const definition = {
  StartAt: "Each",
  States: {
    Each: {
      Type: "Map",
      MaxConcurrency: atOnce,
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        StartAt: "Work",
        States: { Work: { Type: "Task", Resource: "work", End: true } },
      },
      ResultPath: null,
      End: true,
    },
  },
};

/** Calls of the handler under way, and the most that there were. */
function gauge() {
  let [now, peak] = [0, 0];
  return {
    async within(run) {
      peak = Math.max(peak, ++now);
      try {
        return await run();
      } finally {
        now--;
      }
    },
    peak: () => peak,
  };
}

// Each handler has a connection of its own for as long as its transaction is open: it waits in it.
const holding = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and state = 'idle in transaction' and query like '%pg_sleep%'`;
const sessions = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

async function watch(client, until) {
  const peaks = { holding: 0, sessions: 0 };
  while (!until()) {
    for (const [name, text] of Object.entries({ holding, sessions }))
      peaks[name] = Math.max(peaks[name], (await client.query(text)).rows[0].count);
    await pause(20);
  }
  return peaks;
}

async function main(databaseUrl) {
  const handlers = gauge();
  const work = task({
    idempotent: true,
    handle: (n, { tx }) =>
      handlers.within(async () => {
        await tx.query("insert into public.fanned (n) select $1::int from pg_sleep(0.005)", [n]);
        await pause(5);
        return null;
      }),
  });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("create table public.fanned (n integer)");
  const each = workflow("each", { definition, tasks: { work } });
  const platform = await openPlatform({ databaseUrl, handlerConnectionsMax: 2 * atOnce });
  const running = await start(app({ each }), { platform });
  const begun = performance.now();
  const { arn } = await each.start(Array.from({ length: items }, (_, n) => n));
  let done = false;
  const count = async () =>
    (await client.query("select count(*)::int as count from public.fanned")).rows[0].count;
  const peaks = watch(client, () => done);
  const asking = new pg.Client({ connectionString: databaseUrl });
  await asking.connect();
  const status = async () =>
    (await asking.query("select status from tuntas.execution where arn = $1", [arn])).rows[0]?.status;
  while (!["SUCCEEDED", "FAILED"].includes(await status())) await pause(200);
  done = true;
  const { holding: held, sessions: all } = await peaks;
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(
    JSON.stringify({
      items,
      atOnce,
      handled: await count(),
      handlers: handlers.peak(),
      connections: held,
      sessions: all,
      seconds,
    }),
  );
  if (handlers.peak() > atOnce || held > atOnce || (await count()) !== items) process.exitCode = 1;
  await running.stop();
  await platform.close();
  await asking.end();
  await client.end();
}

await withDatabase(main);
