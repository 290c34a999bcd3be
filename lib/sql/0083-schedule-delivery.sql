-- What EventBridge Scheduler knows of a schedule beside its expression: where its name is unique, from when and until when
-- it is due, how late its work may begin, how often and how long that is tried, and what becomes of it in the end.
create table tuntas.schedule_group (
  account text not null,
  region text not null,
  name text not null,
  -- JSON text of an object.
  tags text not null default '{}',
  created_at timestamptz not null default tuntas.now(),
  changed_at timestamptz not null default tuntas.now(),
  primary key (account, region, name)
);
comment on table tuntas.schedule_group is 'control: Groups of schedules, as they are made over the wire.';

alter table tuntas.schedule
  -- Nobody answers for what was made over the wire, and nobody said when it must have succeeded.
  alter column owner drop not null,
  alter column runbook drop not null,
  alter column succeeds_within drop not null,
  add column account text not null default '000000000000',
  add column region text not null default 'us-east-1',
  add column group_name text not null default 'default',
  add column starts timestamptz,
  add column ends timestamptz,
  -- Work begins anywhere within this after it is due.
  add column flexible interval not null default '0',
  -- How often, and for how long, work that could not be begun is tried again.
  add column retries_max integer not null default 185,
  add column retry_within interval not null default '24 hours',
  -- The queue that is told of work that could not be begun.
  add column dead_letter text,
  add column afterwards text not null default 'keep' check (afterwards in ('keep', 'remove')),
  -- Whether `input` is a text in which keywords are filled in, instead of an object that the window is added to.
  add column is_template boolean not null default false,
  -- What goes with the work beside its input: JSON text of an object.
  add column extras text not null default '{}',
  add column description text,
  -- The target as it was asked for over the wire: JSON text.
  add column request text,
  add column created_at timestamptz not null default tuntas.now(),
  add column changed_at timestamptz not null default tuntas.now();
create index schedule_place on tuntas.schedule (account, region, group_name, name);

alter table tuntas.occurrence
  -- Not before this: the flexible window, or the next try.
  add column begin_at timestamptz,
  -- How often it was tried in vain to begin the work, and since when.
  add column tries integer not null default 0,
  add column tried_at timestamptz;
create index occurrence_begin on tuntas.occurrence (begin_at) where begin_at is not null;
