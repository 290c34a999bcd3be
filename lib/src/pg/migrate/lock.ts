// All that is missing runs in one transaction under one advisory lock, so two processes that start at once do not meet, and a
// migration that fails leaves nothing behind.
import { createHash } from "node:crypto";
import type pg from "pg";
import type { Database } from "../database.ts";
import { toCoded } from "../faults.ts";

/** What tells a migration from another of the same name. */
export const checksumOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Does it where nobody else of that name does. Errors: what the work raises, and the database's as coded ones. */
export async function oneByOne<T>(
  database: Pick<Database, "dedicatedClient">,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await database.dedicatedClient();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (cause) {
    throw toCoded(cause);
  } finally {
    await client.end().catch(() => undefined);
  }
}
