// One embedded PostgreSQL for a whole test run, in a data directory of its own; each test file has its own schema in it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { attachEmbedded } from "../lib/dist/pg/embedded/index.js";

// What a run leaves behind is deleted, so no commit need wait for the disk. Several worlds of the simulation and test files
// live at a time, with some thirty connections each.
const settings = { fsync: "off", full_page_writes: "off", max_connections: "800" };

async function ask(connectionString, ...texts) {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  try {
    await client.connect();
    for (const text of texts.slice(0, -1)) await client.query(text);
    return Object.values((await client.query(texts.at(-1))).rows[0])[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Sets the server as tests want it. It is shut down for that; its supervisor starts it again. */
async function adapt(url) {
  const alter = Object.entries(settings).map(([name, value]) => `alter system set ${name} = '${value}'`);
  const cluster = await ask(url, ...alter, "show data_directory");
  const [pid] = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n");
  process.kill(Number(pid), "SIGINT");
  const isAdapted = () =>
    ask(url, "show max_connections").then(
      (value) => value === settings.max_connections,
      () => false,
    );
  while (!(await isAdapted())) await pause(50);
}

export async function setup() {
  if (process.env.DATABASE_URL) return undefined;
  const dataDir = mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : tmpdir(), "tuntas-test-"));
  const server = await attachEmbedded({ dataDir });
  await adapt(server.url);
  process.env.DATABASE_URL = server.url;
  return async () => {
    await server.detach();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
  };
}
