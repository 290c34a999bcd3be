// Migrations of the house: plain numbered SQL files that psql could run.
import { readdirSync, readFileSync } from "node:fs";
import type { Database } from "../database.ts";
import { pgErrors } from "../contract.ts";
import { checksumOf, oneByOne } from "./lock.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

// The same from src/pg and from dist/pg.
const folder = new URL("../../../sql/", import.meta.url);

export function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .toSorted()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      return {
        number: Number(name.slice(0, 4)),
        name,
        text,
        checksum: checksumOf(text),
      };
    });
}

function missing(
  all: readonly Migration[],
  applied: readonly { number: number; checksum: string }[],
): Migration[] {
  const known = new Map(applied.map((row) => [row.number, row.checksum]));
  for (const number of known.keys()) {
    if (!all.some((migration) => migration.number === number)) {
      throw pgErrors.error(
        "TUNTAS_SCHEMA_NEWER",
        `the database has run migration ${number}; this version knows ${all.length}`,
      );
    }
  }
  return all.filter((migration) => {
    const checksum = known.get(migration.number);
    if (checksum !== undefined && checksum !== migration.checksum) {
      throw pgErrors.error(
        "TUNTAS_MIGRATION_CHANGED",
        `migration ${migration.name} is not the one that this database ran`,
      );
    }
    return checksum === undefined;
  });
}

/** Brings the schema up to date; answers the names of the migrations that it ran. Safe when many processes call it at once. */
export const migrate = (database: Database): Promise<string[]> =>
  oneByOne(database, `tuntas migrate ${database.schema}`, async (client) => {
    const { schema } = database;
    await client.query(`create schema if not exists ${schema}`);
    await client.query(
      `create table if not exists ${schema}.migration (number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`,
    );
    const { rows } = await client.query(`select number, checksum from ${schema}.migration`);
    const todo = missing(readMigrations(), rows);
    for (const { number, name, text, checksum } of todo) {
      await client.query(text.replaceAll(/\btuntas\b(?=\.|;)/g, schema));
      await client.query(`insert into ${schema}.migration (number, name, checksum) values ($1, $2, $3)`, [
        number,
        name,
        checksum,
      ]);
    }
    return todo.map(({ name }) => name);
  });
