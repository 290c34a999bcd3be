// What executions that wait cost: they are started, wait for a token, and then the process and its database are looked at
// for some seconds. `node --expose-gc bench/waiting.mjs [--counts 2000,100000] [--seconds N]`; DATABASE_URL, else an
// embedded server in a temporary folder.
import { parseArgs } from "node:util";
import pg from "pg";
import { app, openPlatform, start, workflow } from "../lib/dist/index.js";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({
  options: { counts: { type: "string", default: "2000,100000" }, seconds: { type: "string", default: "10" } },
});
const counts = values.counts.split(",").map(Number);
const seconds = Number(values.seconds);
process.env.TUNTAS_LOG_LEVEL ??= "silent";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const definition = {
  StartAt: "Ask",
  States: {
    Ask: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      Parameters: { FunctionName: "ask", Payload: { "token.$": "$$.Task.Token" } },
      End: true,
    },
  },
};

async function waitingNow(client) {
  const text = "select count(*)::int as count from tuntas.workflow_call where started and owner_id is null";
  return (await client.query(text)).rows[0].count;
}

/** Commits of all sessions; each statement by itself is one. */
async function commits(client) {
  const text = "select sum(xact_commit)::int as commits from pg_stat_database";
  return (await client.query(text)).rows[0].commits;
}

async function lookAt(client) {
  await pause(3000);
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const cpu = process.cpuUsage();
  const before = await commits(client);
  await pause(seconds * 1000);
  const made = (await commits(client)) - before - 1;
  const { user, system } = process.cpuUsage(cpu);
  return {
    waiting: await waitingNow(client),
    "rss MB": Math.round(rss / 1e6),
    "heap MB": Math.round(heapUsed / 1e6),
    "commits/s": (made / seconds).toFixed(1),
    "cpu ms/s": ((user + system) / 1000 / seconds).toFixed(1),
  };
}

async function fill(asking, client, count) {
  for (let left = count - (await waitingNow(client)); left > 0; left -= 1000)
    await Promise.all(Array.from({ length: Math.min(left, 1000) }, () => asking.start({})));
  while ((await waitingNow(client)) < count) await pause(200);
}

async function main(databaseUrl) {
  const asking = workflow("asking", { definition, tasks: { ask: async () => undefined } });
  const platform = await openPlatform({ databaseUrl });
  const running = await start(app({ asking }), { platform });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const rows = [await lookAt(client)];
  for (const count of counts) {
    await fill(asking, client, count);
    rows.push(await lookAt(client));
  }
  console.table(rows);
  await client.end();
  await running.stop();
  await platform.close();
}

await withDatabase(main);
