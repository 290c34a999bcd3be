-- Changes of a column or of a message's shape on a live system: how far each has come, and which processes run which release
-- of it. A process is known by its host and pid, as in application_process; an identity of its start tells a later one of the
-- same host and pid from it.
create table tuntas.change (
  name text primary key,
  kind text not null check (kind in ('column', 'message')),
  thing text not null,
  spec text not null,
  step text,
  steps text not null default '{}'
);
comment on table tuntas.change is 'control: Changes of columns and of messages, and the steps that each has come to: when, by whom and why.';

create table tuntas.change_process (
  id uuid primary key default gen_random_uuid(),
  host text not null,
  pid integer not null,
  boot uuid not null,
  began_at timestamptz not null,
  things text[] not null,
  releases text not null
);
comment on table tuntas.change_process is 'control: Running applications: the queues and tables that they use, and which release of each change they are.';
