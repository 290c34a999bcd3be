// An application's own migrations: what of them will hurt a running system.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { statementsOf } from "../core/sql-text.ts";
import { mixesData } from "../pg/migrate/application/state.ts";
import type { Declared, MigrationFile, Sighting } from "./contract.ts";

/** The files of a folder; none where it is not there. */
export function readMigrationFiles(folder: URL): MigrationFile[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
    return names.toSorted().map((name) => {
      const place = new URL(name, folder);
      return { name, place: fileURLToPath(place), statements: statementsOf(readFileSync(place, "utf8")) };
    });
  } catch {
    return [];
  }
}

export const checkMigrations = ({ migrations }: Declared): Sighting[] =>
  migrations
    .filter(({ statements }) => mixesData(statements))
    .map(({ name, place }) => ({
      rule: "migration-mixes-data",
      name,
      place,
      message: `${name}: changes tables and rewrites rows in one transaction`,
    }));
