-- Batches, their jobs and the partitions of these. A partition's row is the record of its work: it ends in the commit that
-- holds what was staged. A job's manifest is written in the commit that promotes.
create table tuntas.batch (
  name text primary key,
  -- The user's table of staged rows, which has the columns job and partition.
  staging text not null,
  -- How long staged rows are kept after a job's end; null for as long as it is the latest that was promoted.
  staging_kept interval,
  attempts integer not null,
  concurrency integer not null,
  priority integer not null,
  retention interval not null,
  owner text not null,
  runbook text not null,
  -- Who is told of the end of a job.
  announce_kind text,
  announce_name text
);
comment on table tuntas.batch is 'control: Batches as code declares them.';

create table tuntas.batch_job (
  id bigint primary key generated always as identity,
  batch text not null references tuntas.batch (name) on delete cascade,
  key text not null,
  -- JSON text, and the hash of what it says: what a second start of the same is told by.
  input text not null,
  input_hash text not null,
  priority integer not null,
  actor text not null,
  reason text not null,
  state text not null check
    (state in ('planning', 'waiting', 'running', 'promoting', 'completed', 'failed', 'paused', 'cancelled')),
  -- Which message counts that plans or promotes it; those with another number are void.
  run integer not null default 0,
  -- Of the list of partitions, once it is planned.
  plan_hash text,
  failure text,
  asked_at timestamptz not null,
  -- When it was last begun: from there the time that is left is estimated.
  begun_at timestamptz,
  ended_at timestamptz,
  -- When its staged rows were deleted.
  cleaned_at timestamptz,
  check ((state in ('completed', 'cancelled')) = (ended_at is not null))
) with (fillfactor = 70);
create unique index batch_job_key on tuntas.batch_job (batch, key) where state <> 'cancelled';
create index batch_job_open on tuntas.batch_job (batch, id) where state in ('waiting', 'running', 'promoting');
create index batch_job_ended on tuntas.batch_job (ended_at) where ended_at is not null;
comment on table tuntas.batch_job is 'control: Jobs of batches: what was asked for, and how it stands.';

create table tuntas.batch_partition (
  job bigint not null references tuntas.batch_job (id) on delete cascade,
  number integer not null,
  key text not null,
  -- What the handler gets, as JSON text.
  input text not null,
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed', 'cancelled')),
  -- Which message counts.
  run integer not null default 0,
  attempts integer not null default 0,
  failure_code text,
  failure_message text,
  -- What it staged: how many rows, and the hash of them.
  staged_rows bigint,
  staged_hash text,
  begun_at timestamptz,
  ended_at timestamptz,
  primary key (job, number),
  check ((state in ('done', 'failed', 'cancelled')) = (ended_at is not null)),
  check ((state = 'done') = (staged_hash is not null))
) with (fillfactor = 70);
create index batch_partition_open on tuntas.batch_partition (job, number) where ended_at is null;
comment on table tuntas.batch_partition is 'control: Partitions of jobs: how each stands, and what it staged.';

create table tuntas.batch_manifest (
  job bigint primary key references tuntas.batch_job (id) on delete cascade,
  batch text not null,
  partitions integer not null,
  staged_rows bigint not null,
  -- Of the hashes of the partitions, in their order.
  staged_hash text not null,
  promoted_at timestamptz not null
);
create index batch_manifest_latest on tuntas.batch_manifest (batch, job);
comment on table tuntas.batch_manifest is 'control: What was promoted: a row stands for the commit that made the output of a job the current one.';

-- How many rows a partition has staged, and their hash, whatever their order: a sum of hashes, which is a quarter of what
-- sorting them costs. The settings are those that the text of a row depends on.
create function tuntas.batch_staged(staging text, of_job bigint, of_partition integer, out counted bigint, out hashed text)
  language plpgsql stable
  set timezone = 'UTC' set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
begin
  execute format(
    'select count(*), coalesce(sum(hashtextextended(s::text, 0)), 0)::text from %s s where s.job = $1 and s.partition = $2', staging)
    into counted, hashed using of_job, of_partition;
end
$$;
