// What an execution has left in the tables of the rooms below, by its ARN, its name and its domain row's key.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { ExecutionRecord } from "../contract.ts";
import { stepIn } from "../store/events.ts";
import type { CommandFact, EffectFact, OutboxFact, ReservationFact } from "./contract.ts";

const rowsMax = 200;

const steps = statement(
  `select visit, events from tuntas.execution_history where execution_id = $1::bigint and visit is not null order by seq limit ${rowsMax}`,
);

/** Steps of the execution that wrote and were done, with their results; a visit's key is what its handler had. */
export async function commandsOf(sql: Runner, { id, arn }: ExecutionRecord): Promise<CommandFact[]> {
  const rows = await sql.run<{ visit: string; events: string }>(steps, [id]);
  return rows.map(({ visit, events }) => {
    const { result, atMs } = stepIn(events);
    return { key: `${arn}/${visit}`, outcome: "done", result, createdAtMs: atMs };
  });
}

const outbox = statement(
  `select id::text, target_kind || ' ' || target_name as target, key, type, failure_message as failure, ${ms("created_at")} as "createdAtMs",
     case when parked_at is null then 'waiting' else 'parked' end as state from tuntas.outbox where key = any($1::text[])
   union all
   (select id::text, target_kind || ' ' || target_name, key, type, null, ${ms("created_at")}, 'published'
    from tuntas.outbox_published where key = any($1::text[]) order by published_at desc limit ${rowsMax})
   order by 6`,
);

export const outboxOf = (sql: Runner, keys: readonly string[]) => sql.run<OutboxFact & {}>(outbox, [keys]);

const effects = statement(
  `select id::text, provider, operation, key, state, final, deadline <= tuntas.now() as overdue, reference, calls
   from tuntas.side_effect where caller = any($1::text[]) or subject = any($1::text[]) order by side_effect.id limit ${rowsMax}`,
);

export const effectsOf = (sql: Runner, keys: readonly string[]) => sql.run<EffectFact & {}>(effects, [keys]);

const reservations = statement(
  `select id::text, kind, resource, holder, ${ms("expires_at")} as "expiresAtMs",
     case when state = 'reserved' and expires_at <= tuntas.now() then 'expired' else state end as state
   from tuntas.reservation where holder = any($1::text[]) order by created_at limit ${rowsMax}`,
);

export const reservationsOf = (sql: Runner, holders: readonly string[]) =>
  sql.run<ReservationFact & {}>(reservations, [holders]);
