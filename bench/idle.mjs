// What a worker costs while there is nothing to do: commits of all sessions, bytes of write-ahead log, growth of the
// database, and processor. What the server counts for its own housekeeping is seen when the worker is gone.
// `node bench/idle.mjs [--settle 120] [--seconds 120]`; DATABASE_URL, else an embedded server in a temporary folder.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({
  options: { settle: { type: "string", default: "120" }, seconds: { type: "string", default: "120" } },
});
const seconds = Number(values.seconds);

const look = `select (select sum(xact_commit) from pg_stat_database)::float8 as commits,
  (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, pg_database_size(current_database())::float8 as size`;

/** Hundredths of a second of processor that the process has taken, as Linux counts them. */
function ticksOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

async function main(databaseUrl) {
  const env = { ...process.env, DATABASE_URL: databaseUrl, TUNTAS_LOG_LEVEL: "silent" };
  const worker = fork(new URL("parts/drainer.mjs", import.meta.url), { env });
  await once(worker, "message");
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const read = async () => (await client.query(look)).rows[0];
  const measure = async (ticks) => {
    const [before, ticksBefore] = [await read(), ticks()];
    await pause(seconds * 1000);
    const [after, ticksAfter] = [await read(), ticks()];
    const each = (name) => (after[name] - before[name]) / seconds;
    return {
      "commits/s": each("commits").toFixed(2),
      "log bytes/s": Math.round(each("wal")),
      "growth of the database, bytes": after.size - before.size,
      "worker ms/s": (((ticksAfter - ticksBefore) * 10) / seconds).toFixed(1),
    };
  };
  await pause(Number(values.settle) * 1000);
  const withWorker = await measure(() => ticksOf(worker.pid));
  worker.disconnect();
  await once(worker, "exit");
  console.table({ "a worker": withWorker, "the server alone": await measure(() => 0) });
  await client.end();
}

await withDatabase(main);
