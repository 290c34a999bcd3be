// Which process works on which queue.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

export interface Consumer {
  readonly queueId: number;
  /** Handlers that run at once in this process. */
  readonly concurrency: number;
  /** Handlers that run at once in all processes together; null where there is no cap. */
  readonly globalConcurrency: number | null;
  /** The limits that it declares a tenant, as JSON. */
  readonly tenants: string | null;
}

const insert = statement(
  `insert into tuntas.consumer (process_id, queue_id, concurrency, global_concurrency, tenants)
   select $1, u.* from unnest($2::int[], $3::int[], $4::int[], $5::text[]) as u(queue_id, concurrency, global_concurrency, tenants)
   on conflict (process_id, queue_id) do update
     set concurrency = excluded.concurrency, global_concurrency = excluded.global_concurrency, tenants = excluded.tenants`,
);

/** Notes what this process works on; the rows go with the process's own. */
export const insertConsumers = (sql: Pick<Sql, "run">, processId: string, consumers: readonly Consumer[]) =>
  sql.run(insert, [
    processId,
    consumers.map((consumer) => consumer.queueId),
    consumers.map((consumer) => consumer.concurrency),
    consumers.map((consumer) => consumer.globalConcurrency),
    consumers.map((consumer) => consumer.tenants),
  ]);
