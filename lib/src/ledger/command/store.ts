import type { Runner } from "../../pg/join.ts";
import { statement } from "../../pg/database.ts";

export interface CommandName {
  readonly scope: string;
  readonly key: string;
}

export interface CommandRow {
  readonly requestHash: string;
  readonly outcome: "done" | "rejected";
  readonly result: string | null;
}

// Whoever holds the advisory lock works on the key; nobody waits for it. The table's oid keeps schemas apart. An expired
// record counts as none.
const claim = statement(
  `with slot as materialized (
     select pg_try_advisory_xact_lock(hashtextextended('command ' || 'tuntas.command'::regclass::oid || ' ' || $1::text || chr(31) || $2::text, 0)) as free
   ), claimed as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     select $1::text, $2::text, $3::text, tuntas.now(), tuntas.now() + make_interval(secs => $4::float8) from slot where free
     on conflict (scope, key) do update set request_hash = excluded.request_hash, result = null, outcome = 'done',
       created_at = excluded.created_at, expires_at = excluded.expires_at where command.expires_at <= tuntas.now()
     returning pg_current_xact_id()::text as xid
   )
   select free, (select xid from claimed) as xid from slot`,
);

export interface Claimed {
  /** Whether nobody else works on the key. */
  readonly free: boolean;
  /** The transaction that the new record belongs to; null where there was a record before. */
  readonly xid: string | null;
}

export async function claimCommand(
  tx: Runner,
  { scope, key }: CommandName,
  hash: string,
  retentionMs: number,
): Promise<Claimed> {
  return (await tx.run<Claimed & {}>(claim, [scope, key, hash, retentionMs / 1000]))[0]!;
}

const find = statement(
  `select request_hash as "requestHash", outcome, result from tuntas.command where scope = $1 and key = $2 and expires_at > tuntas.now()`,
);

/** A statement of its own, because what another transaction committed a moment ago is not in the claim's snapshot. */
export async function findCommand(tx: Runner, { scope, key }: CommandName): Promise<CommandRow | undefined> {
  return (await tx.run<CommandRow & {}>(find, [scope, key]))[0];
}

const finish = statement(
  `update tuntas.command set outcome = $3, result = $4 where scope = $1 and key = $2 and pg_current_xact_id()::text = $5 returning key`,
);

/** Stores the result; false where this is another transaction than the one that claimed. */
export async function finishCommand(
  tx: Runner,
  { scope, key }: CommandName,
  row: Pick<CommandRow, "outcome" | "result">,
  xid: string,
): Promise<boolean> {
  return (await tx.run(finish, [scope, key, row.outcome, row.result, xid])).length === 1;
}

const forget = statement(`delete from tuntas.command where scope = $1 and key = $2`);

export async function forgetCommand(tx: Runner, { scope, key }: CommandName): Promise<void> {
  await tx.run(forget, [scope, key]);
}
