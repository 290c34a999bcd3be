create table order_history.status (
  order_id text primary key,
  status text not null,
  events integer not null default 1
);
