-- What is to be announced, written with the change itself. A row here waits (or is parked); a row in outbox_published
-- has been taken by its target. Rows are claimed one by one, never by a high-water mark: commits overtake each other.
create table tuntas.outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  target_kind text not null,
  target_name text not null,
  -- Rows of one target and key are published in their order; null has none.
  key text,
  type text,
  payload text not null,
  created_at timestamptz not null,
  due_at timestamptz not null,
  refusals integer not null default 0,
  claimed_by bigint,
  claimed_until timestamptz,
  fence bigint,
  failure_code text,
  failure_message text,
  parked_at timestamptz
);
create index outbox_waiting on tuntas.outbox (target_kind, target_name, id) where parked_at is null;
-- The few rows that keep their key back: on their way, or waiting for another try.
create index outbox_holding on tuntas.outbox (target_kind, target_name)
  where parked_at is null and (claimed_until is not null or failure_code is not null);
create index outbox_parked on tuntas.outbox (target_kind, target_name, id) where parked_at is not null;

create table tuntas.outbox_published (
  id bigint primary key,
  event_id uuid not null,
  target_kind text not null,
  target_name text not null,
  key text,
  type text,
  created_at timestamptz not null,
  published_at timestamptz not null,
  duplicate boolean not null,
  reference text
);
create index outbox_published_at on tuntas.outbox_published (published_at);

-- Starts of workflows, kept beside the execution's name, which is no audit record.
create table tuntas.workflow_start (
  command_id text primary key,
  pattern text not null check (pattern in ('A', 'B', 'C')),
  workflow text not null,
  execution_name text not null,
  input text not null,
  state text not null check (state in ('requested', 'started', 'manual')),
  execution_arn text,
  created_at timestamptz not null,
  started_at timestamptz,
  failure_message text,
  unique (workflow, execution_name),
  check ((state = 'started') = (started_at is not null))
);
create index workflow_start_missing on tuntas.workflow_start (created_at) where state = 'requested';
