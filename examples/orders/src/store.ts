// The SQL of this application, one function a step.
import type { Context, Database, Queryable } from "tuntas";
import type { RequestTx } from "tuntas/fastify";

export interface Order {
  readonly orderId: string;
  readonly customerId: string;
  readonly correlationId: string;
}

export interface OrderRow {
  readonly orderId: string;
  readonly customerId: string;
  readonly status: "ACCEPTED" | "COMPLETED" | "REJECTED";
}

/** The API's step: the orders exist. */
export const acceptOrders = (tx: Pick<Queryable, "query">, orders: readonly Order[]) =>
  tx.query(
    `insert into orders.orders (order_id, customer_id, correlation_id, status)
     select *, 'ACCEPTED' from unnest($1::text[], $2::text[], $3::text[])`,
    [
      orders.map((order) => order.orderId),
      orders.map((order) => order.customerId),
      orders.map((order) => order.correlationId),
    ],
  );

/** The worker's step: the order ends, once. One that came as a message alone, from another sender, is made here. */
export function endOrder(context: Context, { orderId, customerId, correlationId }: Order): void {
  context.write(
    `insert into orders.orders as o (order_id, customer_id, correlation_id, status, ended_at)
     select $1, $2, $3, case when exists (select from orders.blocked_customer where customer_id = $2) then 'REJECTED' else 'COMPLETED' end, now()
     on conflict (order_id) do update set status = excluded.status, ended_at = excluded.ended_at where o.status = 'ACCEPTED'`,
    [orderId, customerId, correlationId],
  );
}

export async function findOrder(database: Database, orderId: string): Promise<OrderRow | undefined> {
  const text = `select order_id as "orderId", customer_id as "customerId", status from orders.orders where order_id = $1`;
  const { rows } = await database.query(text, [orderId]);
  return rows[0] as OrderRow | undefined;
}

export const blockCustomer = (tx: RequestTx, customerId: string, reason: string) =>
  tx.query(
    `insert into orders.blocked_customer (customer_id, reason) values ($1, $2) on conflict (customer_id) do update set reason = excluded.reason`,
    [customerId, reason],
  );
