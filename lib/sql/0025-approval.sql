-- Approvals: questions to people on which executions wait. A request keeps a reference to its task's token, which answers
-- nothing by itself. next_at is when the clock has something to do with it; the index holds only those.

create table tuntas.approval (
  id uuid primary key,
  workflow text not null,
  task text not null,
  execution_arn text not null,
  token_reference text not null unique,
  -- What it is about, in the domain's words, such as a case's id.
  subject text not null,
  requested_by text not null,
  -- How many different people must say yes; one no is enough.
  signatures integer not null check (signatures between 1 and 10),
  -- What the deciders are shown: JSON text.
  evidence text not null,
  -- Reservations that the request keeps alive, and gives back when it ends without a yes.
  holds uuid[] not null,
  -- True where an application changes its domain in the deciding transaction, so that only it may decide.
  guarded boolean not null,
  status text not null check (status in ('pending', 'approved', 'rejected', 'expired', 'withdrawn')),
  requested_at timestamptz not null,
  due_at timestamptz not null,
  escalate_at timestamptz,
  escalated_at timestamptz,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- Why it was withdrawn.
  ended_reason text,
  -- When the execution was told what it came to.
  told_at timestamptz,
  -- Who is told that there is something to decide.
  notify_kind text,
  notify_name text,
  next_at timestamptz generated always as (
    case when status <> 'pending' then null when escalated_at is null then least(escalate_at, expires_at) else expires_at end
  ) stored,
  check ((ended_at is null) = (status = 'pending')),
  check ((notify_kind is null) = (notify_name is null))
);
create index approval_next on tuntas.approval (next_at) where next_at is not null;
create index approval_pending on tuntas.approval (due_at, id) where status = 'pending';
create index approval_subject on tuntas.approval (subject);
create index approval_execution on tuntas.approval (execution_arn);
create index approval_untold on tuntas.approval (ended_at) where status <> 'pending' and told_at is null;

-- Who may decide, and from when on: at once, by delegation, or once it was escalated.
create table tuntas.approval_decider (
  approval_id uuid not null references tuntas.approval on delete cascade,
  kind text not null check (kind in ('person', 'role', 'group')),
  name text not null,
  via text not null check (via in ('request', 'escalation', 'delegation')),
  since timestamptz not null,
  -- Whose right a delegate has; who gave it away has it no more.
  instead_of text,
  primary key (approval_id, kind, name),
  check ((via = 'delegation') = (instead_of is not null))
);
create index approval_decider_name on tuntas.approval_decider (kind, name);

create table tuntas.approval_signature (
  approval_id uuid not null references tuntas.approval on delete cascade,
  name text not null,
  decision text not null check (decision in ('approve', 'reject')),
  reason text not null,
  signed_at timestamptz not null,
  primary key (approval_id, name)
);
