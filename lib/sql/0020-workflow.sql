-- Workflows. An execution's facts stand in execution and do not change but at its end; what an advance changes is one
-- narrow row (execution_state, no index but its key, so that every update stays on its page). Whatever waits for the
-- clock or for a call to the outside has a row of its own: workflow_due, workflow_call.

create table tuntas.machine (
  id bigint generated always as identity primary key,
  account text not null,
  region text not null,
  name text not null,
  type text not null check (type in ('STANDARD', 'EXPRESS')),
  created_at timestamptz not null,
  unique (account, region, name)
);

-- What an execution runs never changes: an update of the machine adds a revision. revision_id is null for the first.
create table tuntas.machine_revision (
  id bigint generated always as identity primary key,
  machine_id bigint not null,
  revision_id uuid,
  definition text not null,
  role_arn text not null,
  -- JSON texts as the API gave them.
  logging text,
  tracing text,
  encryption text,
  -- JSON list: functions that handlers of an application carry out. Null where no application declared the machine.
  handlers text,
  created_at timestamptz not null
);
create index machine_revision_machine on tuntas.machine_revision (machine_id, id);

create table tuntas.machine_version (
  machine_id bigint not null references tuntas.machine on delete cascade,
  number integer not null,
  machine_revision bigint not null,
  description text,
  created_at timestamptz not null,
  -- The number stays taken after the version is deleted.
  deleted_at timestamptz,
  primary key (machine_id, number)
);

create table tuntas.machine_alias (
  machine_id bigint not null references tuntas.machine on delete cascade,
  name text not null,
  description text,
  -- JSON text: [{"stateMachineVersionArn": …, "weight": …}]
  routing text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (machine_id, name)
);

create table tuntas.activity (
  arn text primary key,
  name text not null,
  encryption text,
  created_at timestamptz not null
);

create table tuntas.workflow_tag (
  arn text not null,
  key text not null,
  value text not null,
  primary key (arn, key)
);

create table tuntas.map_run (
  id bigint generated always as identity primary key,
  arn text not null unique,
  execution_id bigint not null,
  -- The number of the StartMapRun command in that execution.
  number integer not null,
  machine_arn text not null,
  concurrency integer not null,
  failure_count integer,
  failure_percentage double precision,
  item_count integer not null,
  status text not null check (status in ('RUNNING', 'SUCCEEDED', 'FAILED', 'ABORTED')),
  started_at timestamptz not null,
  stopped_at timestamptz
);
create index map_run_execution on tuntas.map_run (execution_id);

create table tuntas.execution (
  id bigint generated always as identity primary key,
  arn text not null unique,
  name text not null,
  machine_id bigint not null,
  machine_arn text not null,
  machine_revision bigint not null,
  type text not null,
  version_arn text,
  alias_arn text,
  trace_header text,
  -- A child of a map run: which run, which item, and the JSON list of Map states that leads to its processor.
  map_run_id bigint,
  item_index integer,
  processor text,
  input text not null,
  started_at timestamptz not null,
  status text not null,
  output text,
  error text,
  cause text,
  stopped_at timestamptz,
  redrive_count integer not null default 0,
  redriven_at timestamptz
) with (fillfactor = 80);
create index execution_machine on tuntas.execution (machine_id, id desc) where map_run_id is null;
create index execution_map_run on tuntas.execution (map_run_id, item_index) where map_run_id is not null;

-- seq counts the advances: whoever writes the next one must have seen the one before. It is the fence.
create table tuntas.execution_state (
  execution_id bigint primary key,
  seq integer not null,
  state text not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- The events of one advance as one JSON text: written once, never changed.
create table tuntas.execution_history (
  execution_id bigint not null,
  seq integer not null,
  events text not null,
  primary key (execution_id, seq)
);

-- What the clock brings: timers, timeouts, heartbeats. Whoever takes one moves due a little ahead, so that it comes
-- again if that process dies before the advance that removes it.
create table tuntas.workflow_due (
  execution_id bigint not null,
  key text not null,
  due timestamptz not null,
  taken_by bigint,
  primary key (execution_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index workflow_due_due on tuntas.workflow_due (due);
create index workflow_due_taken on tuntas.workflow_due (taken_by) where taken_by is not null;

-- What task tokens are derived with, unless TUNTAS_TOKEN_SECRET says: whoever reads the other tables finds no token.
create table tuntas.workflow_secret (value bytea not null);
insert into tuntas.workflow_secret values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- A call to the outside that is under way: owner_id is the process that makes it (null: it waits for a token or for an
-- activity's worker). command is the JSON text of the command, for whoever takes it over.
create table tuntas.workflow_call (
  execution_id bigint not null,
  key text not null,
  command text not null,
  owner_id bigint,
  token_hash bytea,
  activity_arn text,
  heartbeat_seconds integer,
  -- An activity's task: a worker has it.
  started boolean not null default false,
  -- A task that a handler of an application carries out: the revision, whose handlers a process must have to take it. The
  -- row stays while the branch goes from one such task to the next in the same process, so command may be of an earlier
  -- task; state and history say which one it is now.
  pool bigint,
  primary key (execution_id, key)
) with (autovacuum_vacuum_scale_factor = 0.02);
create unique index workflow_call_token on tuntas.workflow_call (token_hash) where token_hash is not null;
create index workflow_call_pool on tuntas.workflow_call (pool, execution_id) where owner_id is null and pool is not null;
create index workflow_call_owner on tuntas.workflow_call (owner_id) where owner_id is not null;
create index workflow_call_activity on tuntas.workflow_call (activity_arn, execution_id) where activity_arn is not null;
