// Who did what to which thing, and why: one row an act, written in the transaction of the act.
import type { Sql, Tx } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

export interface AuditEntry {
  readonly actor: string;
  /** The room's noun and the verb, such as `outbox.discard`. */
  readonly action: string;
  readonly subject: string;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const insert = statement(
  `insert into tuntas.audit (at, actor, action, subject, reason, details) values (tuntas.now(), $1, $2, $3, $4, $5) returning id::text`,
);

/** Writes the row of an act, and answers its id. */
export async function writeAudit(sql: Pick<Sql | Tx, "run">, entry: AuditEntry): Promise<string> {
  const { actor, action, subject, reason, details } = entry;
  return (
    await sql.run<{ id: string }>(insert, [actor, action, subject, reason, JSON.stringify(details)])
  )[0]!.id;
}
