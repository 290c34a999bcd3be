// The SQL of this application.
import type { Queryable } from "tuntas";

export type Tx = Pick<Queryable, "query">;

export interface NewComplaint {
  readonly complainant: string;
  readonly subject: string;
}

export interface Complaint extends NewComplaint {
  readonly caseId: string;
  readonly status: "RECEIVED" | "ESCALATED" | "OPEN" | "DISMISSED";
  readonly risk: number | null;
  readonly duplicates: readonly string[] | null;
  readonly officerNotifiedAt: Date | null;
  readonly overdueAt: Date | null;
}

const columns = `case_id as "caseId", complainant, subject, status, risk, duplicates, officer_notified_at as "officerNotifiedAt",
  overdue_at as "overdueAt"`;

export const insertComplaint = (tx: Tx, caseId: string, { complainant, subject }: NewComplaint) =>
  tx.query(
    "insert into intake.complaint (case_id, complainant, subject, status) values ($1, $2, $3, 'RECEIVED')",
    [caseId, complainant, subject],
  );

export async function findComplaint(tx: Tx, caseId: string): Promise<Complaint | undefined> {
  const { rows } = await tx.query(`select ${columns} from intake.complaint where case_id = $1`, [caseId]);
  return rows[0] as Complaint | undefined;
}

/** Other complaints of the same person about the same thing. */
export async function findDuplicates(tx: Tx, caseId: string): Promise<string[]> {
  const { rows } = await tx.query(
    `select o.case_id from intake.complaint c join intake.complaint o using (complainant, subject)
     where c.case_id = $1 and o.case_id <> c.case_id and o.received_at <= c.received_at order by 1`,
    [caseId],
  );
  return rows.map((row) => row.case_id as string);
}

export const setRisk = (tx: Tx, caseId: string, risk: number) =>
  tx.query("update intake.complaint set risk = $2 where case_id = $1", [caseId, risk]);

export const setDuplicates = (tx: Tx, caseId: string, duplicates: readonly string[]) =>
  tx.query("update intake.complaint set duplicates = $2 where case_id = $1", [caseId, duplicates]);

export const setStatus = (tx: Tx, caseId: string, status: Complaint["status"]) =>
  tx.query("update intake.complaint set status = $2 where case_id = $1", [caseId, status]);

export const setNotified = (tx: Tx, caseId: string) =>
  tx.query("update intake.complaint set officer_notified_at = now() where case_id = $1", [caseId]);

/** Notes that nobody has decided in time; answers whether that is so. */
export async function noteOverdue(tx: Tx, caseId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    "update intake.complaint set overdue_at = now() where case_id = $1 and status in ('RECEIVED', 'ESCALATED')",
    [caseId],
  );
  return rowCount === 1;
}

export async function auditOf(tx: Tx, caseId: string) {
  const { rows } = await tx.query(
    `select event, by_whom as "by", at from intake.audit where case_id = $1 order by at, record`,
    [caseId],
  );
  return rows;
}
