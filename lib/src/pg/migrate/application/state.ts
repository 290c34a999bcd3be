// What a migration does, as far as its text says it. Pure.
import { controlsTransaction } from "../../../core/sql-text.ts";
import { pgErrors } from "../../contract.ts";
import type { File, Pending } from "./contract.ts";

const takesAway = [
  /^drop (table|schema|view|materialized view|type|domain|sequence|function|procedure)\b/i,
  /^alter\b.*\brename\b/i,
  /^alter table\b.*\bdrop (?!constraint\b|default\b|not null\b|expression\b|identity\b)/i,
  /^truncate\b/i,
];

/** Whether code that was written before this statement may miss something after it. */
export const isDestructive = (statement: string): boolean => takesAway.some((form) => form.test(statement));

const changesSchema = /^(create|alter|drop|comment)\b/i;
const changesRows = /^(update|delete|merge)\b|^insert\b.*\bselect\b|^with\b.*\b(update|delete|insert)\b/i;

/** Whether a file both changes tables and rewrites rows: a lock on the former is held for as long as the latter takes. */
export const mixesData = (statements: readonly string[]): boolean =>
  statements.some((each) => changesSchema.test(each)) && statements.some((each) => changesRows.test(each));

export const pendingOf = ({ name, statements }: File): Pending => ({
  name,
  statements,
  destructive: statements.filter(isDestructive),
});

/** Errors: TUNTAS_MIGRATION_CONTROL. A file that ends the transaction around it would run half of itself for good. */
export function refuseControl(files: readonly File[]): void {
  for (const { name, statements } of files) {
    const control = statements.find(controlsTransaction);
    if (control !== undefined)
      throw pgErrors.error(
        "TUNTAS_MIGRATION_CONTROL",
        `${name}: expected statements that run in one transaction, got ${JSON.stringify(control)}; nothing has run`,
      );
  }
}

/** What has not run yet. Errors: TUNTAS_MIGRATION_CHANGED. */
export function missingOf(files: readonly File[], applied: ReadonlyMap<string, string | null>): File[] {
  const changed = files.find(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum);
  if (!changed) return files.filter(({ name }) => !applied.has(name));
  throw pgErrors.error(
    "TUNTAS_MIGRATION_CHANGED",
    `expected ${changed.name} as this database ran it, got a file with another text`,
  );
}
