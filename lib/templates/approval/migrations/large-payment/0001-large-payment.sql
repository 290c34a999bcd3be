create table large_payment.decision (
  payment_id text primary key,
  status text not null,
  decided_at timestamptz not null default now()
);
