// One embedded PostgreSQL for a whole test run, in a data directory of its own; each test file has its own schema in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { attachEmbedded } from "../lib/dist/pg/embedded/index.js";

/** What a run leaves behind is deleted, so nothing of it need outlive the machine's power: no commit waits for the disk. */
async function doWithoutDisk(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const setting of ["fsync", "full_page_writes"])
    await client.query(`alter system set ${setting} = off`);
  await client.query("select pg_reload_conf()");
  await client.end();
}

export async function setup() {
  if (process.env.DATABASE_URL) return undefined;
  const dataDir = mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : tmpdir(), "tuntas-test-"));
  const server = await attachEmbedded({ dataDir });
  await doWithoutDisk(server.url);
  process.env.DATABASE_URL = server.url;
  return async () => {
    await server.detach();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
