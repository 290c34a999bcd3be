// How deep queues are that live elsewhere: counted there by one process in a while, for all.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { QueueCounts } from "../contract.ts";

type Runner = Pick<Sql, "run">;

const claim = statement(
  `insert into tuntas.remote_depth as d (queue_id, counted_at) values ($1, tuntas.now())
   on conflict (queue_id) do update set counted_at = excluded.counted_at
     where d.counted_at <= excluded.counted_at - make_interval(secs => $2) returning d.queue_id`,
);

/** Whether this process is to count now. */
export const claimCount = async (sql: Runner, queueId: number, everyMs: number): Promise<boolean> =>
  (await sql.run(claim, [queueId, everyMs / 1000])).length > 0;

const write = statement(
  `update tuntas.remote_depth set ready = $2, in_flight = $3, delayed = $4, dead = $5, counted_at = tuntas.now() where queue_id = $1`,
);

export const writeCount = (
  sql: Runner,
  queueId: number,
  { ready, inFlight, delayed, dead }: QueueCounts & { readonly dead: number },
) => sql.run(write, [queueId, ready, inFlight, delayed, dead]);
