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

/** What a look at the key found, in one round trip. */
export interface Look {
  /** Whether this transaction is now the one that works on the key, until it ends. */
  readonly free: boolean;
  /** When the transaction began, the same in all its statements and in no other's. */
  readonly begun: string;
  readonly row: CommandRow | undefined;
}

// Whoever holds the advisory lock works on the key; nobody waits for it. The table's oid keeps schemas apart.
const look = statement(
  `select pg_try_advisory_xact_lock(hashtextextended('command ' || 'tuntas.command'::regclass::oid || ' ' || $1::text || chr(31) || $2::text, 0)) as free,
     extract(epoch from pg_catalog.now())::text as begun, c.request_hash as "requestHash", c.outcome, c.result
   from (select 1) one left join tuntas.command c on c.scope = $1 and c.key = $2 and c.expires_at > tuntas.now()`,
);

type LookRow = Pick<Look, "free" | "begun"> & { requestHash: string | null } & Pick<
    CommandRow,
    "outcome" | "result"
  >;

/** Tries for the key and looks for its record. */
export async function lookAt(tx: Runner, { scope, key }: CommandName): Promise<Look> {
  const [{ free, begun, requestHash, outcome, result }] = (await tx.run<LookRow>(look, [scope, key])) as [
    LookRow,
  ];
  return { free, begun, row: requestHash === null ? undefined : { requestHash, outcome, result } };
}

// An expired record counts as none. Where a record was committed between look and lock, division_by_zero fails the
// transaction, so that what its function did cannot be committed by mistake. Where the transaction has changed since the look, nothing is written.
const write = statement(
  `with same as materialized (select extract(epoch from pg_catalog.now())::text = $7::text as tx), written as (
     insert into tuntas.command (scope, key, request_hash, outcome, result, created_at, expires_at)
     select $1, $2, $3, $4, $5, tuntas.now(), tuntas.now() + make_interval(secs => $6::float8) from same where tx
     on conflict (scope, key) do update set request_hash = excluded.request_hash, outcome = excluded.outcome, result = excluded.result,
       created_at = excluded.created_at, expires_at = excluded.expires_at where command.expires_at <= tuntas.now()
     returning key
   )
   select tx as "sameTransaction", case when tx then 1 / (select count(*)::int from written) end as written from same`,
);

export type Written = "written" | "taken" | "another transaction";

export interface NewCommand extends CommandName, CommandRow {
  readonly retentionMs: number;
  readonly begun: string;
}

const divisionByZero = "22012";

/** Writes the record with its result, once. */
export async function writeCommand(tx: Runner, command: NewCommand): Promise<Written> {
  const { scope, key, requestHash, outcome, result, retentionMs, begun } = command;
  const values = [scope, key, requestHash, outcome, result, retentionMs / 1000, begun];
  try {
    const [row] = await tx.run<{ sameTransaction: boolean }>(write, values);
    return row!.sameTransaction ? "written" : "another transaction";
  } catch (cause) {
    if ((cause as { code?: unknown }).code === divisionByZero) return "taken";
    throw cause;
  }
}
