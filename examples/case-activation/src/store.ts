// The SQL of this application, one function a step. Everything takes the caller's transaction.
import type { Queryable } from "tuntas";
import { finalStatuses, guard, transitions, type Status, type TransitionName } from "./transitions.ts";

export type Tx = Pick<Queryable, "query">;

export const migrations = { schema: "cases", folder: new URL("../migrations/", import.meta.url) };

export interface CaseRow {
  readonly caseId: string;
  readonly tenantId: string;
  readonly partyName: string;
  readonly jurisdiction: string;
  readonly severity: "normal" | "high";
  readonly requestedBy: string;
  readonly correlationId: string;
  readonly status: Status;
  readonly version: number;
  readonly caseNumber: string | null;
  readonly reservationId: string | null;
  readonly duplicates: readonly string[];
}

/** Somebody ended the case while its workflow was on its way; the workflow cleans up. */
export class CaseOver extends Error {
  override readonly name = "CaseOver";
}

/** The case is not where its workflow takes it to be. No retry mends that. */
export class InvalidTransition extends Error {
  override readonly name = "InvalidTransition";
}

const columns = `case_id as "caseId", tenant_id as "tenantId", party_name as "partyName", jurisdiction, severity,
  requested_by as "requestedBy", correlation_id as "correlationId", status, version, case_number as "caseNumber",
  reservation_id as "reservationId", duplicates`;

export async function findCase(tx: Tx, caseId: string): Promise<CaseRow | undefined> {
  const { rows } = await tx.query(`select ${columns} from cases.cases where case_id = $1`, [caseId]);
  return rows[0] as CaseRow | undefined;
}

export async function caseOf(tx: Tx, caseId: string): Promise<CaseRow> {
  const found = await findCase(tx, caseId);
  if (!found) throw new InvalidTransition(`there is no case ${caseId}`);
  return found;
}

/** Nobody ends the case before this transaction commits. Errors: CaseOver where somebody has. */
export async function holdOpen(tx: Tx, caseId: string): Promise<void> {
  const { rows } = await tx.query("select status from cases.cases where case_id = $1 for share", [caseId]);
  if (finalStatuses.includes(rows[0]?.status)) throw new CaseOver(`${caseId} is ${rows[0].status}`);
}

export interface Change {
  readonly actor: string;
  readonly reason?: string;
}

const move = `with moved as (
    update cases.cases set status = $2, version = version + 1, changed_at = now() where case_id = $1 and status = any($3)
    returning case_id, version
  ), before as (select status from cases.cases where case_id = $1)
  insert into cases.case_audit (case_id, version, transition, from_status, to_status, actor, reason)
  select m.case_id, m.version, $4, b.status, $2, $5, $6 from moved m, before b
  returning from_status as "fromStatus", (select command_id from cases.command where case_id = $1 limit 1) as "commandId"`;

export interface Moved {
  readonly caseId: string;
  readonly commandId: string;
  readonly fromStatus: Status;
  readonly toStatus: Status;
}

/**
 * Moves the case, guarded by its status, with its audit row; undefined where it was so already. Errors: CaseOver,
 * InvalidTransition.
 */
export async function transition(
  tx: Tx,
  { caseId, name }: { readonly caseId: string; readonly name: TransitionName },
  { actor, reason }: Change,
): Promise<Moved | undefined> {
  const { from, to } = transitions[name];
  const { rows } = await tx.query(move, [caseId, to, from, name, actor, reason ?? null]);
  if (rows[0]) return { caseId, toStatus: to, ...(rows[0] as Pick<Moved, "fromStatus" | "commandId">) };
  const { status } = await caseOf(tx, caseId);
  const verdict = guard(name, status);
  if (verdict === "was so already") return undefined;
  const message = `${caseId}: ${name} expects ${from.join(" or ")}, got ${status}`;
  throw verdict === "over" ? new CaseOver(message) : new InvalidTransition(message);
}

