-- How to undo what a step has done: registered in the step's own transaction, run in reverse order if the work fails.
create table tuntas.compensation (
  id bigint generated always as identity primary key,
  -- Whose steps they are: an execution, a message, whatever the application calls its work.
  work text not null,
  name text not null,
  -- Tells several of one name apart.
  key text not null,
  input text not null,
  state text not null check (state in ('registered', 'running', 'parked', 'done')),
  attempts integer not null default 0,
  fence bigint,
  deadline timestamptz,
  failure_code text,
  failure_message text,
  settled_by text,
  created_at timestamptz not null,
  completed_at timestamptz,
  unique (work, name, key),
  check ((completed_at is not null) = (state = 'done')),
  check ((deadline is not null) = (state = 'running'))
);
create index compensation_open on tuntas.compensation (work, id) where state <> 'done';
create index compensation_parked on tuntas.compensation (id) where state = 'parked';
