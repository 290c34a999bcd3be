-- A version of a file, from the notice of it to its end.
create table intake.file (
  file_id bigint generated always as identity primary key,
  bucket text not null,
  key text not null,
  version text not null,
  bytes bigint not null,
  state text not null default 'RECEIVED' check (state in ('RECEIVED', 'PROCESSING', 'DONE', 'QUARANTINED')),
  stage text, -- where it is, or where it failed
  bytes_done bigint not null default 0, -- of that stage
  failure text, -- the code and the reason
  output text, -- where the result stands
  output_sha256 text,
  payments bigint,
  received_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (bucket, key, version)
);

-- What a file came to: the record that others work with.
create table intake.total (
  file_id bigint not null references intake.file,
  currency text not null,
  payments bigint not null,
  cents numeric not null,
  primary key (file_id, currency)
);
