-- Alarms. What code declares is kept here, so that whichever process evaluates and delivers knows it while the
-- declaring one is down. The shipped alarms have no row.
create table tuntas.alarm (
  name text primary key,
  -- JSON text of the declaration.
  definition text not null,
  declared_by text not null,
  declared_at timestamptz not null
);

-- One row for each thing that an alarm watches: a queue, a workflow. A thing that was never in alarm has none.
create table tuntas.alarm_state (
  name text not null,
  subject text not null,
  state text not null check (state in ('OK', 'ALARM', 'INSUFFICIENT_DATA')),
  since timestamptz not null,
  value float8,
  reason text not null,
  primary key (name, subject)
) with (fillfactor = 80);
create index alarm_state_firing on tuntas.alarm_state (since) where state = 'ALARM';

create table tuntas.alarm_history (
  id bigint generated always as identity primary key,
  name text not null,
  subject text not null,
  previous text not null,
  state text not null,
  at timestamptz not null,
  value float8,
  reason text not null,
  -- True where a person tried the way of the notification.
  test boolean not null default false
);
create index alarm_history_name on tuntas.alarm_history (name, subject, id);
create index alarm_history_at on tuntas.alarm_history (at);
