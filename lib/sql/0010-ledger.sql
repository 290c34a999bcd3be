-- The ledger: what makes a retry harmless. Command records gain the outcome that they store; side effects, reservations,
-- leases and reconciliations are business state, each row with the instant until which it holds.

alter table tuntas.command add column outcome text not null default 'done' check (outcome in ('done', 'rejected'));

-- One row a call to the outside, committed before the call is made.
create table tuntas.side_effect (
  id bigint generated always as identity primary key,
  provider text not null,
  operation text not null,
  key text not null,
  request_hash text not null,
  request text not null,
  state text not null check (state in ('pending', 'succeeded', 'failed', 'unknown')),
  -- A failed call that certainly had no effect may be made again; one that the provider refused may not.
  final boolean not null default false,
  -- Whose work it is: as the application names it, and the message or execution that called. A redrive of either is
  -- refused while a row is unknown.
  subject text,
  caller text,
  calls integer not null default 1,
  fence bigint not null,
  deadline timestamptz not null,
  reference text,
  response text,
  failure_code text,
  failure_message text,
  settled_by text,
  created_at timestamptz not null,
  called_at timestamptz not null,
  -- When the provider was last asked what became of it.
  asked_at timestamptz,
  completed_at timestamptz,
  unique (provider, operation, key),
  check ((completed_at is null) = (state in ('pending', 'unknown')))
);
create index side_effect_open on tuntas.side_effect (state, deadline) where state in ('pending', 'unknown');
create index side_effect_subject on tuntas.side_effect (subject) where subject is not null;
create index side_effect_caller on tuntas.side_effect (caller) where state in ('pending', 'unknown') and caller is not null;

-- A reservation is business state with an expiry, never a lock. What was released or has expired is free again, so
-- only active rows are unique. unit counts the places of a resource that has several (a quota, an inventory).
create table tuntas.reservation (
  id uuid primary key,
  kind text not null,
  resource text not null,
  unit integer not null check (unit >= 1),
  holder text not null,
  state text not null check (state in ('reserved', 'confirmed', 'released', 'expired')),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  confirmed_at timestamptz,
  released_at timestamptz,
  expired_at timestamptz,
  -- Who is told when it expires.
  notify_kind text,
  notify_name text,
  told_at timestamptz,
  check ((notify_kind is null) = (notify_name is null))
);
create unique index reservation_active on tuntas.reservation (kind, resource, unit) where state in ('reserved', 'confirmed');
create unique index reservation_holder on tuntas.reservation (kind, resource, holder) where state in ('reserved', 'confirmed');
create index reservation_due on tuntas.reservation (expires_at) where state = 'reserved';
create index reservation_untold on tuntas.reservation (id) where state = 'expired' and notify_kind is not null and told_at is null;

-- A job that one owner at a time may work on. Its result is kept, so that a lost answer can be given again.
create table tuntas.lease (
  name text primary key,
  state text not null check (state in ('running', 'released', 'completed')),
  owner text not null,
  fence bigint not null,
  expires_at timestamptz not null,
  claimed_at timestamptz not null,
  heartbeat_at timestamptz not null,
  takeovers integer not null default 0,
  result text,
  completed_at timestamptz
);

-- What an application has registered to be compared, beside which workload, and when it is next. null: on demand.
create table tuntas.reconciliation (
  name text primary key,
  invariant text not null,
  anomaly text not null,
  owner text not null,
  of_kind text not null check (of_kind in ('queue', 'workflow', 'application')),
  of_name text not null,
  every_seconds float8,
  registered_at timestamptz not null,
  next_at timestamptz,
  -- Why the last run did not come to an end.
  failure_code text,
  failure_message text,
  failed_at timestamptz,
  check ((next_at is null) = (every_seconds is null))
);

create table tuntas.reconciliation_run (
  id bigint generated always as identity primary key,
  name text not null,
  invariant text not null,
  compared bigint not null,
  found bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz not null
);
create index reconciliation_run_name on tuntas.reconciliation_run (name, id);

create table tuntas.discrepancy (
  id bigint generated always as identity primary key,
  run_id bigint not null references tuntas.reconciliation_run,
  name text not null,
  invariant text not null,
  anomaly text not null,
  key text not null,
  source text,
  derived text,
  state text not null check (state in ('open', 'manual', 'approved', 'repaired', 'dismissed')),
  found_at timestamptz not null,
  decided_by text,
  decided_reason text,
  decided_at timestamptz,
  repaired_at timestamptz,
  check (state in ('open', 'manual') or (decided_by is not null and decided_reason is not null)),
  check ((repaired_at is null) = (state <> 'repaired'))
);
create index discrepancy_run on tuntas.discrepancy (run_id);
-- One discrepancy a key, however often and by however many it is found.
create unique index discrepancy_standing on tuntas.discrepancy (name, key) where state in ('open', 'manual', 'approved');
