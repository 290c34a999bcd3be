-- Schedules and their occurrences. An occurrence is one due instant: its row is written in the transaction that sends its
-- message or starts its execution, and moves the schedule on, so that it is there once, with its work, or not at all.
create table tuntas.schedule (
  name text primary key,
  expression text not null,
  time_zone text not null,
  target_kind text not null,
  target_name text not null,
  -- What is given to the work beside the window, as JSON text of an object.
  input text not null,
  overlap text not null check (overlap in ('skip', 'allow', 'queue')),
  -- What becomes of occurrences that nobody was there for, and how old they may be.
  catch_up text not null check (catch_up in ('skip', 'latest', 'all')),
  catch_up_within interval not null,
  succeeds_within interval not null,
  retention interval not null,
  owner text not null,
  runbook text not null,
  -- What a rate counts from.
  anchor timestamptz not null,
  -- Where the window of the next occurrence begins.
  covered_until timestamptz not null,
  -- Null where the expression has no further instant.
  next_due timestamptz,
  -- By when a success is expected.
  expected_by timestamptz,
  last_success_at timestamptz,
  paused_at timestamptz,
  paused_by text,
  paused_reason text
) with (fillfactor = 70);
create index schedule_due on tuntas.schedule (next_due) where paused_at is null and next_due is not null;
comment on table tuntas.schedule is 'control: Schedules: when each is due next, and what is done then.';

create table tuntas.occurrence (
  schedule text not null references tuntas.schedule (name) on delete cascade,
  due timestamptz not null,
  -- 0 for the schedule's own; a person's runs of the same window are 1 and up.
  run integer not null,
  window_start timestamptz not null,
  window_end timestamptz not null,
  state text not null check (state in ('waiting', 'started', 'succeeded', 'failed', 'skipped', 'missed')),
  -- Why it was skipped, missed or failed.
  reason text,
  -- Who asked for it, where a person did.
  actor text,
  target_kind text not null,
  target_name text not null,
  -- What its work is known by: the number of a message, the ARN of an execution.
  reference text,
  decided_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  primary key (schedule, due, run),
  check ((state in ('started', 'succeeded', 'failed')) = (started_at is not null)),
  check ((state in ('waiting', 'started')) = (ended_at is null))
) with (fillfactor = 70);
create index occurrence_open on tuntas.occurrence (schedule, due, run) where ended_at is null;
create index occurrence_ended on tuntas.occurrence (schedule, ended_at) where ended_at is not null;
comment on table tuntas.occurrence is 'control: Due instants of schedules: what was started for each, and what it came to.';
