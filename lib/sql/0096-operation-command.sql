-- One-off commands as code declares them, and their runs. A run is an operation: who asked, who approved, in whose hands it is
-- and how it ended stand there; here stands what ran, with what, and what came of it.
create table tuntas.operation_command (
  name text primary key,
  -- Of what is declared: a run begins only where the process that carries it out declares the same.
  digest text not null,
  -- What it takes, who may run it, and the answers to what is asked before a run, as JSON text.
  policy text not null,
  owner text not null,
  runbook text not null
);
comment on table tuntas.operation_command is 'control: One-off commands as code declares them.';

create table tuntas.operation_command_run (
  operation_id bigint primary key references tuntas.operation (id) on delete cascade,
  command text not null,
  digest text not null,
  -- JSON text, and the hash of command, digest and arguments: by that two requests are one.
  arguments text not null,
  request_hash text not null,
  dry_run boolean not null,
  -- Who is to look at it, where it takes another person.
  approver text,
  timeout_ms bigint not null,
  attempts integer not null default 0,
  begun_at timestamptz,
  -- The result document, and what was made, as JSON text or as it was printed.
  result text,
  output text,
  -- What the check of the domain found wrong, a JSON array; null where it was not made.
  invariant text,
  -- The ticket or incident that it belongs to.
  evidence text,
  closed_by text,
  closed_at timestamptz
);
create index operation_command_run_command on tuntas.operation_command_run (command, operation_id);
create index operation_command_run_request on tuntas.operation_command_run (request_hash, operation_id);
create index operation_command_run_open on tuntas.operation_command_run (operation_id) where closed_at is null and not dry_run;
comment on table tuntas.operation_command_run is 'control: Runs of one-off commands: what ran, with what, its result, its evidence.';
