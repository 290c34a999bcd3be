// What became of messages, for who sent them and waits: ended, or beyond what the queue does by itself.
import type { Fate } from "../../engine/destination.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";
import type { Scope } from "../contract.ts";

/** SQL: the message has ended. A dead letter has not; `readFates` knows of it. */
export const isGone = (number: string): string =>
  `(select m.id from tuntas.message m where m.id = (${number})::bigint) is null`;

// A dead letter lies in the dead-letter queue of its queue, wherever there.
const fates = statement(
  `with d as materialized (
     select d.id from tuntas.queue s join tuntas.queue d on d.account = s.account and d.region = s.region and d.name = s.dead_letter_name
     where s.account = $1 and s.region = $2 and s.name = $3
   ), dead as materialized (
     select r.id from d join tuntas.ready r on r.queue_id = d.id where r.id = any($4::bigint[])
     union all select h.id from d join tuntas.held h on h.queue_id = d.id where h.id = any($4::bigint[])
     union all select l.id from d join tuntas.delayed l on l.queue_id = d.id where l.id = any($4::bigint[])
   )
   select u.id::text as reference, case when coalesce(z.id, x.id, dead.id) is null then 'succeeded' else 'failed' end as state,
     coalesce('quarantined: ' || z.message, 'rejected: ' || x.reason, case when dead.id is not null then concat_ws(': ', 'dead letter', f.message) end) as reason
   from unnest($4::bigint[]) as u(id) left join tuntas.message m on m.id = u.id left join tuntas.quarantine z on z.id = u.id
     left join tuntas.rejection x on x.id = u.id left join dead on dead.id = u.id left join tuntas.failure f on f.id = u.id
   where m.id is null or z.id is not null or dead.id is not null`,
);

/** The fates of those messages of the queue that have one. What was purged counts as done: nobody has anything left to do. */
export const readFates = (
  sql: Runner,
  { scope, name }: { readonly scope: Scope; readonly name: string },
  numbers: readonly string[],
): Promise<Fate[]> => sql.run<Fate & {}>(fates, [scope.account, scope.region, name, numbers]);
