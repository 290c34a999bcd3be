// A duty: what one process of all does for all of them. Whoever holds it keeps it while it lives; whoever notices a
// death ends the dead one's duties, and whoever ends in order leaves them. Then the others try to take them.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";

export interface Taken {
  /** Until when the one before did it; null where there was none. */
  readonly untilMs: number | null;
}

// Whoever asks does not have it, whatever is said: the answer of an earlier taking was lost, or it could not begin.
const another = `p.id = d.process_id and p.id <> $2 and p.expires_at > tuntas.now()`;

// A look first: an insert that changes nothing would still lock the row and write.
const freeText = statement(
  `select 1 from (select $1::text as name) n left join tuntas.duty d on d.name = n.name left join tuntas.process p on ${another}
   where p.id is null`,
);

// Of a holder that somebody forgot without ending its duties nothing is known but that its lease is over; one that did not
// know that it was one has done nothing since it became it.
const takeText = statement(
  `with before as materialized (
     select coalesce(d.ended_at, case when d.process_id = $2 then d.since end) as ended_at, o.heartbeat_at,
       exists (select from tuntas.process p where ${another}) as alive
     from tuntas.duty d left join tuntas.process o on o.id = d.process_id where d.name = $1 for update of d
   ), taken as (
     insert into tuntas.duty as d (name, process_id, since) select $1, $2, tuntas.now() where not exists (select from before where alive)
     on conflict (name) do update set process_id = $2, since = tuntas.now(), ended_at = null
       where exists (select from before where not alive)
     returning 1
   )
   select (select ${ms("coalesce(ended_at, heartbeat_at, tuntas.now() - interval '15 seconds')")} from before) as "untilMs"
   from taken`,
);

/** Takes the duty where nobody else alive has it; undefined where somebody has. */
export async function takeDuty(
  sql: Pick<Sql, "run">,
  name: string,
  processId: string,
): Promise<Taken | undefined> {
  if ((await sql.run(freeText, [name, processId])).length === 0) return undefined;
  return (await sql.run<Taken & {}>(takeText, [name, processId]))[0];
}

const holdText = statement("select 1 from tuntas.duty where name = $1 and process_id = $2");

/** Whether it is still this process's: whoever was taken for dead has lost it. */
export const holdsDuty = async (sql: Pick<Sql, "run">, name: string, processId: string): Promise<boolean> =>
  (await sql.run(holdText, [name, processId])).length > 0;

const leaveText = statement(
  `update tuntas.duty set process_id = null, ended_at = tuntas.now() where name = $1 and process_id = $2`,
);

export const leaveDuty = (sql: Sql, name: string, processId: string) => sql.run(leaveText, [name, processId]);

const endText = statement(
  `update tuntas.duty d set process_id = null, ended_at = coalesce(
     (select p.heartbeat_at from tuntas.process p where p.id = d.process_id), tuntas.now()) where d.process_id = any($1::bigint[])`,
);

/** Ends the duties of dead processes with their last heartbeat; call it before they are forgotten. */
export const endDuties = (sql: Pick<Sql, "run">, processIds: readonly string[]) =>
  sql.run(endText, [processIds]);
