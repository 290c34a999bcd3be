create schema if not exists statements;

create table if not exists statements.purchase (
  customer_id text not null,
  at timestamptz not null,
  cents bigint not null
);

-- One a customer and night. The window is its key, so a window that is run again puts its statements right.
create table if not exists statements.statement (
  customer_id text not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  purchases integer not null,
  cents bigint not null,
  primary key (customer_id, window_end)
);

create table if not exists statements.cart (
  cart_id text primary key,
  touched_at timestamptz not null
);
