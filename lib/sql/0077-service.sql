-- Long-running services: what is to run, in which revision, how each roll-out went, and which processes run now.
create table tuntas.service (
  name text primary key,
  -- Where its instances run: the name of one machine.
  host text not null,
  desired integer not null check (desired >= 0),
  -- False once a person has stopped it: nothing starts or scales it until a person does.
  active boolean not null default true,
  deployment_id bigint,
  scaled_at timestamptz
);
comment on table tuntas.service is 'control: Long-running services: where they run, and how many instances there are to be.';

create table tuntas.service_revision (
  service text not null references tuntas.service (name) on delete cascade,
  revision integer not null,
  hash text not null,
  definition text not null,
  registered_at timestamptz not null,
  primary key (service, revision)
);
create index service_revision_hash on tuntas.service_revision (service, hash);
comment on table tuntas.service_revision is 'control: Every definition that a service has had, by number and hash.';

create table tuntas.service_deployment (
  id bigint generated always as identity primary key,
  service text not null references tuntas.service (name) on delete cascade,
  revision integer not null,
  state text not null check (state in ('in_progress', 'completed', 'failed', 'superseded')),
  -- The deployment that failed and is undone by this one.
  rollback_of bigint,
  -- Instances that failed since the last one that became healthy.
  failures integer not null default 0,
  failed_at timestamptz,
  actor text not null,
  reason text,
  started_at timestamptz not null,
  ended_at timestamptz
);
create index service_deployment_service on tuntas.service_deployment (service, id);
comment on table tuntas.service_deployment is 'control: Roll-outs of revisions, and how each ended.';

create table tuntas.service_instance (
  id bigint generated always as identity primary key,
  service text not null references tuntas.service (name) on delete cascade,
  deployment_id bigint not null,
  revision integer not null,
  host text not null,
  state text not null check (state in ('starting', 'running', 'stopping', 'stopped')),
  health text not null default 'unknown' check (health in ('unknown', 'healthy', 'unhealthy')),
  port integer,
  pid integer,
  -- Tells the process from a later one with its number.
  identity text,
  started_at timestamptz not null,
  healthy_at timestamptz,
  stopping_at timestamptz,
  terminated_at timestamptz,
  killed_at timestamptz,
  stopped_at timestamptz,
  stop_reason text,
  exit text
);
create index service_instance_live on tuntas.service_instance (service) where state <> 'stopped';
create index service_instance_stopped on tuntas.service_instance (stopped_at) where state = 'stopped';
comment on table tuntas.service_instance is 'control: Processes of services, those that run and those of the last thirty days.';

create table tuntas.service_event (
  id bigint generated always as identity primary key,
  service text not null references tuntas.service (name) on delete cascade,
  deployment_id bigint,
  instance_id bigint,
  at timestamptz not null,
  event text not null,
  detail text not null
);
create index service_event_service on tuntas.service_event (service, id);
comment on table tuntas.service_event is 'observability: The log of each service: batches, health, stops, roll-outs and their ends.';
