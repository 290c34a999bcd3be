-- An order as its customer sees it. Only what is final is written: ACCEPTED by the API, the end by the worker. That a
-- worker has it, or that it failed for good, is where its message is, and is read there.
create table orders.orders (
  order_id text primary key,
  customer_id text not null,
  correlation_id text not null,
  status text not null check (status in ('ACCEPTED', 'COMPLETED', 'REJECTED')),
  accepted_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((status = 'ACCEPTED') = (ended_at is null))
) with (fillfactor = 60);

-- The business rule: orders of these customers are rejected.
create table orders.blocked_customer (
  customer_id text primary key,
  reason text not null,
  blocked_at timestamptz not null default now()
);
