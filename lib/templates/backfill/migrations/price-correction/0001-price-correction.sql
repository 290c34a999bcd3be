create table price_correction.invoice (
  id bigint primary key,
  shop text not null,
  issued_at timestamptz not null,
  cents integer not null,
  fee integer not null,
  status text not null
);
create index on price_correction.invoice (shop, issued_at, id);
