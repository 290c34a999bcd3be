// A server of the benchmark's own: embedded, in a temporary folder that is gone afterwards.
// `openServer` looks into /proc, so it is for Linux; `withDatabase` runs anywhere.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { attachEmbedded } from "../../lib/dist/pg/embedded/index.js";

export async function openEmbedded() {
  const dataDir = mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : tmpdir(), "tuntas-bench-"));
  chmodSync(dataDir, 0o755);
  const server = await attachEmbedded({ dataDir });
  return {
    url: server.url,
    version: server.version,
    async close() {
      await server.detach();
      // Its supervisor ends it some seconds after the last has gone.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
    },
  };
}

/** Does the work on the database of DATABASE_URL, else on one of its own. */
export async function withDatabase(work) {
  if (process.env.DATABASE_URL) return work(process.env.DATABASE_URL);
  const server = await openEmbedded();
  try {
    return await work(server.url);
  } finally {
    await server.close();
  }
}

export async function openServer() {
  const server = await openEmbedded();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query("select pid from pg_stat_activity where backend_type = 'checkpointer'");
  const status = readFileSync(`/proc/${rows[0].pid}/status`, "utf8");
  return {
    url: server.url,
    version: server.version,
    postmaster: Number(/^PPid:\s+(\d+)/m.exec(status)[1]),
    ask: async (text, values) => (await client.query(text, values)).rows,
    async close() {
      await client.end();
      await server.close();
    },
  };
}
