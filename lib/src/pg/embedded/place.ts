// Where the cluster lives. Usually in the data directory itself. Where PostgreSQL's account cannot get there (root's
// checkout below a 0700 folder), it lives under /var/lib/tuntas, and a pointer file in the data directory says where.
// The pointer's name is random, so that deleting the data directory always means an empty database next time.
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { canEnter } from "./account.ts";
import type { Account } from "./command.ts";
import { embeddedErrors } from "./contract.ts";
import { writePrivately } from "./record.ts";

const shelter = "/var/lib/tuntas";

/** The directory that holds the cluster, and the binaries where they had to be copied. */
export async function findPlace(dataDir: string, account: Account | undefined): Promise<string> {
  const pointer = join(dataDir, "moved-to");
  if (existsSync(pointer)) return followPointer(pointer);
  if (await canEnter(dataDir, account)) return dataDir;
  const place = join(shelter, randomBytes(8).toString("hex"));
  mkdirSync(place, { recursive: true });
  for (const folder of [shelter, place]) chmodSync(folder, 0o755);
  // For the person who wonders whether this can be deleted.
  writePrivately(join(place, "belongs-to"), dataDir + "\n");
  writePrivately(pointer, place + "\n");
  return followPointer(pointer);
}

function followPointer(pointer: string): string {
  const place = readFileSync(pointer, "utf8").trim();
  if (existsSync(place)) return realpathSync(place);
  throw embeddedErrors.error(
    "TUNTAS_EMBEDDED_DATA_MISSING",
    `${pointer} names ${place}, which does not exist.`,
  );
}
