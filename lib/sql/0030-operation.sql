-- Governed acts by a person upon many things: who, why, which, how fast, how far, and what became of each.
create table tuntas.operation (
  id bigint generated always as identity primary key,
  -- What makes a repeated request the same operation.
  key text not null unique,
  kind text not null,
  -- JSON text of what was asked for, and of what it came to, with its end in time.
  request text not null,
  selection text not null,
  actor text not null,
  reason text not null,
  state text not null
    check (state in ('awaiting_approval', 'running', 'paused', 'completed', 'aborted', 'declined', 'failed')),
  -- How many things were selected when it was asked for.
  selected bigint not null,
  per_second integer check (per_second > 0),
  decided_by text,
  asked_at timestamptz not null,
  ended_at timestamptz,
  -- The last item that has a result; the next slice comes after it.
  cursor text,
  failure text,
  -- Who carries it out, until when, and what a late one no longer holds.
  owner_id bigint,
  lease_until timestamptz,
  fence bigint not null default 0
) with (fillfactor = 70);
create index operation_running on tuntas.operation (id) where state = 'running';

-- What became of each thing, written in the commit that did it.
create table tuntas.operation_item (
  operation_id bigint not null references tuntas.operation on delete cascade,
  -- In the order in which they were done.
  number bigint not null,
  item text not null,
  outcome text not null check (outcome in ('done', 'refused', 'skipped')),
  -- How many things it stands for.
  weight bigint not null default 1,
  reason text,
  at timestamptz not null,
  primary key (operation_id, number)
);
