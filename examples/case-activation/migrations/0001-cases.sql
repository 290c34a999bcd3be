-- Domain state: what is true of a case, whatever any workflow is doing. No token of a task stands here, only references.
create table cases.cases (
  case_id text primary key,
  tenant_id text not null,
  party_name text not null,
  jurisdiction text not null,
  severity text not null check (severity in ('normal', 'high')),
  requested_by text not null,
  correlation_id text not null,
  execution_arn text not null,
  status text not null check (status in ('DRAFT', 'NUMBER_RESERVED', 'JURISDICTION_VALIDATED', 'JURISDICTION_REJECTED',
    'DUPLICATE_CHECK_PASSED', 'NEEDS_REVIEW', 'NEEDS_APPROVAL', 'APPROVED', 'REJECTED', 'NOTICE_GENERATED', 'NOTICE_SENT',
    'ACTIVE', 'CANCELLED', 'EXPIRED')),
  version integer not null default 1,
  case_number text unique,
  reservation_id uuid,
  duplicates text[] not null default '{}',
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
) with (fillfactor = 70);
create index cases_party on cases.cases (tenant_id, lower(party_name));

-- Every transition of every case, once.
create table cases.case_audit (
  case_id text not null references cases.cases,
  version integer not null,
  transition text not null,
  from_status text,
  to_status text not null,
  actor text not null,
  reason text,
  at timestamptz not null default now(),
  primary key (case_id, version)
);

-- What was accepted by the API, before any workflow ran: the workflow carries ids only.
create table cases.command (
  command_id text primary key,
  case_id text not null unique,
  tenant_id text not null,
  party_name text not null,
  jurisdiction text not null,
  severity text not null,
  requested_by text not null,
  correlation_id text not null,
  execution_name text not null,
  accepted_at timestamptz not null default now()
);

create sequence cases.case_number;

create table cases.jurisdiction (code text primary key, competent boolean not null);
insert into cases.jurisdiction values ('ID-JK', true), ('ID-JB', true), ('XX', false);

-- Integration state: work that others do, with a reference to the task that waits for it.
create table cases.duplicate_check (
  case_id text primary key references cases.cases,
  token_reference text not null,
  status text not null check (status in ('PENDING', 'CLEAR', 'POSSIBLE_DUPLICATE', 'FAILED')),
  requested_at timestamptz not null default now(),
  completed_at timestamptz
);

create table cases.notice (
  notice_id text primary key,
  case_id text not null unique references cases.cases,
  delivery_status text not null check (delivery_status in ('GENERATED', 'SENT', 'ACKNOWLEDGED')),
  provider_reference text,
  -- Who waits for the acknowledgement.
  token_reference text,
  generated_at timestamptz not null default now(),
  sent_at timestamptz,
  acknowledged_at timestamptz
);
