-- What one process of all does for all of them, such as sampling. Whoever holds a duty holds it as long as it lives.
create table tuntas.duty (
  name text primary key,
  -- Null after its holder ended in order.
  process_id bigint,
  since timestamptz not null,
  ended_at timestamptz
);

-- Figures over time, bounded: a series is a metric with its labels, a point what was seen of it in one bucket. A gauge
-- has a point only where it changed: it holds until the next one, save where a mark says that nobody looked.
create table tuntas.series (
  id bigint generated always as identity primary key,
  name text not null,
  -- JSON text with sorted keys: {"queue":"order-work"}
  labels text not null,
  kind text not null check (kind in ('gauge', 'counter')),
  created_at timestamptz not null,
  unique (name, labels)
);

-- One row a bucket of each width: 10 s kept for an hour, a minute for a day, a quarter for 15 days. Points only add up,
-- so any process may add to a bucket at any time.
create table tuntas.series_point (
  series_id bigint not null,
  width_seconds integer not null,
  at timestamptz not null,
  samples integer not null,
  total float8 not null,
  least float8 not null,
  greatest float8 not null,
  latest float8 not null,
  primary key (series_id, width_seconds, at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.1);
create index series_point_age on tuntas.series_point (width_seconds, at);

-- What happened beside the figures: a deployment, a change of configuration, a time in which nobody looked.
create table tuntas.series_mark (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('deployment', 'configuration', 'gap')),
  at timestamptz not null,
  -- The end of a gap.
  until timestamptz,
  subject text not null,
  text text not null,
  actor text
);
create index series_mark_at on tuntas.series_mark (at);

-- Changes of configuration are marks too, read from the record.
create index audit_at on tuntas.audit (at);
