-- What is reported about. Rows are only ever added, so that those up to an id are the same whenever one looks.
create table export.payment (
  id bigint generated always as identity primary key,
  customer text not null,
  cents integer not null
);

create table export.request (
  export_id uuid primary key,
  requested_by text not null,
  status text not null default 'REQUESTED' check (status in ('REQUESTED', 'EXPORTING', 'READY', 'FAILED')),
  up_to bigint not null, -- the last payment of this report
  manifest text, -- the file that names all others
  failure text,
  created_at timestamptz not null default now(),
  completed_at timestamptz
);

create table export.chunk (
  export_id uuid not null references export.request,
  chunk integer not null,
  after bigint not null,
  up_to bigint not null,
  file text,
  row_count integer,
  primary key (export_id, chunk)
);