export interface Command {
  readonly commandId: string;
  readonly caseId: string;
  readonly tenantId: string;
  readonly partyName: string;
  readonly jurisdiction: string;
  readonly severity: "normal" | "high";
  readonly requestedBy: string;
  readonly correlationId: string;
  readonly executionName: string;
}

export const recordCommand = (tx: Tx, command: Command) =>
  tx.query(
    `insert into cases.command (command_id, case_id, tenant_id, party_name, jurisdiction, severity, requested_by, correlation_id, execution_name)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      command.commandId,
      command.caseId,
      command.tenantId,
      command.partyName,
      command.jurisdiction,
      command.severity,
      command.requestedBy,
      command.correlationId,
      command.executionName,
    ],
  );

export async function findCommand(tx: Tx, caseId: string): Promise<Command | undefined> {
  const { rows } = await tx.query(
    `select command_id as "commandId", case_id as "caseId", execution_name as "executionName", requested_by as "requestedBy" from cases.command where case_id = $1`,
    [caseId],
  );
  return rows[0] as Command | undefined;
}

/** The case, out of the command that was accepted. */
export async function createCase(tx: Tx, caseId: string, executionArn: string): Promise<void> {
  const { rowCount } = await tx.query(
    `with made as (
       insert into cases.cases (case_id, tenant_id, party_name, jurisdiction, severity, requested_by, correlation_id, execution_arn, status)
       select case_id, tenant_id, party_name, jurisdiction, severity, requested_by, correlation_id, $2, 'DRAFT' from cases.command where case_id = $1
       returning case_id, requested_by
     )
     insert into cases.case_audit (case_id, version, transition, to_status, actor) select case_id, 1, 'create', 'DRAFT', requested_by from made`,
    [caseId, executionArn],
  );
  if (rowCount !== 1) throw new InvalidTransition(`no command asks for case ${caseId}`);
}

/** A case number that nobody has had: numbers of cases that came to nothing are not used again. */
export async function nextCaseNumber(tx: Tx): Promise<string> {
  const { rows } = await tx.query(
    `select 'ENF-' || to_char(now(), 'YYYY') || '-' || lpad(nextval('cases.case_number')::text, 6, '0') as number`,
  );
  return rows[0].number as string;
}

export const keepNumber = (
  tx: Tx,
  { caseId, caseNumber, reservationId }: { caseId: string; caseNumber: string; reservationId: string },
) =>
  tx.query("update cases.cases set case_number = $2, reservation_id = $3 where case_id = $1", [
    caseId,
    caseNumber,
    reservationId,
  ]);

/** The number is free of the case, which was not activated. */
export const dropNumber = (tx: Tx, caseId: string) =>
  tx.query("update cases.cases set case_number = null where case_id = $1", [caseId]);

export async function isCompetent(tx: Tx, jurisdiction: string): Promise<boolean> {
  const { rows } = await tx.query("select competent from cases.jurisdiction where code = $1", [jurisdiction]);
  return rows[0]?.competent === true;
}

// ---- the duplicate check

export const requestDuplicateCheck = (tx: Tx, caseId: string, tokenReference: string) =>
  tx.query(
    `insert into cases.duplicate_check (case_id, token_reference, status) values ($1, $2, 'PENDING')
     on conflict (case_id) do update set token_reference = excluded.token_reference, status = 'PENDING', completed_at = null`,
    [caseId, tokenReference],
  );

/** Other cases of the same party that are not over. */
export async function findDuplicates(tx: Tx, { caseId, tenantId, partyName }: CaseRow): Promise<string[]> {
  const { rows } = await tx.query(
    `select case_id from cases.cases where tenant_id = $1 and lower(party_name) = lower($2) and case_id <> $3
       and status not in ('CANCELLED', 'EXPIRED', 'REJECTED', 'JURISDICTION_REJECTED') order by case_id limit 20`,
    [tenantId, partyName, caseId],
  );
  return rows.map((row) => row.case_id as string);
}

/** Ends the check; undefined where it was ended before. */
export async function endDuplicateCheck(
  tx: Tx,
  caseId: string,
  {
    status,
    duplicates,
  }: { status: "CLEAR" | "POSSIBLE_DUPLICATE" | "FAILED"; duplicates: readonly string[] },
): Promise<{ tokenReference: string } | undefined> {
  const { rows } = await tx.query(
    `update cases.duplicate_check set status = $2, completed_at = now() where case_id = $1 and status = 'PENDING' returning token_reference as "tokenReference"`,
    [caseId, status],
  );
  if (rows.length > 0 && duplicates.length > 0)
    await tx.query("update cases.cases set duplicates = $2 where case_id = $1", [caseId, duplicates]);
  return rows[0] as { tokenReference: string } | undefined;
}

// ---- the notice

export interface Notice {
  readonly noticeId: string;
  readonly caseId: string;
  readonly deliveryStatus: "GENERATED" | "SENT" | "ACKNOWLEDGED";
  readonly providerReference: string | null;
  readonly tokenReference: string | null;
}

const noticeColumns = `notice_id as "noticeId", case_id as "caseId", delivery_status as "deliveryStatus",
  provider_reference as "providerReference", token_reference as "tokenReference"`;

export const generateNotice = (tx: Tx, { noticeId, caseId }: { noticeId: string; caseId: string }) =>
  tx.query("insert into cases.notice (notice_id, case_id, delivery_status) values ($1, $2, 'GENERATED')", [
    noticeId,
    caseId,
  ]);

export async function findNotice(tx: Tx, caseId: string): Promise<Notice | undefined> {
  const { rows } = await tx.query(`select ${noticeColumns} from cases.notice where case_id = $1`, [caseId]);
  return rows[0] as Notice | undefined;
}

/** An acknowledgement may have come before the answer of the provider: then it stays acknowledged. */
export const markSent = (tx: Tx, noticeId: string, providerReference: string) =>
  tx.query(
    `update cases.notice set provider_reference = $2, sent_at = now(),
       delivery_status = case delivery_status when 'GENERATED' then 'SENT' else delivery_status end where notice_id = $1`,
    [noticeId, providerReference],
  );

/** Leaves word who waits; answers whether the acknowledgement is there already. */
export async function awaitAcknowledgement(tx: Tx, caseId: string, tokenReference: string): Promise<boolean> {
  const { rows } = await tx.query(
    "update cases.notice set token_reference = $2 where case_id = $1 returning delivery_status",
    [caseId, tokenReference],
  );
  return rows[0]?.delivery_status === "ACKNOWLEDGED";
}

/** The notice as it is afterwards, and whether this was the first word of it; undefined where there is none. */
export async function acknowledge(
  tx: Tx,
  noticeId: string,
): Promise<(Notice & { first: boolean }) | undefined> {
  const { rows } = await tx.query(
    `update cases.notice n set delivery_status = 'ACKNOWLEDGED', acknowledged_at = coalesce(n.acknowledged_at, now())
     from (select notice_id, delivery_status from cases.notice where notice_id = $1 for update) b where n.notice_id = b.notice_id
     returning n.notice_id as "noticeId", n.case_id as "caseId", n.delivery_status as "deliveryStatus", n.provider_reference as "providerReference",
       n.token_reference as "tokenReference", b.delivery_status <> 'ACKNOWLEDGED' as first`,
    [noticeId],
  );
  return rows[0] as (Notice & { first: boolean }) | undefined;
}

export async function auditOf(tx: Tx, caseId: string) {
  const { rows } = await tx.query(
    `select version, transition, from_status as "from", to_status as "to", actor, reason, at from cases.case_audit where case_id = $1 order by version`,
    [caseId],
  );
  return rows;
}
