create table intake.complaint (
  case_id text primary key,
  complainant text not null,
  subject text not null,
  status text not null check (status in ('RECEIVED', 'ESCALATED', 'OPEN', 'DISMISSED')),
  risk integer,
  duplicates text[],
  officer_notified_at timestamptz,
  overdue_at timestamptz,
  received_at timestamptz not null default now()
);
create index on intake.complaint (complainant, subject);

-- What happened, as the stream tells it; a row a record.
create table intake.audit (
  record text primary key,
  case_id text not null,
  event text not null,
  by_whom text not null,
  at timestamptz not null
);
create index on intake.audit (case_id, at);
