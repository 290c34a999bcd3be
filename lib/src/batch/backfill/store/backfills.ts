// The statements about backfills as they are declared, and when they may run.
import { statement } from "../../../pg/database.ts";
import type { Runner } from "../../../pg/join.ts";
import type { BackfillReport, OffPeak, Policy } from "../contract.ts";
import type { BackfillSettings } from "../declaration.ts";

const upsert = statement(
  `insert into tuntas.backfill (name, per_second, window_from, window_to, time_zone, policy, owner, runbook)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (name) do update set per_second = excluded.per_second, window_from = excluded.window_from,
     window_to = excluded.window_to, time_zone = excluded.time_zone, policy = excluded.policy, owner = excluded.owner,
     runbook = excluded.runbook`,
);

export const keepBackfill = (sql: Runner, of: BackfillSettings) =>
  sql.run(upsert, [
    of.name,
    of.perSecond,
    of.window?.from ?? null,
    of.window?.to ?? null,
    of.window?.timeZone ?? null,
    JSON.stringify(of.policy),
    of.owner,
    of.runbook,
  ]);

const read = statement(
  `select name, per_second as "perSecond", to_char(window_from, 'HH24:MI') as "from", to_char(window_to, 'HH24:MI') as "to",
     time_zone as "timeZone", policy, owner, runbook
   from tuntas.backfill where $1::text is null or name = $1 order by name`,
);

type BackfillRow = Omit<BackfillReport, "window" | "policy"> & {
  readonly [Field in keyof OffPeak]: string | null;
} & { readonly policy: string };

export async function readBackfills(sql: Runner, name: string | null): Promise<BackfillReport[]> {
  const rows = await sql.run<BackfillRow & {}>(read, [name]);
  return rows.map(({ from, to, timeZone, policy, ...rest }) => ({
    ...rest,
    window: from === null ? "any" : { from, to: to!, timeZone: timeZone! },
    policy: JSON.parse(policy) as Policy,
  }));
}

const local = `(tuntas.now() at time zone b.time_zone)::time`;

/** SQL: whether the backfill `b` may run now. */
export const isOpen = `(b.time_zone is null or case when b.window_from < b.window_to
  then ${local} >= b.window_from and ${local} < b.window_to else ${local} >= b.window_from or ${local} < b.window_to end)`;
