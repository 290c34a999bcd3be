// Targets of announcements as a place where a room above begins work: it ends when the target has taken the announcement.
import type { Destination, Fate } from "../engine/destination.ts";
import { statement } from "../pg/database.ts";
import { add } from "./client.ts";

const fates = statement(
  `select u.id::text as reference, case when o.id is null then 'succeeded' else 'failed' end as state,
     case when o.id is not null then concat_ws(': ', 'parked', o.failure_code, o.failure_message) end as reason
   from unnest($1::bigint[]) as u(id) left join tuntas.outbox o on o.id = u.id where o.id is null or o.parked_at is not null`,
);

export const outboxDestination: Destination = {
  begin: async (tx, { target, group, input }) =>
    (await add(tx, { target, key: group, type: "Scheduled", payload: input })).id,
  hasEnded: (id) => `(select w.id from tuntas.outbox w where w.id = (${id})::bigint) is null`,
  fates: (sql, _, ids) => sql.run<Fate & {}>(fates, [ids]),
};
