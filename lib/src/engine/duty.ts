// A duty: what one process of all does for all of them. Whoever holds it keeps it while it lives; when it dies, whoever
// notices takes it; when it ends in order, it leaves the duty and the others hear of it.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

export interface Taken {
  /** Until when the one before did it; null where there was none. */
  readonly untilMs: number | null;
}

// A look first: an insert that changes nothing would still lock the row and write.
const freeText = statement(
  `select 1 from (select $1::text as name) n left join tuntas.duty d on d.name = n.name
     left join tuntas.process p on p.id = d.process_id and p.expires_at > tuntas.now() and p.id <> all($2::bigint[])
   where p.id is null`,
);

const takeText = statement(
  `with before as materialized (
     select d.process_id, d.ended_at, p.heartbeat_at, p.id is not null and p.expires_at > tuntas.now() and p.id <> all($3::bigint[]) as alive
     from tuntas.duty d left join tuntas.process p on p.id = d.process_id where d.name = $1 for update of d
   ), taken as (
     insert into tuntas.duty as d (name, process_id, since) select $1, $2, tuntas.now() where not exists (select from before where alive)
     on conflict (name) do update set process_id = $2, since = tuntas.now(), ended_at = null
       where exists (select from before where not alive)
     returning 1
   )
   select (select extract(epoch from coalesce(ended_at, heartbeat_at, tuntas.now() - interval '15 seconds'))::float8 * 1000 from before) as "untilMs"
   from taken`,
);

/** Takes the duty where nobody alive has it; undefined where somebody has. `dead` are known to be so before their lease is over. */
export async function takeDuty(
  sql: Sql,
  name: string,
  { processId, dead }: { readonly processId: string; readonly dead: readonly string[] },
): Promise<Taken | undefined> {
  if ((await sql.run(freeText, [name, dead])).length === 0) return undefined;
  return (await sql.run<Taken & {}>(takeText, [name, processId, dead]))[0];
}

const leaveText = statement(
  `update tuntas.duty set process_id = null, ended_at = tuntas.now() where name = $1 and process_id = $2`,
);

export const leaveDuty = (sql: Sql, name: string, processId: string) =>
  sql.run(leaveText, [name, processId]);
