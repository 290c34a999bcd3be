// What programs ask of queues all day, bounded on purpose: where the message of a group is, and what is left.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Scope } from "../contract.ts";

/** Counts go no further than this, so that asking costs the same however deep a queue is. */
export const depthMax = 100_000;

/** Where a message is. `dead` is its queue's dead-letter queue, in whatever state it is there. */
export type Place = "in_flight" | "delayed" | "ready" | "dead" | "quarantined";

export interface Whereabouts {
  readonly place: Place;
  readonly receives: number;
}

/** The queue of which that holds, as `q`, with its dead-letter queue. */
const withDeadLetters = (condition: string): string =>
  `with q as materialized (
     select q.id, d.id as dead_letter_id from tuntas.queue q
       left join tuntas.queue d on d.account = q.account and d.region = q.region and d.name = q.dead_letter_name
     where ${condition}
   )`;

const locate = statement(
  `${withDeadLetters("q.id = $1")}
   select place, receives from (
     select 1 as rank, 'in_flight' as place, t.receives from q join tuntas.held t on t.queue_id = q.id and t.group_id = $2
     union all select 2, 'ready', t.receives from q join tuntas.ready t on t.queue_id = q.id and t.group_id = $2
     union all select 3, 'delayed', t.receives from q join tuntas.delayed t on t.queue_id = q.id and t.group_id = $2
     union all select 4, 'dead', t.receives from q join tuntas.ready t on t.queue_id = q.dead_letter_id and t.group_id = $2
     union all select 5, 'dead', t.receives from q join tuntas.held t on t.queue_id = q.dead_letter_id and t.group_id = $2
     union all select 6, 'dead', t.receives from q join tuntas.delayed t on t.queue_id = q.dead_letter_id and t.group_id = $2
     union all select 7, 'quarantined', t.receives from q join tuntas.quarantine t on t.queue_id = q.id and t.group_id = $2
   ) l order by rank limit 1`,
);

/** Where a message of the group is, the one that is furthest; undefined where the queue has none. */
export const locateGroup = async (
  sql: Pick<Sql, "run">,
  queueId: number,
  groupId: string,
): Promise<Whereabouts | undefined> =>
  (await sql.run(locate, [queueId, groupId]))[0] as Whereabouts | undefined;

const arm = (place: string, table: string, at: string) =>
  `select '${place}' as place from q join tuntas.${table} t on t.queue_id = q.${at} where ($4::bigint is null or t.id <= $4)${at === "id" ? "" : " and t.source_queue_id = q.id"}`;

const left = statement(
  `${withDeadLetters("q.account = $1 and q.region = $2 and q.name = $3")}
   select place, count(*)::float8 as count from (
     select place from (${[
       ...["ready", "held", "delayed"].flatMap((table) => [
         arm(table === "held" ? "in_flight" : table, table, "id"),
         arm("dead", table, "dead_letter_id"),
       ]),
       arm("quarantined", "quarantine", "id"),
     ].join(" union all ")}) each limit ${depthMax}) l group by place order by place`,
);

/** Messages of a queue up to this id, or all of them, by where they are; nothing where there is no such queue. */
export const countLeft = (
  sql: Pick<Sql, "run">,
  { account, region }: Scope,
  { name, through }: { readonly name: string; readonly through: string | null },
): Promise<{ place: Place; count: number }[]> => sql.run(left, [account, region, name, through]);

const lastId = statement(
  "select coalesce(pg_sequence_last_value('tuntas.message_id_seq'::regclass), 0)::text as id",
);

/** The id of the message that was made last, on this database. */
export const readLastId = async (sql: Pick<Sql, "run">): Promise<string> =>
  (await sql.run<{ id: string }>(lastId))[0]!.id;
