create table parcel_label.label (
  parcel_id text primary key,
  country text not null,
  made_at timestamptz not null default now()
);
