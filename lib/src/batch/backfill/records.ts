// The records of a partition, page after page in the order of their key, each locked before it is looked at: what becomes
// final in another transaction has become so before, or waits.
import type { HandlerTx } from "../../engine/handler/contract.ts";
import { backfillErrors, type BackfillDefinition, type RecordOf } from "./contract.ts";
import { keyOf } from "./declaration.ts";

/** Of the columns that are a record's key, as SQL names it. */
export type KeyTypes = readonly string[];

/** The values of a record's key, as texts. */
export type Cursor = readonly string[];

export interface Found {
  readonly cursor: Cursor;
  readonly final: boolean;
  readonly record: RecordOf<string>;
}

export interface Page {
  readonly after: Cursor | null;
  /** The last key that is part of it; null for as far as there are any. */
  readonly until: Cursor | null;
  readonly limit: number;
}

const quote = (column: string): string => `t."${column}"`;
const list = (columns: readonly string[]): string => columns.map(quote).join(", ");
const isFinal = (final: string): string => (final === "none" ? "false" : `coalesce((${final}), false)`);

/** The condition of a partition, and the numbers that are free for more parameters. */
function conditionOf({ options }: BackfillDefinition, scope: unknown, partition: unknown) {
  const { text, values } = options.records.where(scope as never, partition as never);
  return { text, values, next: (index: number) => `$${values.length + 1 + index}` };
}

const columnTypes = `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
  from pg_attribute a where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped`;

/** The types of the key's columns. Errors: TUNTAS_BACKFILL_TABLE. */
export async function keyTypes(tx: HandlerTx, { name, options }: BackfillDefinition): Promise<KeyTypes> {
  const { records } = options;
  const { rows } = await tx.query(columnTypes, [records.table]);
  const types = new Map(rows.map((row: { name: string; type: string }) => [row.name, row.type]));
  const wanted = [...new Set([...keyOf(records), ...records.columns])];
  const missing = wanted.filter((column) => !types.has(column));
  if (missing.length > 0)
    throw backfillErrors.error(
      "TUNTAS_BACKFILL_TABLE",
      `backfill ${name}: expected a table ${records.table} with the columns ${wanted.join(", ")}, got ${types.size === 0 ? "no such table" : `one without ${missing.join(", ")}`}`,
    );
  return keyOf(records).map((column) => types.get(column)!);
}

/** How many records a partition has. */
export async function countRecords(
  tx: HandlerTx,
  definition: BackfillDefinition,
  of: { readonly scope: unknown; readonly partition: unknown },
): Promise<number> {
  const { text, values } = conditionOf(definition, of.scope, of.partition);
  const counted = `select count(*)::float8 as n from ${definition.options.records.table} as t where ${text}`;
  return ((await tx.query(counted, [...values])).rows[0] as { n: number }).n;
}

/** The next records of a partition, locked; fewer than the limit only where there are no more, since the limit counts what was locked. */
export async function readPage(
  tx: HandlerTx,
  definition: BackfillDefinition,
  of: {
    readonly scope: unknown;
    readonly partition: unknown;
    readonly types: KeyTypes;
    readonly page: Page;
  },
): Promise<Found[]> {
  const { records } = definition.options;
  const key = keyOf(records);
  const { text, values, next } = conditionOf(definition, of.scope, of.partition);
  const given: unknown[] = [...values];
  const beside = (sign: ">" | "<=", cursor: Cursor | null): string => {
    if (!cursor) return "";
    const marks = cursor.map(
      (_, index) => `${next(given.length - values.length + index)}::${of.types[index]}`,
    );
    given.push(...cursor);
    return ` and (${list(key)}) ${sign} (${marks.join(", ")})`;
  };
  const between = beside(">", of.page.after) + beside("<=", of.page.until);
  const cursor = `array[${key.map((column) => `${quote(column)}::text`).join(", ")}]`;
  const { rows } = await tx.query({
    text: `select ${isFinal(records.final)}, ${cursor}, ${list(records.columns)} from ${records.table} as t
      where (${text})${between} order by ${list(key)} limit ${of.page.limit} for no key update of t`,
    values: given,
    rowMode: "array",
  });
  return (rows as [boolean, string[], ...unknown[]][]).map(([final, cursor, ...own]) => ({
    cursor,
    final,
    record: recordOf(records.columns, own),
  }));
}

function recordOf(columns: readonly string[], values: readonly unknown[]): RecordOf<string> {
  const record: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index++) record[columns[index]!] = values[index];
  return record;
}

/** The records of these keys as they are now, as text that can be compared. */
export async function readRecords(
  tx: HandlerTx,
  { options: { records } }: BackfillDefinition,
  of: { readonly types: KeyTypes; readonly cursors: readonly Cursor[] },
): Promise<Map<string, unknown>> {
  const key = keyOf(records);
  const given = key.map((_, index) => of.cursors.map((cursor) => cursor[index]));
  const wanted = key.map((_, index) => `$${index + 1}::text[]::${of.types[index]}[]`).join(", ");
  const { rows } = await tx.query(
    `select array[${key.map((column) => `${quote(column)}::text`).join(", ")}] as cursor,
       row_to_json((select r from (select ${list(records.columns)}) r)) as record
     from ${records.table} as t where (${list(key)}) in (select * from unnest(${wanted}))`,
    given,
  );
  return new Map(
    rows.map((row: { cursor: string[]; record: unknown }) => [nameOf(row.cursor), row.record] as const),
  );
}

/** What people call a record. */
export const nameOf = (cursor: Cursor): string => cursor.join(" ");
