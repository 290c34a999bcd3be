// The SQL of this application.
import type { Queryable } from "tuntas";
import type { Arrival, FileName } from "tuntas/files";
import type { Stage } from "./fault.ts";
import { paymentsOf } from "./validate.ts";
import type { Made } from "./work.ts";

export type Tx = Pick<Queryable, "query">;

export interface FileRow {
  readonly fileId: string;
  readonly bucket: string;
  readonly key: string;
  readonly version: string;
  readonly bytes: number;
  readonly state: "RECEIVED" | "PROCESSING" | "DONE" | "QUARANTINED";
  readonly stage: string | null;
  readonly bytesDone: number;
  readonly failure: string | null;
  readonly output: string | null;
  readonly payments: number | null;
  /** By currency; text, since they may be beyond 2^53. */
  readonly cents: Readonly<Record<string, string>>;
}

const nameOf = ({ bucket, key, version }: FileName) => [bucket, key, version];

/** Once, however often it is told of. */
export const insertFile = (tx: Tx, file: Arrival) =>
  tx.query(
    "insert into intake.file (bucket, key, version, bytes) values ($1, $2, $3, $4) on conflict do nothing",
    [...nameOf(file), file.bytes],
  );

export const setProgress = (tx: Tx, file: FileName, { stage, bytes }: { stage: string; bytes: number }) =>
  tx.query(
    `update intake.file set state = 'PROCESSING', stage = $4, bytes_done = $5, failure = null
     where bucket = $1 and key = $2 and version = $3 and state <> 'DONE'`,
    [...nameOf(file), stage, bytes],
  );

export async function setDone(tx: Tx, file: FileName, output: FileName, made: Made): Promise<void> {
  const { rows } = await tx.query(
    `update intake.file set state = 'DONE', stage = null, failure = null, bytes_done = bytes, output = $4, output_sha256 = $5,
       payments = $6, ended_at = now() where bucket = $1 and key = $2 and version = $3 returning file_id`,
    [...nameOf(file), `${output.bucket}/${output.key}`, made.sha256, paymentsOf(made.totals)],
  );
  const totals = [...made.totals];
  await tx.query(
    "insert into intake.total select $1, * from unnest($2::text[], $3::bigint[], $4::numeric[])",
    [
      rows[0].file_id,
      totals.map(([currency]) => currency),
      totals.map(([, { payments }]) => payments),
      totals.map(([, { cents }]) => String(cents)),
    ],
  );
}

/** Whether that is news. */
export async function setQuarantined(
  tx: Tx,
  file: FileName,
  { stage, failure }: { stage: Stage; failure: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update intake.file set state = 'QUARANTINED', stage = $4, failure = $5, ended_at = now()
     where bucket = $1 and key = $2 and version = $3 and state not in ('DONE', 'QUARANTINED')`,
    [...nameOf(file), stage, failure],
  );
  return rowCount === 1;
}

const columns = `file_id as "fileId", bucket, key, version, bytes::float8 as bytes, state, stage, bytes_done::float8 as "bytesDone",
  failure, output, payments::float8 as payments,
  coalesce((select jsonb_object_agg(currency, cents::text) from intake.total t where t.file_id = f.file_id), '{}') as cents`;

export async function findFile(tx: Tx, fileId: string): Promise<FileRow | undefined> {
  const { rows } = await tx.query(`select ${columns} from intake.file f where file_id::text = $1`, [fileId]);
  return rows[0] as FileRow | undefined;
}

/** The latest hundred. */
export async function listFiles(tx: Tx): Promise<FileRow[]> {
  const { rows } = await tx.query(`select ${columns} from intake.file f order by file_id desc limit 100`);
  return rows as FileRow[];
}
