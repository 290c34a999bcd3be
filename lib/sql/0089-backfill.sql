-- Backfills, their runs and the partitions of these. A partition's checkpoint moves in the commit that holds what was done to
-- the records before it; what a run has done, and how fast it may go, is on its own row.
create table tuntas.backfill (
  name text primary key,
  -- The most records a second, in all processes together.
  per_second integer not null,
  -- When it may run, by the clock of the zone; null for any time.
  window_from time,
  window_to time,
  time_zone text,
  -- What else code declares of it, as JSON text: for people who decide.
  policy text not null,
  owner text not null,
  runbook text not null,
  check ((window_from is null) = (window_to is null) and (window_from is null) = (time_zone is null))
);
comment on table tuntas.backfill is 'control: Backfills as code declares them.';

create table tuntas.backfill_run (
  id bigint primary key generated always as identity,
  backfill text not null references tuntas.backfill (name) on delete cascade,
  -- JSON text, and the hash of what it says: by that two requests are one.
  scope text not null,
  scope_hash text not null,
  actor text not null,
  reason text not null,
  state text not null check (state in ('planning', 'planned', 'sampling', 'sampled', 'approved', 'running', 'paused', 'verifying',
    'completed', 'aborted', 'rolling_back', 'rolled_back')),
  -- Why it is paused: a person said so, the window is closed, or it cannot go on by itself.
  pause text check (pause in ('person', 'window', 'trouble')),
  -- Which message counts that plans, samples or verifies it; those with another number are void.
  turn integer not null default 0,
  plan_hash text,
  -- What the latest dry run found, as JSON text.
  sample text,
  approved_by text,
  failure text,
  -- A person may slow it down; which part of that it takes while something is slow; when the next slice may be taken.
  per_second integer not null,
  pace float8 not null default 1,
  next_at timestamptz not null,
  -- As they were of late, smoothed.
  database_ms float8,
  downstream_ms float8,
  -- Records by what became of them, and what would have been announced.
  handled bigint not null default 0,
  final bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  asked_at timestamptz not null,
  -- When it was first started, and when it last went on.
  begun_at timestamptz,
  resumed_at timestamptz,
  -- How many records were read until then.
  resumed_with bigint not null default 0,
  ended_at timestamptz,
  check ((state = 'paused') = (pause is not null)),
  check ((state in ('completed', 'aborted', 'rolled_back')) = (ended_at is not null))
) with (fillfactor = 50);
-- One scope is one run until it is over, and one run of a backfill runs at a time, so that its rate is the backfill's.
create unique index backfill_run_scope on tuntas.backfill_run (backfill, scope_hash) where ended_at is null;
create unique index backfill_run_active on tuntas.backfill_run (backfill) where state in ('running', 'verifying', 'rolling_back');
-- For the heartbeat: what a window opens and closes.
create index backfill_run_timed on tuntas.backfill_run (id) where state = 'running' or pause = 'window';
create index backfill_run_ended on tuntas.backfill_run (ended_at) where ended_at is not null;
comment on table tuntas.backfill_run is 'control: Runs of backfills: scope, dry run, approval, progress, rate.';

create table tuntas.backfill_partition (
  run bigint not null references tuntas.backfill_run (id) on delete cascade,
  number integer not null,
  key text not null,
  -- What its condition is made from, as JSON text.
  input text not null,
  -- How many records were counted when it was planned, and how many were read since.
  records bigint not null,
  read bigint not null default 0,
  -- Which message counts.
  turn integer not null default 0,
  -- The key of the last record that is done, and of the last that was undone, as texts.
  checkpoint text[],
  undone text[],
  ended_at timestamptz,
  primary key (run, number)
) with (fillfactor = 50);
create index backfill_partition_open on tuntas.backfill_partition (run, number) where ended_at is null;
comment on table tuntas.backfill_partition is 'control: Partitions of runs of backfills, and how far each is.';

create table tuntas.backfill_failure (
  run bigint not null references tuntas.backfill_run (id) on delete cascade,
  partition integer not null,
  -- The key of the record.
  record text not null,
  code text not null,
  message text not null,
  at timestamptz not null,
  primary key (run, record)
);
comment on table tuntas.backfill_failure is 'control: Records that a backfill could not handle, the first thousand of a run, and why.';
