// The SQL of this application.
import type { Queryable } from "tuntas";
import type { StoredFile } from "./files.ts";

export type Tx = Pick<Queryable, "query">;

export interface Package {
  readonly packageId: string;
  readonly caseId: string;
  readonly requestedBy: string;
  readonly status: "GATHERING" | "RENDERING" | "COMMITTED" | "DELIVERED" | "FAILED";
  readonly partsJob: string | null;
  readonly pagesJob: string | null;
  readonly manifest: string | null;
  readonly receipt: string | null;
  readonly failure: string | null;
}

export interface Part extends StoredFile {
  readonly kind: "timeline" | "document" | "attachment" | "pdf";
  readonly name: string;
}

export type NewPackage = Pick<Package, "packageId" | "caseId" | "requestedBy">;

export const insertPackage = (tx: Tx, { packageId, caseId, requestedBy }: NewPackage) =>
  tx.query("insert into evidence.package (package_id, case_id, requested_by) values ($1, $2, $3)", [
    packageId,
    caseId,
    requestedBy,
  ]);

export async function findPackage(tx: Tx, packageId: string): Promise<Package | undefined> {
  const { rows } = await tx.query(
    `select package_id as "packageId", case_id as "caseId", requested_by as "requestedBy", status, parts_job::text as "partsJob",
       pages_job::text as "pagesJob", manifest, receipt, failure from evidence.package where package_id = $1`,
    [packageId],
  );
  return rows[0] as Package | undefined;
}

/** What the package is made of beside the timeline. */
export async function papersOf(tx: Tx, packageId: string) {
  const { rows } = await tx.query(
    "select p.kind, p.name from evidence.paper p join evidence.package using (case_id) where package_id = $1 order by p.name",
    [packageId],
  );
  return rows as { readonly kind: "document" | "attachment"; readonly name: string }[];
}

export async function readTimeline(tx: Tx, packageId: string): Promise<string[]> {
  const { rows } = await tx.query(
    `select to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || '  ' || what as line
     from evidence.happening join evidence.package using (case_id) where package_id = $1 order by at, what`,
    [packageId],
  );
  return rows.map(({ line }) => line as string);
}

export async function readPaper(tx: Tx, packageId: string, name: string): Promise<string> {
  const { rows } = await tx.query(
    "select body from evidence.paper join evidence.package using (case_id) where package_id = $1 and name = $2",
    [packageId, name],
  );
  return rows[0].body as string;
}

export const stagePart = ({ job, number }: { job: { id: string }; number: number }, part: Part) =>
  [
    "insert into evidence.part_staging (job, partition, kind, name, sha256, bytes) values ($1, $2, $3, $4, $5, $6)",
    [job.id, number, part.kind, part.name, part.sha256, part.bytes],
  ] as const;

export const promoteParts = (tx: Tx, packageId: string, job: string) =>
  tx.query(
    `insert into evidence.file (package_id, kind, name, sha256, bytes)
     select $1, kind, name, sha256, bytes from evidence.part_staging where job = $2`,
    [packageId, job],
  );

export async function stagedPages(tx: Tx, job: string): Promise<string[]> {
  const { rows } = await tx.query(
    "select content from evidence.page_staging where job = $1 order by number",
    [job],
  );
  return rows.map(({ content }) => content as string);
}

export const insertFile = (tx: Tx, packageId: string, part: Part) =>
  tx.query("insert into evidence.file (package_id, kind, name, sha256, bytes) values ($1, $2, $3, $4, $5)", [
    packageId,
    part.kind,
    part.name,
    part.sha256,
    part.bytes,
  ]);

export async function filesOf(tx: Tx, packageId: string): Promise<Part[]> {
  const { rows } = await tx.query(
    "select kind, name, sha256, bytes from evidence.file where package_id = $1 order by kind, name",
    [packageId],
  );
  return rows as Part[];
}

export const setPartsJob = (tx: Tx, packageId: string, job: string) =>
  tx.query("update evidence.package set parts_job = $2 where package_id = $1", [packageId, job]);

export const setPagesJob = (tx: Tx, packageId: string, job: string) =>
  tx.query("update evidence.package set pages_job = $2, status = 'RENDERING' where package_id = $1", [
    packageId,
    job,
  ]);

/** The package is whole from here on; there is no second manifest. */
export async function commitPackage(tx: Tx, packageId: string, manifest: string): Promise<void> {
  const { rowCount } = await tx.query(
    "update evidence.package set manifest = $2, status = 'COMMITTED' where package_id = $1 and manifest is null",
    [packageId, manifest],
  );
  if (rowCount !== 1) throw new Error(`package ${packageId} has a manifest already`);
}

export const setDelivered = (tx: Tx, packageId: string, receipt: string) =>
  tx.query("update evidence.package set receipt = $2, status = 'DELIVERED' where package_id = $1", [
    packageId,
    receipt,
  ]);

export const setFailed = (tx: Tx, packageId: string, failure: string) =>
  tx.query("update evidence.package set failure = $2, status = 'FAILED' where package_id = $1", [
    packageId,
    failure,
  ]);

export async function auditOf(tx: Tx, packageId: string) {
  const { rows } = await tx.query(
    "select event, at from evidence.audit where package_id = $1 order by at, record",
    [packageId],
  );
  return rows;
}
