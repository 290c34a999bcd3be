// The SQL of this application.
import type { Queryable } from "tuntas";

export type Tx = Pick<Queryable, "query">;

export interface Export {
  readonly exportId: string;
  readonly requestedBy: string;
  readonly status: "REQUESTED" | "EXPORTING" | "READY" | "FAILED";
  readonly upTo: string;
  readonly manifest: string | null;
  readonly failure: string | null;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly rows: number;
}

export interface Chunk {
  readonly chunk: number;
  readonly after: string;
  readonly upTo: string;
  readonly file: string | null;
  readonly rows: number | null;
}

/** A report of all payments that are there now. */
export const insertExport = (tx: Tx, exportId: string, requestedBy: string) =>
  tx.query(
    "insert into export.request (export_id, requested_by, up_to) select $1, $2, coalesce(max(id), 0) from export.payment",
    [exportId, requestedBy],
  );

export async function findExport(tx: Tx, exportId: string): Promise<Export | undefined> {
  const { rows } = await tx.query(
    `select export_id as "exportId", requested_by as "requestedBy", status, r.up_to::text as "upTo", manifest, failure,
       count(c)::int as chunks, count(c.file)::int as "chunksDone", coalesce(sum(c.row_count), 0)::int as rows
     from export.request r left join export.chunk c using (export_id) where export_id::text = $1 group by r.export_id`,
    [exportId],
  );
  return rows[0] as Export | undefined;
}

/** One chunk for so many ids; answers how many there are. */
export async function planChunks(tx: Tx, exportId: string, idsPerChunk: number): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into export.chunk (export_id, chunk, after, up_to)
     select export_id, (after / $2)::int, after, least(after + $2, up_to) from export.request, generate_series(0, up_to - 1, $2::bigint) after
     where export_id = $1`,
    [exportId, idsPerChunk],
  );
  await tx.query("update export.request set status = 'EXPORTING' where export_id = $1", [exportId]);
  return rowCount ?? 0;
}

const columns = `chunk, after::text, up_to::text as "upTo", file, row_count as rows`;

export async function chunksOf(tx: Tx, exportId: string): Promise<Chunk[]> {
  const { rows } = await tx.query(`select ${columns} from export.chunk where export_id = $1 order by chunk`, [
    exportId,
  ]);
  return rows as Chunk[];
}

export async function findChunk(tx: Tx, exportId: string, chunk: number): Promise<Chunk> {
  const { rows } = await tx.query(`select ${columns} from export.chunk where export_id = $1 and chunk = $2`, [
    exportId,
    chunk,
  ]);
  return rows[0] as Chunk;
}

export interface Payment {
  readonly id: string;
  readonly customer: string;
  readonly cents: number;
}

export async function readPayments(tx: Tx, { after, upTo }: Chunk): Promise<Payment[]> {
  const { rows } = await tx.query(
    "select id, customer, cents from export.payment where id > $1 and id <= $2 order by id",
    [after, upTo],
  );
  return rows as Payment[];
}

export const setChunk = (
  tx: Tx,
  exportId: string,
  { chunk, file, rows }: Pick<Chunk, "chunk" | "file" | "rows">,
) =>
  tx.query("update export.chunk set file = $3, row_count = $4 where export_id = $1 and chunk = $2", [
    exportId,
    chunk,
    file,
    rows,
  ]);

export const setReady = (tx: Tx, exportId: string, manifest: string) =>
  tx.query(
    "update export.request set status = 'READY', manifest = $2, completed_at = now() where export_id = $1",
    [exportId, manifest],
  );

export const setFailed = (tx: Tx, exportId: string, failure: string) =>
  tx.query(
    "update export.request set status = 'FAILED', failure = $2, completed_at = now() where export_id = $1",
    [exportId, failure],
  );
