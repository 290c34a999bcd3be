// Migrations of an application: its own tables, in a schema of its own, from plain numbered SQL files. Whichever process of it
// starts first runs what is missing, before anything of it works; the others wait for that.
import { readdir, readFile } from "node:fs/promises";
import { pgErrors } from "../contract.ts";
import type { Database } from "../database.ts";
import { checksumOf, oneByOne } from "./lock.ts";

export interface Migrations {
  /** Where the files are: `0001-cases.sql` and so on, run in this order, each once. */
  readonly folder: URL;
  /** The schema of the application's tables: made if it is not there, and the home of the list of what has run. */
  readonly schema: string;
}

const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

interface File {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

async function readFiles(folder: URL): Promise<File[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { name, text, checksum: checksumOf(text) };
    }),
  );
}

function missingOf(files: readonly File[], applied: ReadonlyMap<string, string | null>): File[] {
  const changed = files.find(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (!changed) return files.filter(({ name }) => !applied.has(name));
  throw pgErrors.error(
    "TUNTAS_MIGRATION_CHANGED",
    `expected ${changed.name} as this database ran it, got a file with another text`,
  );
}

/** Runs what is missing in one transaction; answers the names. Errors: TUNTAS_MIGRATION_CHANGED, TUNTAS_MIGRATION_SCHEMA, database errors. */
export async function migrateApplication(
  database: Pick<Database, "dedicatedClient">,
  { folder, schema }: Migrations,
): Promise<string[]> {
  if (!schemaForm.test(schema))
    throw pgErrors.error(
      "TUNTAS_MIGRATION_SCHEMA",
      `expected a schema's name in lower case, got ${JSON.stringify(schema)}`,
    );
  const files = await readFiles(folder);
  return oneByOne(database, `${schema} migrate`, async (client) => {
    await client.query(`create schema if not exists ${schema}`);
    await client.query(
      `create table if not exists ${schema}.migration (name text primary key, checksum text)`,
    );
    // A list that the application kept itself before has names alone.
    await client.query(`alter table ${schema}.migration add column if not exists checksum text`);
    const { rows } = await client.query(`select name, checksum from ${schema}.migration`);
    const missing = missingOf(files, new Map(rows.map(({ name, checksum }) => [name, checksum])));
    for (const { name, text, checksum } of missing) {
      await client.query(text);
      await client.query(`insert into ${schema}.migration (name, checksum) values ($1, $2)`, [
        name,
        checksum,
      ]);
    }
    return missing.map(({ name }) => name);
  });
}
