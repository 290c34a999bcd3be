// What a worker costs while there is nothing to do: commits of all sessions (the server's own housekeeping among them),
// bytes of write-ahead log, growth of the database, and processor. `node bench/idle.mjs [--settle 60] [--seconds 60]`;
// DATABASE_URL, else an embedded server in a temporary folder.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { withDatabase } from "./parts/server.mjs";

const { values } = parseArgs({
  options: { settle: { type: "string", default: "60" }, seconds: { type: "string", default: "60" } },
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
  const read = async () => ({ ...(await client.query(look)).rows[0], ticks: ticksOf(worker.pid) });
  await pause(Number(values.settle) * 1000);
  const before = await read();
  await pause(seconds * 1000);
  const after = await read();
  const each = (name) => (after[name] - before[name]) / seconds;
  console.table([
    {
      "commits/s": each("commits").toFixed(2),
      "log bytes/s": Math.round(each("wal")),
      "growth of the database, bytes": after.size - before.size,
      "worker ms/s": (each("ticks") * 10).toFixed(1),
    },
  ]);
  await client.end();
  worker.disconnect();
  await once(worker, "exit");
}

await withDatabase(main);
