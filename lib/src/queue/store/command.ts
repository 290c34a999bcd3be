// Command records: what was done under which key. One is written in the transaction that does the work.
import type { Sql, Statement, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

type Runner = Pick<Sql | Tx, "run">;

/** What a command record needs to know of a message that is done. */
export interface CommandKey {
  readonly scope: string;
  readonly key: string;
  readonly requestHash: string;
  readonly retentionSeconds: number;
}

const record = statement(
  `with kept as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     values ($1, $2, $3, tuntas.now(), tuntas.now() + make_interval(secs => $4)) on conflict (scope, key) do nothing returning 1
   ) select 1 / (select count(*) from kept) as recorded`,
);

/**
 * The command record of a handler's transaction. It raises division_by_zero where the key has one already, so that what
 * was sent right behind it does not run.
 */
export const commandRecord = ({
  scope,
  key,
  requestHash,
  retentionSeconds,
}: CommandKey): { statement: Statement; values: unknown[] } => ({
  statement: record,
  values: [scope, key, requestHash, retentionSeconds],
});

const recordEach = statement(
  `with kept as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     select scope, key, request_hash, tuntas.now(), tuntas.now() + make_interval(secs => retention)
     from unnest($1::text[], $2::text[], $3::text[], $4::int[]) as u(scope, key, request_hash, retention)
     order by scope, key on conflict (scope, key) do nothing returning 1
   ) select 1 / (select count(*) = cardinality($2::text[]) from kept)::int as recorded`,
);

/** The command records of many: all, or it raises division_by_zero. */
export const recordAll = (keys: readonly CommandKey[]): { statement: Statement; values: unknown[] } => ({
  statement: recordEach,
  values: [
    keys.map((key) => key.scope),
    keys.map((key) => key.key),
    keys.map((key) => key.requestHash),
    keys.map((key) => key.retentionSeconds),
  ],
});

const known = statement(
  `select key, request_hash as "requestHash" from tuntas.command where scope = $1 and key = any($2::text[])`,
);

/** Which of these keys have a command record, with its request hash. */
export async function findCommands(
  sql: Runner,
  scope: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.run<{ key: string; requestHash: string }>(known, [scope, keys]);
  return new Map(rows.map((row) => [row.key, row.requestHash]));
}
