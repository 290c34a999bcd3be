create table refund_request.paid (
  refund_id text primary key,
  amount integer not null,
  paid_at timestamptz not null default now()
);
