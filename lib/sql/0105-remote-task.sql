-- Tasks of machines that run elsewhere (AWS Step Functions), from their taking to the answer and beyond: what a step came to is
-- written in the commit of its work, the machine is told after it, and who does the step again is given what was written.
create table tuntas.remote_task (
  -- Stands for the token and answers nothing; the same at each delivery of the task.
  reference text primary key,
  workflow text not null,
  task text not null,
  state text not null,
  execution_arn text not null,
  -- The visit of the state: the same in every attempt and in a redrive.
  visit text not null,
  redrives integer not null,
  retries integer not null,
  -- Sealed; gone once it answers nothing any more.
  token bytea,
  -- JSON text: {"output": …} or {"error": …, "cause": …}; null while somebody else is to answer.
  answer text,
  -- accepted: the machine took the answer. closed: it waited no longer, or had taken it before.
  fate text not null check (fate in ('waiting', 'answered', 'accepted', 'closed')),
  -- When the machine stops waiting, where the task says so.
  waits_until timestamptz,
  taken_at timestamptz not null,
  told_at timestamptz,
  expires_at timestamptz not null,
  check ((answer is not null) or fate in ('waiting', 'closed')),
  check ((told_at is not null) = (fate in ('accepted', 'closed')))
);
create index remote_task_visit on tuntas.remote_task (visit);
create index remote_task_expires on tuntas.remote_task (expires_at);
comment on table tuntas.remote_task is 'integration: Tasks taken from machines that run elsewhere: what each came to, and whether the machine took the answer.';
