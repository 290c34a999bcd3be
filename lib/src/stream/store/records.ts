// Appending and reading records. What of it must be several statements under one lock is a function of the migration.
import type { Queryable } from "../../pg/contract.ts";
import { pgArray } from "../../pg/arrays.ts";
import { statement, type Database } from "../../pg/database.ts";
import { toCoded } from "../../pg/faults.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { StoredRecord } from "../contract.ts";
import { partitionKey } from "../wake.ts";

export interface NewRecord {
  readonly partition: number;
  readonly key: string;
  readonly body: string;
}

const append = statement(
  `select a.partition, a.first_offset::float8 as "firstOffset" from tuntas.stream_append($1, $2, $3::int[], $4::text[], $5::text[]) a`,
);

/** Where records are appended: their partitions were worked out by so many. */
export interface Place {
  readonly id: number;
  readonly partitions: number;
}

/**
 * Appends in a commit of their own; answers the offset of each, `gone` where the stream is, and `changed` where it has more
 * partitions by now: nothing is appended then.
 */
export async function appendRecords(
  sql: Runner,
  { id, partitions }: Place,
  records: readonly NewRecord[],
): Promise<number[] | "gone" | "changed"> {
  const rows = await sql.run<{ partition: number; firstOffset: number }>(append, [
    id,
    partitions,
    pgArray.int(records.map(({ partition }) => partition)),
    pgArray.text(records.map(({ key }) => key)),
    pgArray.text(records.map(({ body }) => body)),
  ]);
  if (rows.length === 0) return "gone";
  if (rows[0]!.partition < 0) return "changed";
  const next = new Map(rows.map(({ partition, firstOffset }) => [partition, firstOffset]));
  return records.map(({ partition }) => {
    const offset = next.get(partition)!;
    next.set(partition, offset + 1);
    return offset;
  });
}

// Its lock is the foreign key's, taken before the number of partitions is looked at: who adds some waits for this transaction, and
// who comes after that finds another number.
const arrive = statement(
  `insert into tuntas.stream_arrival (stream_id, known, partition, key, body, appended_at)
   select s.id, s.partitions, $3, $4, $5, tuntas.now() from (
     select id, partitions from tuntas.stream where id = $1 and partitions = $2 for key share) s returning id`,
);
const tell = statement(`select pg_notify($1, $2)`);

/** Appends in the caller's transaction; its offset comes after the commit. False where the stream is gone or has more partitions by now. */
export async function arriveIn(
  { prepare, schema }: Pick<Database, "prepare" | "schema">,
  tx: Queryable,
  { id, partitions, record }: Place & { readonly record: NewRecord },
): Promise<boolean> {
  const { partition, key, body } = record;
  try {
    const { rows } = await tx.query(prepare(arrive).text, [id, partitions, partition, key, body]);
    // Heard at the commit, and not at all if the caller rolls back.
    if (rows.length > 0) await tx.query(tell.text, [`${schema}.stream`, partitionKey(id, partition)]);
    return rows.length > 0;
  } catch (cause) {
    throw toCoded(cause);
  }
}

/** Where in a stream, and how many. */
export interface Range {
  readonly streamId: number;
  readonly partition: number;
  readonly offset: number;
  readonly limit: number;
}

const stored = `r."offset"::float8 as "offset", r.key, r.body, ${ms("r.appended_at")} as "appendedAtMs"`;
const read = statement(`select ${stored} from tuntas.stream_read($5, $1, $2, $3, $4) r`);
const peek = statement(`select ${stored} from tuntas.stream_peek($1, $2, $3, $4) r`);

const valuesOf = ({ streamId, partition, offset, limit }: Range) => [streamId, partition, offset, limit];

/** What a consumer may read from an offset on, in its order; what has arrived gets its offsets first. */
export const readRecords = (sql: Runner, consumerId: number, range: Range): Promise<StoredRecord[]> =>
  sql.run<StoredRecord & {}>(read, [...valuesOf(range), consumerId]);

/** The same, and changes nothing. */
export const peekRecords = (sql: Runner, range: Range): Promise<StoredRecord[]> =>
  sql.run<StoredRecord & {}>(peek, valuesOf(range));
