create table order_intake.accepted (
  order_id text primary key,
  customer_id text not null,
  status text not null default 'ACCEPTED',
  accepted_at timestamptz not null default now()
);
