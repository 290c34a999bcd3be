-- What the packages are made of: what happened in a case, its documents, and what was attached to them.
create table evidence.happening (
  case_id text not null,
  at timestamptz not null,
  what text not null
);
create index on evidence.happening (case_id, at);
create table evidence.paper (
  case_id text not null,
  name text not null,
  kind text not null check (kind in ('document', 'attachment')),
  body text not null,
  primary key (case_id, name)
);

create table evidence.package (
  package_id text primary key,
  case_id text not null,
  requested_by text not null,
  status text not null default 'GATHERING' check (status in ('GATHERING', 'RENDERING', 'COMMITTED', 'DELIVERED', 'FAILED')),
  parts_job bigint,
  pages_job bigint,
  manifest text, -- the hash of the file that lists all others; set once, when the package is whole
  receipt text,
  failure text
);

-- A file that is whole, named by its hash; what no row names is left over from an attempt that failed.
create table evidence.file (
  package_id text not null references evidence.package,
  kind text not null check (kind in ('timeline', 'document', 'attachment', 'pdf')),
  name text not null,
  sha256 text not null,
  bytes integer not null,
  primary key (package_id, name)
);

create table evidence.part_staging (
  job bigint not null,
  partition integer not null,
  kind text not null,
  name text not null,
  sha256 text not null,
  bytes integer not null
);
create index on evidence.part_staging (job, partition);

create table evidence.page_staging (
  job bigint not null,
  partition integer not null,
  number integer not null,
  content text not null
);
create index on evidence.page_staging (job, partition);

create table evidence.audit (
  record text primary key,
  package_id text not null,
  event text not null,
  at timestamptz not null
);
create index on evidence.audit (package_id, at);
