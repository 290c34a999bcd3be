// Who did what to which thing, and why.
import type { AuditEntry } from "../../engine/audit.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

type Runner = Pick<Sql | Tx, "run">;

export { writeAudit, type AuditEntry } from "../../engine/audit.ts";

export interface AuditRow extends AuditEntry {
  readonly id: string;
  readonly atMs: number;
}

// A look-up by a person, of one thing: it may read the table.
const mentions = statement(
  `select id::text, date_part('epoch', at) * 1000 as "atMs", actor, action, subject, reason, details::jsonb as details
   from tuntas.audit where details like '%' || $1 || '%' order by audit.id limit 100`,
);

/** What was done to this message. */
export const findMentions = (sql: Runner, messageId: string): Promise<AuditRow[]> =>
  sql.run(mentions, [messageId]) as Promise<AuditRow[]>;
