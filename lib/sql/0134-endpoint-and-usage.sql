-- Who answers for what a declared endpoint refuses for good, and what they read: for people and alarms.
create table tuntas.endpoint (
  name text primary key,
  owner text not null,
  runbook text not null
);
comment on table tuntas.endpoint is 'control: Declared endpoints of the outbox, and who answers for what they refuse.';

-- Which counts of usage are written: one whose answer was lost is written again under its own id, and added once.
create table tuntas.usage_write (
  id uuid primary key,
  written_at timestamptz not null
);
comment on table tuntas.usage_write is 'observability: Counts of usage that were written in the last day, so that none is added twice.';

-- A budget asks for one tenant's month.
create index usage_tenant on tuntas.usage (tenant, day);
