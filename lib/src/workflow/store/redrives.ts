// Which redrives were asked for by which client's token, so that the same request again is the same redrive.
import { createHash } from "node:crypto";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";

type Runner = Pick<Sql | Tx, "run">;

const keyOf = (executionId: string, clientToken: string): string => `${executionId}/${clientToken}`;
const hashOf = (executionId: string): string => createHash("sha256").update(executionId).digest("hex");

const record = statement(
  `insert into tuntas.command (scope, key, request_hash, outcome, created_at, expires_at)
   values ('redrive', $1, $2, 'done', tuntas.now(), tuntas.now() + interval '15 minutes')
   on conflict (scope, key) do update set created_at = excluded.created_at, expires_at = excluded.expires_at`,
);
/** Belongs into the redrive's own transaction. The service remembers a token for 15 minutes. */
export const recordRedrive = (tx: Runner, executionId: string, clientToken: string) =>
  tx.run(record, [keyOf(executionId, clientToken), hashOf(executionId)]);

const find = statement(
  `select ${ms("created_at")} as "atMs" from tuntas.command
   where scope = 'redrive' and key = $1 and expires_at > tuntas.now()`,
);
/** When the token redrove the execution; undefined where it did not, or too long ago. */
export async function findRedrive(
  sql: Runner,
  executionId: string,
  clientToken: string,
): Promise<number | undefined> {
  return (await sql.run<{ atMs: number }>(find, [keyOf(executionId, clientToken)]))[0]?.atMs;
}
