// One embedded PostgreSQL for a whole test run, in a data directory of its own; each test file has its own schema in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachEmbedded } from "../lib/dist/pg/embedded/index.js";

export async function setup() {
  if (process.env.DATABASE_URL) return undefined;
  const dataDir = mkdtempSync(join(process.platform === "linux" ? "/var/tmp" : tmpdir(), "tuntas-test-"));
  const server = await attachEmbedded({ dataDir });
  process.env.DATABASE_URL = server.url;
  return async () => {
    await server.detach();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
