-- The schema as the migrations make it. Written by schema.test.ts with TUNTAS_GOLDEN=write; do not edit.

create sequence tuntas.fence as bigint;

-- control: Failed sign-ins, counted to slow them down.
create table tuntas.access_attempt (
  subject text not null,
  tries integer not null,
  began_at timestamp with time zone not null,
  constraint access_attempt_pkey PRIMARY KEY (subject)
) with (fillfactor=70);

-- control: Keys that the gateway checks signatures with.
create table tuntas.access_key (
  id text not null,
  name text not null,
  account text not null,
  scopes text not null,
  secret_hash bytea not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  constraint access_key_pkey PRIMARY KEY (id),
  constraint access_key_account_check CHECK ((account ~ '^[0-9]{12}$'::text))
);

-- control: Which fields of a payload are sensitive, and who may see them.
create table tuntas.access_payload (
  kind text not null,
  name text not null,
  sensitive text not null,
  schema text,
  constraint access_payload_pkey PRIMARY KEY (kind, name)
);

-- control: What stored keys are sealed with.
create table tuntas.access_secret (
  single boolean default true not null,
  secret bytea not null,
  created_at timestamp with time zone not null,
  constraint access_secret_pkey PRIMARY KEY (single),
  constraint access_secret_single_check CHECK (single)
);

-- control: Sessions of people in the console, by the hash of their cookie.
create table tuntas.access_session (
  token_hash bytea not null,
  user_name text not null,
  from_address text not null,
  created_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint access_session_pkey PRIMARY KEY (token_hash),
  constraint access_session_user_name_fkey FOREIGN KEY (user_name) REFERENCES tuntas.access_user(name) ON DELETE CASCADE
) with (fillfactor=70);

-- control: People who may sign in.
create table tuntas.access_user (
  name text not null,
  role text not null,
  password text not null,
  created_at timestamp with time zone not null,
  password_set_at timestamp with time zone not null,
  signed_in_at timestamp with time zone,
  constraint access_user_pkey PRIMARY KEY (name),
  constraint access_user_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'approver'::text, 'admin'::text])))
);

-- control: Activities of Step Functions, whose tasks workers poll for.
create table tuntas.activity (
  arn text not null,
  name text not null,
  encryption text,
  created_at timestamp with time zone not null,
  constraint activity_pkey PRIMARY KEY (arn)
);

-- observability: Alarms as they are declared.
create table tuntas.alarm (
  name text not null,
  definition text not null,
  declared_by text not null,
  declared_at timestamp with time zone not null,
  constraint alarm_pkey PRIMARY KEY (name)
);

-- observability: When each alarm was raised and over.
create table tuntas.alarm_history (
  id bigint generated always as identity not null,
  name text not null,
  subject text not null,
  previous text not null,
  state text not null,
  at timestamp with time zone not null,
  value double precision,
  reason text not null,
  test boolean default false not null,
  constraint alarm_history_pkey PRIMARY KEY (id)
);

-- observability: Which alarms are raised now.
create table tuntas.alarm_state (
  name text not null,
  subject text not null,
  state text not null,
  since timestamp with time zone not null,
  value double precision,
  reason text not null,
  constraint alarm_state_pkey PRIMARY KEY (name, subject),
  constraint alarm_state_state_check CHECK ((state = ANY (ARRAY['OK'::text, 'ALARM'::text, 'INSUFFICIENT_DATA'::text])))
) with (fillfactor=80);

-- control: Processes by the application whose tables they work on, and the last of its migrations that they know.
create table tuntas.application_process (
  host text not null,
  pid integer not null,
  schema_name text not null,
  through text,
  constraint application_process_pkey PRIMARY KEY (schema_name, host, pid)
);

-- control: Questions to people on which executions wait, with who may decide, until when, and a reference to the waiting task.
create table tuntas.approval (
  id uuid not null,
  workflow text not null,
  task text not null,
  execution_arn text not null,
  token_reference text not null,
  subject text not null,
  requested_by text not null,
  signatures integer not null,
  evidence text not null,
  holds uuid[] not null,
  guarded boolean not null,
  status text not null,
  requested_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  escalate_at timestamp with time zone,
  escalated_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  ended_reason text,
  told_at timestamp with time zone,
  notify_kind text,
  notify_name text,
  next_at timestamp with time zone default
CASE
    WHEN (status <> 'pending'::text) THEN NULL::timestamp with time zone
    WHEN (escalated_at IS NULL) THEN LEAST(escalate_at, expires_at)
    ELSE expires_at
END,
  constraint approval_token_reference_key UNIQUE (token_reference),
  constraint approval_pkey PRIMARY KEY (id),
  constraint approval_check CHECK (((ended_at IS NULL) = (status = 'pending'::text))),
  constraint approval_check1 CHECK (((notify_kind IS NULL) = (notify_name IS NULL))),
  constraint approval_signatures_check CHECK (((signatures >= 1) AND (signatures <= 10))),
  constraint approval_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'withdrawn'::text])))
);

-- control: Who may decide an approval.
create table tuntas.approval_decider (
  approval_id uuid not null,
  kind text not null,
  name text not null,
  via text not null,
  since timestamp with time zone not null,
  instead_of text,
  constraint approval_decider_pkey PRIMARY KEY (approval_id, kind, name),
  constraint approval_decider_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES tuntas.approval(id) ON DELETE CASCADE,
  constraint approval_decider_check CHECK (((via = 'delegation'::text) = (instead_of IS NOT NULL))),
  constraint approval_decider_kind_check CHECK ((kind = ANY (ARRAY['person'::text, 'role'::text, 'group'::text]))),
  constraint approval_decider_via_check CHECK ((via = ANY (ARRAY['request'::text, 'escalation'::text, 'delegation'::text])))
);

-- control: Who has signed it, and why.
create table tuntas.approval_signature (
  approval_id uuid not null,
  name text not null,
  decision text not null,
  reason text not null,
  signed_at timestamp with time zone not null,
  constraint approval_signature_pkey PRIMARY KEY (approval_id, name),
  constraint approval_signature_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES tuntas.approval(id) ON DELETE CASCADE,
  constraint approval_signature_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'reject'::text])))
);

-- observability: What people did, who and why.
create table tuntas.audit (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  actor text not null,
  action text not null,
  subject text not null,
  reason text,
  details text default '{}'::text not null,
  constraint audit_pkey PRIMARY KEY (id)
);

-- control: Backfills as code declares them.
create table tuntas.backfill (
  name text not null,
  per_second integer not null,
  window_from time without time zone,
  window_to time without time zone,
  time_zone text,
  policy text not null,
  owner text not null,
  runbook text not null,
  constraint backfill_pkey PRIMARY KEY (name),
  constraint backfill_check CHECK ((((window_from IS NULL) = (window_to IS NULL)) AND ((window_from IS NULL) = (time_zone IS NULL))))
);

-- control: Records that a backfill could not handle, the first thousand of a run, and why.
create table tuntas.backfill_failure (
  run bigint not null,
  partition integer not null,
  record text not null,
  code text not null,
  message text not null,
  at timestamp with time zone not null,
  constraint backfill_failure_pkey PRIMARY KEY (run, record),
  constraint backfill_failure_run_fkey FOREIGN KEY (run) REFERENCES tuntas.backfill_run(id) ON DELETE CASCADE
);

-- control: Partitions of runs of backfills, and how far each is.
create table tuntas.backfill_partition (
  run bigint not null,
  number integer not null,
  key text not null,
  input text not null,
  records bigint not null,
  read bigint default 0 not null,
  turn integer default 0 not null,
  checkpoint text[],
  undone text[],
  ended_at timestamp with time zone,
  constraint backfill_partition_pkey PRIMARY KEY (run, number),
  constraint backfill_partition_run_fkey FOREIGN KEY (run) REFERENCES tuntas.backfill_run(id) ON DELETE CASCADE
) with (fillfactor=50);

-- control: Runs of backfills: scope, dry run, approval, progress, rate.
create table tuntas.backfill_run (
  id bigint generated always as identity not null,
  backfill text not null,
  scope text not null,
  scope_hash text not null,
  actor text not null,
  reason text not null,
  state text not null,
  pause text,
  turn integer default 0 not null,
  plan_hash text,
  sample text,
  approved_by text,
  failure text,
  per_second integer not null,
  pace double precision default 1 not null,
  next_at timestamp with time zone not null,
  database_ms double precision,
  downstream_ms double precision,
  handled bigint default 0 not null,
  final bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  asked_at timestamp with time zone not null,
  begun_at timestamp with time zone,
  resumed_at timestamp with time zone,
  resumed_with bigint default 0 not null,
  ended_at timestamp with time zone,
  constraint backfill_run_pkey PRIMARY KEY (id),
  constraint backfill_run_backfill_fkey FOREIGN KEY (backfill) REFERENCES tuntas.backfill(name) ON DELETE CASCADE,
  constraint backfill_run_check CHECK (((state = 'paused'::text) = (pause IS NOT NULL))),
  constraint backfill_run_check1 CHECK (((state = ANY (ARRAY['completed'::text, 'aborted'::text, 'rolled_back'::text])) = (ended_at IS NOT NULL))),
  constraint backfill_run_pause_check CHECK ((pause = ANY (ARRAY['person'::text, 'window'::text, 'trouble'::text]))),
  constraint backfill_run_state_check CHECK ((state = ANY (ARRAY['planning'::text, 'planned'::text, 'sampling'::text, 'sampled'::text, 'approved'::text, 'running'::text, 'paused'::text, 'verifying'::text, 'completed'::text, 'aborted'::text, 'rolling_back'::text, 'rolled_back'::text])))
) with (fillfactor=50);

-- control: Batches as code declares them.
create table tuntas.batch (
  name text not null,
  staging text not null,
  staging_kept interval,
  attempts integer not null,
  concurrency integer not null,
  priority integer not null,
  retention interval not null,
  owner text not null,
  runbook text not null,
  announce_kind text,
  announce_name text,
  runs_on text,
  constraint batch_pkey PRIMARY KEY (name)
);

-- control: Jobs of batches: what was asked for, and how it stands.
create table tuntas.batch_job (
  id bigint generated always as identity not null,
  batch text not null,
  key text not null,
  input text not null,
  input_hash text not null,
  priority integer not null,
  actor text not null,
  reason text not null,
  state text not null,
  run integer default 0 not null,
  plan_hash text,
  failure text,
  asked_at timestamp with time zone not null,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  cleaned_at timestamp with time zone,
  moved_at timestamp with time zone default tuntas.now() not null,
  constraint batch_job_pkey PRIMARY KEY (id),
  constraint batch_job_batch_fkey FOREIGN KEY (batch) REFERENCES tuntas.batch(name) ON DELETE CASCADE,
  constraint batch_job_check CHECK (((state = ANY (ARRAY['completed'::text, 'cancelled'::text])) = (ended_at IS NOT NULL))),
  constraint batch_job_state_check CHECK ((state = ANY (ARRAY['planning'::text, 'waiting'::text, 'running'::text, 'promoting'::text, 'completed'::text, 'failed'::text, 'paused'::text, 'cancelled'::text])))
) with (fillfactor=70);

-- control: What was promoted: a row stands for the commit that made the output of a job the current one.
create table tuntas.batch_manifest (
  job bigint not null,
  batch text not null,
  partitions integer not null,
  staged_rows bigint not null,
  staged_hash text not null,
  promoted_at timestamp with time zone not null,
  constraint batch_manifest_pkey PRIMARY KEY (job),
  constraint batch_manifest_job_fkey FOREIGN KEY (job) REFERENCES tuntas.batch_job(id) ON DELETE CASCADE
);

-- control: Partitions of jobs: how each stands, and what it staged.
create table tuntas.batch_partition (
  job bigint not null,
  number integer not null,
  key text not null,
  input text not null,
  state text default 'pending'::text not null,
  run integer default 0 not null,
  attempts integer default 0 not null,
  failure_code text,
  failure_message text,
  staged_rows bigint,
  staged_hash text,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint batch_partition_pkey PRIMARY KEY (job, number),
  constraint batch_partition_job_fkey FOREIGN KEY (job) REFERENCES tuntas.batch_job(id) ON DELETE CASCADE,
  constraint batch_partition_check CHECK (((state = ANY (ARRAY['done'::text, 'failed'::text, 'cancelled'::text])) = (ended_at IS NOT NULL))),
  constraint batch_partition_check1 CHECK (((state = 'done'::text) = (staged_hash IS NOT NULL))),
  constraint batch_partition_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'done'::text, 'failed'::text, 'cancelled'::text])))
) with (fillfactor=70);

-- integration: Messages that a process has claimed together.
create table tuntas.bundle (
  fence bigint not null,
  queue_id integer not null,
  owner_id bigint not null,
  claimed_at timestamp with time zone not null,
  ids bigint[] not null,
  constraint bundle_pkey PRIMARY KEY (fence)
) with (autovacuum_vacuum_scale_factor=0.02);

-- control: Changes of columns and of messages, and the steps that each has come to: when, by whom and why.
create table tuntas.change (
  name text not null,
  kind text not null,
  thing text not null,
  spec text not null,
  step text,
  steps text default '{}'::text not null,
  constraint change_pkey PRIMARY KEY (name),
  constraint change_kind_check CHECK ((kind = ANY (ARRAY['column'::text, 'message'::text])))
);

-- control: Running applications: the queues and tables that they use, and which release of each change they are.
create table tuntas.change_process (
  id uuid default gen_random_uuid() not null,
  host text not null,
  pid integer not null,
  boot uuid not null,
  began_at timestamp with time zone not null,
  things text[] not null,
  releases text not null,
  constraint change_process_pkey PRIMARY KEY (id)
);

-- control: What any one process does for all of them now and then, and when next.
create table tuntas.chore (
  name text not null,
  due timestamp with time zone not null,
  constraint chore_pkey PRIMARY KEY (name)
) with (fillfactor=50);

-- domain: Command records: the key of a mutation, the hash of its request and its result, written with it.
create table tuntas.command (
  scope text not null,
  key text not null,
  request_hash text not null,
  result text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  outcome text default 'done'::text not null,
  constraint command_pkey PRIMARY KEY (scope, key),
  constraint command_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'rejected'::text])))
);

-- domain: How to take back what was done, in reverse order.
create table tuntas.compensation (
  id bigint generated always as identity not null,
  work text not null,
  name text not null,
  key text not null,
  input text not null,
  state text not null,
  attempts integer default 0 not null,
  fence bigint,
  deadline timestamp with time zone,
  failure_code text,
  failure_message text,
  settled_by text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint compensation_work_name_key_key UNIQUE (work, name, key),
  constraint compensation_pkey PRIMARY KEY (id),
  constraint compensation_check CHECK (((completed_at IS NOT NULL) = (state = 'done'::text))),
  constraint compensation_check1 CHECK (((deadline IS NOT NULL) = (state = 'running'::text))),
  constraint compensation_state_check CHECK ((state = ANY (ARRAY['registered'::text, 'running'::text, 'parked'::text, 'done'::text])))
);

-- control: Which process takes from which queue, and how much at once.
create table tuntas.consumer (
  process_id bigint not null,
  queue_id integer not null,
  concurrency integer not null,
  global_concurrency integer,
  tenants text,
  constraint consumer_pkey PRIMARY KEY (process_id, queue_id),
  constraint consumer_process_id_fkey FOREIGN KEY (process_id) REFERENCES tuntas.process(id) ON DELETE CASCADE
);

-- integration: Messages that may be received later.
create table tuntas.delayed (
  id bigint not null,
  queue_id integer not null,
  due timestamp with time zone not null,
  turn bigint default 0 not null,
  receives integer default 0 not null,
  sent_at timestamp with time zone not null,
  first_received_at timestamp with time zone,
  group_id text,
  source_queue_id integer,
  constraint delayed_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0.02);

-- observability: Where data does not agree, found by reconciliations.
create table tuntas.discrepancy (
  id bigint generated always as identity not null,
  run_id bigint not null,
  name text not null,
  invariant text not null,
  anomaly text not null,
  key text not null,
  source text,
  derived text,
  state text not null,
  found_at timestamp with time zone not null,
  decided_by text,
  decided_reason text,
  decided_at timestamp with time zone,
  repaired_at timestamp with time zone,
  constraint discrepancy_pkey PRIMARY KEY (id),
  constraint discrepancy_run_id_fkey FOREIGN KEY (run_id) REFERENCES tuntas.reconciliation_run(id),
  constraint discrepancy_check CHECK (((state = ANY (ARRAY['open'::text, 'manual'::text])) OR ((decided_by IS NOT NULL) AND (decided_reason IS NOT NULL)))),
  constraint discrepancy_check1 CHECK (((repaired_at IS NULL) = (state <> 'repaired'::text))),
  constraint discrepancy_state_check CHECK ((state = ANY (ARRAY['open'::text, 'manual'::text, 'approved'::text, 'repaired'::text, 'dismissed'::text])))
);

-- control: What exactly one process does, and which it is.
create table tuntas.duty (
  name text not null,
  process_id bigint,
  since timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint duty_pkey PRIMARY KEY (name)
);

-- control: Declared endpoints of the outbox, and who answers for what they refuse.
create table tuntas.endpoint (
  name text not null,
  owner text not null,
  runbook text not null,
  constraint endpoint_pkey PRIMARY KEY (name)
);

-- control: Entities that one handler works on at a time.
create table tuntas.entity_lock (
  queue_id integer not null,
  key text not null,
  id bigint not null,
  fence bigint not null,
  constraint entity_lock_pkey PRIMARY KEY (queue_id, key)
) with (fillfactor=70);

-- control: Executions: machine, status, input, output.
create table tuntas.execution (
  id bigint generated always as identity not null,
  arn text not null,
  name text not null,
  machine_id bigint not null,
  machine_arn text not null,
  machine_revision bigint not null,
  type text not null,
  version_arn text,
  alias_arn text,
  trace_header text,
  map_run_id bigint,
  item_index integer,
  processor text,
  input text not null,
  started_at timestamp with time zone not null,
  status text not null,
  output text,
  error text,
  cause text,
  stopped_at timestamp with time zone,
  redrive_count integer default 0 not null,
  redriven_at timestamp with time zone,
  constraint execution_arn_key UNIQUE (arn),
  constraint execution_pkey PRIMARY KEY (id)
) with (fillfactor=80);

-- control: What happened in each execution, one row an advance.
create table tuntas.execution_history (
  execution_id bigint not null,
  seq integer not null,
  events text not null,
  visit text,
  constraint execution_history_pkey PRIMARY KEY (execution_id, seq)
);

-- control: Where each execution stands; its seq is the fence.
create table tuntas.execution_state (
  execution_id bigint not null,
  seq integer not null,
  state text not null,
  constraint execution_state_pkey PRIMARY KEY (execution_id)
) with (autovacuum_vacuum_scale_factor=0.02, fillfactor=50);

-- integration: Why messages failed that will be tried again.
create table tuntas.failure (
  id bigint not null,
  outcome text not null,
  code text not null,
  message text not null,
  fingerprint text not null,
  schema_version text,
  attempts integer not null,
  first_failed_at timestamp with time zone not null,
  failed_at timestamp with time zone not null,
  constraint failure_pkey PRIMARY KEY (id)
) with (fillfactor=70);

-- integration: Whose turn it is in a fair queue.
create table tuntas.fair_turn (
  queue_id integer not null,
  turn bigint not null,
  tenant text,
  constraint fair_turn_pkey PRIMARY KEY (queue_id)
) with (fillfactor=50);

-- integration: Deduplication ids of the last five minutes.
create table tuntas.fifo_duplicate (
  queue_id integer not null,
  scope text not null,
  deduplication_id text not null,
  message_id uuid not null,
  id bigint not null,
  expires_at timestamp with time zone not null,
  constraint fifo_duplicate_pkey PRIMARY KEY (queue_id, scope, deduplication_id)
);

-- integration: Groups of FIFO queues, and which are blocked.
create table tuntas.fifo_group (
  queue_id integer not null,
  group_id text not null,
  head bigint,
  constraint fifo_group_pkey PRIMARY KEY (queue_id, group_id)
) with (fillfactor=50);

-- integration: Receives that may be repeated with the same answer.
create table tuntas.fifo_receive_attempt (
  queue_id integer not null,
  attempt_id text not null,
  fence bigint not null,
  expires_at timestamp with time zone not null,
  messages integer,
  visible_at timestamp with time zone,
  constraint fifo_receive_attempt_pkey PRIMARY KEY (queue_id, attempt_id)
);

-- observability: How long handlers take.
create table tuntas.handler_duration (
  handler text not null,
  hour timestamp with time zone not null,
  bucket smallint not null,
  attempts bigint not null,
  constraint handler_duration_pkey PRIMARY KEY (handler, hour, bucket)
);

-- integration: Messages that somebody has received, with owner, receipt and fence.
create table tuntas.in_flight (
  queue_id integer not null,
  id bigint not null,
  fence bigint not null,
  owner_id bigint,
  expires_at timestamp with time zone,
  claimed_at timestamp with time zone not null,
  turn bigint not null,
  receives integer not null,
  sent_at timestamp with time zone not null,
  first_received_at timestamp with time zone not null,
  group_id text,
  source_queue_id integer,
  handed_over boolean,
  constraint in_flight_pkey PRIMARY KEY (queue_id, id),
  constraint in_flight_check CHECK (((owner_id IS NULL) <> (expires_at IS NULL)))
) with (autovacuum_analyze_scale_factor=0.2, autovacuum_vacuum_scale_factor=0.02);

-- integration: Messages taken in from queues that live elsewhere: who may end each, and what it came to.
create table tuntas.inbox (
  queue_id integer not null,
  message_id uuid not null,
  id bigint not null,
  fence bigint,
  receives integer not null,
  received_at timestamp with time zone not null,
  outcome text,
  code text,
  reason text,
  ended_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint inbox_id_key UNIQUE (id),
  constraint inbox_pkey PRIMARY KEY (queue_id, message_id)
) with (fillfactor=80);

-- control: Resources that one owner holds until an instant.
create table tuntas.lease (
  name text not null,
  state text not null,
  owner text not null,
  fence bigint not null,
  expires_at timestamp with time zone not null,
  claimed_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  takeovers integer default 0 not null,
  result text,
  completed_at timestamp with time zone,
  constraint lease_pkey PRIMARY KEY (name),
  constraint lease_state_check CHECK ((state = ANY (ARRAY['running'::text, 'released'::text, 'completed'::text])))
);

-- control: State machines.
create table tuntas.machine (
  id bigint generated always as identity not null,
  account text not null,
  region text not null,
  name text not null,
  type text not null,
  created_at timestamp with time zone not null,
  constraint machine_account_region_name_key UNIQUE (account, region, name),
  constraint machine_pkey PRIMARY KEY (id),
  constraint machine_type_check CHECK ((type = ANY (ARRAY['STANDARD'::text, 'EXPRESS'::text])))
);

-- control: Aliases of machines, with the versions that they lead to.
create table tuntas.machine_alias (
  machine_id bigint not null,
  name text not null,
  description text,
  routing text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint machine_alias_pkey PRIMARY KEY (machine_id, name),
  constraint machine_alias_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES tuntas.machine(id) ON DELETE CASCADE
);

-- control: Every definition that a machine has had.
create table tuntas.machine_revision (
  id bigint generated always as identity not null,
  machine_id bigint not null,
  revision_id uuid,
  definition text not null,
  role_arn text not null,
  logging text,
  tracing text,
  encryption text,
  handlers text,
  created_at timestamp with time zone not null,
  constraint machine_revision_pkey PRIMARY KEY (id)
);

-- control: Published versions of machines.
create table tuntas.machine_version (
  machine_id bigint not null,
  number integer not null,
  machine_revision bigint not null,
  description text,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint machine_version_pkey PRIMARY KEY (machine_id, number),
  constraint machine_version_machine_id_fkey FOREIGN KEY (machine_id) REFERENCES tuntas.machine(id) ON DELETE CASCADE
);

-- control: Runs of the children of distributed Maps.
create table tuntas.map_run (
  id bigint generated always as identity not null,
  arn text not null,
  execution_id bigint not null,
  number integer not null,
  machine_arn text not null,
  concurrency integer not null,
  failure_count integer,
  failure_percentage double precision,
  item_count integer not null,
  status text not null,
  started_at timestamp with time zone not null,
  stopped_at timestamp with time zone,
  child_count integer default 0 not null,
  batch_sizes integer[],
  command text,
  changed_at timestamp with time zone,
  redrive_count integer default 0 not null,
  redriven_at timestamp with time zone,
  results_written boolean default false not null,
  constraint map_run_arn_key UNIQUE (arn),
  constraint map_run_pkey PRIMARY KEY (id),
  constraint map_run_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'ABORTED'::text])))
);

-- integration: What was sent, once.
create table tuntas.message (
  id bigint generated by default as identity not null,
  message_id uuid not null,
  sent_at timestamp with time zone not null,
  sender text not null,
  body text not null,
  attributes text,
  trace_header text,
  deduplication_id text,
  constraint message_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_insert_scale_factor=0.2, autovacuum_vacuum_scale_factor=0.02);

-- control: Which migrations this schema has had.
create table tuntas.migration (
  number integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (number)
);

-- integration: Moves of dead letters back to where they came from.
create table tuntas.move_task (
  id uuid not null,
  source_queue_id integer not null,
  destination_queue_id integer,
  destination_name text,
  per_second integer,
  status text not null,
  failure_reason text,
  to_move bigint not null,
  moved bigint default 0 not null,
  started_at timestamp with time zone not null,
  next_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint move_task_pkey PRIMARY KEY (id),
  constraint move_task_per_second_check CHECK (((per_second >= 1) AND (per_second <= 500))),
  constraint move_task_status_check CHECK ((status = ANY (ARRAY['RUNNING'::text, 'COMPLETED'::text, 'CANCELLING'::text, 'CANCELLED'::text, 'FAILED'::text])))
);

-- control: Due instants of schedules: what was started for each, and what it came to.
create table tuntas.occurrence (
  schedule text not null,
  due timestamp with time zone not null,
  run integer not null,
  window_start timestamp with time zone not null,
  window_end timestamp with time zone not null,
  state text not null,
  reason text,
  actor text,
  target_kind text not null,
  target_name text not null,
  reference text,
  decided_at timestamp with time zone not null,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  begin_at timestamp with time zone,
  tries integer default 0 not null,
  tried_at timestamp with time zone,
  records_written bigint,
  constraint occurrence_pkey PRIMARY KEY (schedule, due, run),
  constraint occurrence_schedule_fkey FOREIGN KEY (schedule) REFERENCES tuntas.schedule(name) ON DELETE CASCADE,
  constraint occurrence_check CHECK (((state = ANY (ARRAY['started'::text, 'succeeded'::text, 'failed'::text])) = (started_at IS NOT NULL))),
  constraint occurrence_check1 CHECK (((state = ANY (ARRAY['waiting'::text, 'started'::text])) = (ended_at IS NULL))),
  constraint occurrence_records_written_check CHECK ((records_written >= 0)),
  constraint occurrence_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'started'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'missed'::text])))
) with (fillfactor=70);

-- control: Workers that rest: a message for their queue may be handed over to them as it is sent.
create table tuntas.offer (
  queue_id integer not null,
  owner_id bigint not null,
  mailbox text not null,
  constraint offer_pkey PRIMARY KEY (queue_id, owner_id),
  constraint offer_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES tuntas.process(id) ON DELETE CASCADE
);

-- control: Governed acts of people: who, why, filter, counts, rate.
create table tuntas.operation (
  id bigint generated always as identity not null,
  key text not null,
  kind text not null,
  request text not null,
  selection text not null,
  actor text not null,
  reason text not null,
  state text not null,
  selected bigint not null,
  per_second integer,
  decided_by text,
  asked_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  cursor text,
  failure text,
  owner_id bigint,
  lease_until timestamp with time zone,
  fence bigint default 0 not null,
  constraint operation_key_key UNIQUE (key),
  constraint operation_pkey PRIMARY KEY (id),
  constraint operation_per_second_check CHECK ((per_second > 0)),
  constraint operation_state_check CHECK ((state = ANY (ARRAY['awaiting_approval'::text, 'running'::text, 'paused'::text, 'completed'::text, 'aborted'::text, 'declined'::text, 'failed'::text])))
) with (fillfactor=70);

-- control: One-off commands as code declares them.
create table tuntas.operation_command (
  name text not null,
  digest text not null,
  policy text not null,
  owner text not null,
  runbook text not null,
  constraint operation_command_pkey PRIMARY KEY (name)
);

-- control: Runs of one-off commands: what ran, with what, its result, its evidence.
create table tuntas.operation_command_run (
  operation_id bigint not null,
  command text not null,
  digest text not null,
  arguments text not null,
  request_hash text not null,
  dry_run boolean not null,
  approver text,
  timeout_ms bigint not null,
  attempts integer default 0 not null,
  begun_at timestamp with time zone,
  result text,
  output text,
  invariant text,
  evidence text,
  closed_by text,
  closed_at timestamp with time zone,
  constraint operation_command_run_pkey PRIMARY KEY (operation_id),
  constraint operation_command_run_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES tuntas.operation(id) ON DELETE CASCADE
);

-- control: What became of each item of an operation.
create table tuntas.operation_item (
  operation_id bigint not null,
  number bigint not null,
  item text not null,
  outcome text not null,
  weight bigint default 1 not null,
  reason text,
  at timestamp with time zone not null,
  constraint operation_item_pkey PRIMARY KEY (operation_id, number),
  constraint operation_item_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES tuntas.operation(id) ON DELETE CASCADE,
  constraint operation_item_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'skipped'::text])))
);

-- integration: What is to be announced, written with the change.
create table tuntas.outbox (
  id bigint generated always as identity not null,
  event_id uuid not null,
  target_kind text not null,
  target_name text not null,
  key text,
  type text,
  payload text not null,
  created_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  refusals integer default 0 not null,
  claimed_by bigint,
  claimed_until timestamp with time zone,
  fence bigint,
  failure_code text,
  failure_message text,
  parked_at timestamp with time zone,
  constraint outbox_pkey PRIMARY KEY (id)
);

-- integration: What was announced.
create table tuntas.outbox_published (
  id bigint not null,
  event_id uuid not null,
  target_kind text not null,
  target_name text not null,
  key text,
  type text,
  created_at timestamp with time zone not null,
  published_at timestamp with time zone not null,
  duplicate boolean not null,
  reference text,
  constraint outbox_published_pkey PRIMARY KEY (id)
);

-- control: Processes that live, by their heartbeat.
create table tuntas.process (
  id bigint generated always as identity not null,
  name text not null,
  host text not null,
  pid integer not null,
  version text not null,
  lock_key bigint,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  locked_on text,
  constraint process_pkey PRIMARY KEY (id)
) with (fillfactor=50);

-- integration: Calls to each provider: limit and breaker, shared by all processes.
create table tuntas.provider (
  name text not null,
  open_until timestamp with time zone,
  openings integer default 0 not null,
  tokens double precision,
  tokens_at timestamp with time zone,
  constraint provider_pkey PRIMARY KEY (name)
) with (fillfactor=50);

-- integration: Messages that no retry will help.
create table tuntas.quarantine (
  id bigint not null,
  queue_id integer not null,
  message_id uuid not null,
  outcome text not null,
  code text not null,
  message text not null,
  fingerprint text not null,
  schema_version text,
  body text not null,
  attributes text,
  trace_header text,
  deduplication_id text,
  group_id text,
  sender text not null,
  receives integer not null,
  sent_at timestamp with time zone not null,
  quarantined_at timestamp with time zone not null,
  constraint quarantine_pkey PRIMARY KEY (id),
  constraint quarantine_outcome_check CHECK ((outcome = ANY (ARRAY['poison'::text, 'unknown'::text])))
);

-- integration: Queues and their settings.
create table tuntas.queue (
  id integer generated always as identity not null,
  account text not null,
  region text not null,
  name text not null,
  fifo boolean not null,
  delay_seconds integer default 0 not null,
  visibility_seconds integer default 30 not null,
  retention_seconds integer default 345600 not null,
  receive_wait_seconds integer default 0 not null,
  message_bytes_max integer default 1048576 not null,
  dead_letter_name text,
  receives_max integer,
  redrive_allow_policy text,
  content_deduplication boolean default false not null,
  deduplication_scope text default 'queue'::text not null,
  throughput_limit text default 'perQueue'::text not null,
  policy text,
  kms_key_id text,
  kms_reuse_seconds integer default 300 not null,
  sse_managed boolean default true not null,
  owner text,
  runbook text,
  poison text default 'exhaust'::text not null,
  replay_forbidden text default '[]'::text not null,
  paused_at timestamp with time zone,
  paused_by text,
  purged_at timestamp with time zone,
  created_at timestamp with time zone not null,
  modified_at timestamp with time zone not null,
  constraint queue_account_region_name_key UNIQUE (account, region, name),
  constraint queue_pkey PRIMARY KEY (id),
  constraint queue_check CHECK (((dead_letter_name IS NULL) = (receives_max IS NULL))),
  constraint queue_check1 CHECK ((fifo = (name ~~ '%.fifo'::text))),
  constraint queue_deduplication_scope_check CHECK ((deduplication_scope = ANY (ARRAY['queue'::text, 'messageGroup'::text]))),
  constraint queue_delay_seconds_check CHECK (((delay_seconds >= 0) AND (delay_seconds <= 900))),
  constraint queue_kms_reuse_seconds_check CHECK (((kms_reuse_seconds >= 60) AND (kms_reuse_seconds <= 86400))),
  constraint queue_message_bytes_max_check CHECK (((message_bytes_max >= 1024) AND (message_bytes_max <= 1048576))),
  constraint queue_poison_check CHECK ((poison = ANY (ARRAY['quarantine'::text, 'exhaust'::text]))),
  constraint queue_receive_wait_seconds_check CHECK (((receive_wait_seconds >= 0) AND (receive_wait_seconds <= 20))),
  constraint queue_receives_max_check CHECK (((receives_max >= 1) AND (receives_max <= 1000))),
  constraint queue_retention_seconds_check CHECK (((retention_seconds >= 60) AND (retention_seconds <= 1209600))),
  constraint queue_throughput_limit_check CHECK ((throughput_limit = ANY (ARRAY['perQueue'::text, 'perMessageGroupId'::text]))),
  constraint queue_visibility_seconds_check CHECK (((visibility_seconds >= 0) AND (visibility_seconds <= 43200)))
);

-- integration: Tags of queues.
create table tuntas.queue_tag (
  queue_id integer not null,
  key text not null,
  value text not null,
  constraint queue_tag_pkey PRIMARY KEY (queue_id, key),
  constraint queue_tag_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES tuntas.queue(id) ON DELETE CASCADE
);

-- integration: Messages that may be received now.
create table tuntas.ready (
  queue_id integer not null,
  turn bigint default 0 not null,
  id bigint not null,
  receives integer default 0 not null,
  sent_at timestamp with time zone not null,
  first_received_at timestamp with time zone,
  group_id text,
  source_queue_id integer,
  constraint ready_pkey PRIMARY KEY (queue_id, turn, id)
) with (autovacuum_analyze_scale_factor=0.2, autovacuum_vacuum_scale_factor=0.02);

-- observability: Reconciliations as they are declared.
create table tuntas.reconciliation (
  name text not null,
  invariant text not null,
  anomaly text not null,
  owner text not null,
  of_kind text not null,
  of_name text not null,
  every_seconds double precision,
  registered_at timestamp with time zone not null,
  next_at timestamp with time zone,
  failure_code text,
  failure_message text,
  failed_at timestamp with time zone,
  constraint reconciliation_pkey PRIMARY KEY (name),
  constraint reconciliation_check CHECK (((next_at IS NULL) = (every_seconds IS NULL))),
  constraint reconciliation_of_kind_check CHECK ((of_kind = ANY (ARRAY['queue'::text, 'workflow'::text, 'application'::text])))
);

-- observability: What each run of a reconciliation found.
create table tuntas.reconciliation_run (
  id bigint generated always as identity not null,
  name text not null,
  invariant text not null,
  compared bigint not null,
  found bigint not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  constraint reconciliation_run_pkey PRIMARY KEY (id)
);

-- integration: Messages that were refused as a matter of business.
create table tuntas.rejection (
  id bigint not null,
  queue_id integer not null,
  message_id uuid not null,
  code text not null,
  reason text not null,
  receives integer not null,
  sent_at timestamp with time zone not null,
  rejected_at timestamp with time zone not null,
  constraint rejection_pkey PRIMARY KEY (id)
);

-- observability: How many messages a queue has that lives elsewhere, as it was counted last.
create table tuntas.remote_depth (
  queue_id integer not null,
  ready double precision default 0 not null,
  in_flight double precision default 0 not null,
  delayed double precision default 0 not null,
  dead double precision default 0 not null,
  counted_at timestamp with time zone not null,
  constraint remote_depth_pkey PRIMARY KEY (queue_id)
);

-- integration: Tasks taken from machines that run elsewhere: what each came to, and whether the machine took the answer.
create table tuntas.remote_task (
  reference text not null,
  workflow text not null,
  task text not null,
  state text not null,
  execution_arn text not null,
  visit text not null,
  redrives integer not null,
  retries integer not null,
  token bytea,
  answer text,
  fate text not null,
  waits_until timestamp with time zone,
  taken_at timestamp with time zone not null,
  told_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint remote_task_pkey PRIMARY KEY (reference),
  constraint remote_task_check CHECK (((answer IS NOT NULL) OR (fate = ANY (ARRAY['waiting'::text, 'closed'::text])))),
  constraint remote_task_check1 CHECK (((told_at IS NOT NULL) = (fate = ANY (ARRAY['accepted'::text, 'closed'::text])))),
  constraint remote_task_fate_check CHECK ((fate = ANY (ARRAY['waiting'::text, 'answered'::text, 'accepted'::text, 'closed'::text])))
);

-- control: When the next request of a tenant would come, had all come at its rate.
create table tuntas.request_rate (
  service text not null,
  tenant text not null,
  next_at timestamp with time zone not null,
  constraint request_rate_pkey PRIMARY KEY (service, tenant)
) with (fillfactor=70);

-- domain: What is reserved for whom until when: reserved, confirmed, released, expired.
create table tuntas.reservation (
  id uuid not null,
  kind text not null,
  resource text not null,
  unit integer not null,
  holder text not null,
  state text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  released_at timestamp with time zone,
  expired_at timestamp with time zone,
  notify_kind text,
  notify_name text,
  told_at timestamp with time zone,
  constraint reservation_pkey PRIMARY KEY (id),
  constraint reservation_check CHECK (((notify_kind IS NULL) = (notify_name IS NULL))),
  constraint reservation_state_check CHECK ((state = ANY (ARRAY['reserved'::text, 'confirmed'::text, 'released'::text, 'expired'::text]))),
  constraint reservation_unit_check CHECK ((unit >= 1))
);

-- control: Schedules: when each is due next, and what is done then.
create table tuntas.schedule (
  name text not null,
  expression text not null,
  time_zone text not null,
  target_kind text not null,
  target_name text not null,
  input text not null,
  overlap text not null,
  catch_up text not null,
  catch_up_within interval not null,
  succeeds_within interval,
  retention interval not null,
  owner text,
  runbook text,
  anchor timestamp with time zone not null,
  covered_until timestamp with time zone not null,
  next_due timestamp with time zone,
  expected_by timestamp with time zone,
  last_success_at timestamp with time zone,
  paused_at timestamp with time zone,
  paused_by text,
  paused_reason text,
  account text default '000000000000'::text not null,
  region text default 'us-east-1'::text not null,
  group_name text default 'default'::text not null,
  starts timestamp with time zone,
  ends timestamp with time zone,
  flexible interval default '00:00:00'::interval not null,
  retries_max integer default 185 not null,
  retry_within interval default '24:00:00'::interval not null,
  dead_letter text,
  afterwards text default 'keep'::text not null,
  is_template boolean default false not null,
  extras text default '{}'::text not null,
  description text,
  request text,
  created_at timestamp with time zone default tuntas.now() not null,
  changed_at timestamp with time zone default tuntas.now() not null,
  label text default regexp_replace(name, '^.*/'::text, ''::text),
  holidays text,
  constraint schedule_pkey PRIMARY KEY (name),
  constraint schedule_afterwards_check CHECK ((afterwards = ANY (ARRAY['keep'::text, 'remove'::text]))),
  constraint schedule_catch_up_check CHECK ((catch_up = ANY (ARRAY['skip'::text, 'latest'::text, 'all'::text]))),
  constraint schedule_overlap_check CHECK ((overlap = ANY (ARRAY['skip'::text, 'allow'::text, 'queue'::text])))
) with (fillfactor=70);

-- control: Groups of schedules, as they are made over the wire.
create table tuntas.schedule_group (
  account text not null,
  region text not null,
  name text not null,
  tags text default '{}'::text not null,
  created_at timestamp with time zone default tuntas.now() not null,
  changed_at timestamp with time zone default tuntas.now() not null,
  constraint schedule_group_pkey PRIMARY KEY (account, region, name)
);

-- observability: Names and labels of figures over time.
create table tuntas.series (
  id bigint generated always as identity not null,
  name text not null,
  labels text not null,
  kind text not null,
  created_at timestamp with time zone not null,
  constraint series_name_labels_key UNIQUE (name, labels),
  constraint series_pkey PRIMARY KEY (id),
  constraint series_kind_check CHECK ((kind = ANY (ARRAY['gauge'::text, 'counter'::text])))
);

-- observability: What happened when, for the charts.
create table tuntas.series_mark (
  id bigint generated always as identity not null,
  kind text not null,
  at timestamp with time zone not null,
  until timestamp with time zone,
  subject text not null,
  text text not null,
  actor text,
  constraint series_mark_pkey PRIMARY KEY (id),
  constraint series_mark_kind_check CHECK ((kind = ANY (ARRAY['deployment'::text, 'configuration'::text, 'gap'::text])))
);

-- observability: Figures over time.
create table tuntas.series_point (
  series_id bigint not null,
  width_seconds integer not null,
  at timestamp with time zone not null,
  samples integer not null,
  total double precision not null,
  least double precision not null,
  greatest double precision not null,
  latest double precision not null,
  constraint series_point_pkey PRIMARY KEY (series_id, width_seconds, at)
) with (autovacuum_vacuum_scale_factor=0.1, fillfactor=80);

-- control: Long-running services: where they run, and how many instances there are to be.
create table tuntas.service (
  name text not null,
  host text not null,
  desired integer not null,
  active boolean default true not null,
  deployment_id bigint,
  scaled_at timestamp with time zone,
  decision text,
  decided_at timestamp with time zone,
  constraint service_pkey PRIMARY KEY (name),
  constraint service_desired_check CHECK ((desired >= 0))
);

-- control: Roll-outs of revisions, and how each ended.
create table tuntas.service_deployment (
  id bigint generated always as identity not null,
  service text not null,
  revision integer not null,
  state text not null,
  rollback_of bigint,
  failures integer default 0 not null,
  failed_at timestamp with time zone,
  actor text not null,
  reason text,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  steady_at timestamp with time zone,
  constraint service_deployment_pkey PRIMARY KEY (id),
  constraint service_deployment_service_fkey FOREIGN KEY (service) REFERENCES tuntas.service(name) ON DELETE CASCADE,
  constraint service_deployment_state_check CHECK ((state = ANY (ARRAY['in_progress'::text, 'completed'::text, 'failed'::text, 'superseded'::text])))
);

-- observability: The log of each service: batches, health, stops, roll-outs and their ends.
create table tuntas.service_event (
  id bigint generated always as identity not null,
  service text not null,
  deployment_id bigint,
  instance_id bigint,
  at timestamp with time zone not null,
  event text not null,
  detail text not null,
  constraint service_event_pkey PRIMARY KEY (id),
  constraint service_event_service_fkey FOREIGN KEY (service) REFERENCES tuntas.service(name) ON DELETE CASCADE
);

-- control: Processes of services, those that run and those of the last thirty days.
create table tuntas.service_instance (
  id bigint generated always as identity not null,
  service text not null,
  deployment_id bigint not null,
  revision integer not null,
  host text not null,
  state text not null,
  health text default 'unknown'::text not null,
  port integer,
  pid integer,
  identity text,
  started_at timestamp with time zone not null,
  healthy_at timestamp with time zone,
  stopping_at timestamp with time zone,
  terminated_at timestamp with time zone,
  killed_at timestamp with time zone,
  stopped_at timestamp with time zone,
  stop_reason text,
  exit text,
  memory_bytes bigint,
  cpu_units integer,
  measured_at timestamp with time zone,
  constraint service_instance_pkey PRIMARY KEY (id),
  constraint service_instance_service_fkey FOREIGN KEY (service) REFERENCES tuntas.service(name) ON DELETE CASCADE,
  constraint service_instance_health_check CHECK ((health = ANY (ARRAY['unknown'::text, 'healthy'::text, 'unhealthy'::text]))),
  constraint service_instance_state_check CHECK ((state = ANY (ARRAY['starting'::text, 'running'::text, 'stopping'::text, 'stopped'::text])))
);

-- control: Every definition that a service has had, by number and hash.
create table tuntas.service_revision (
  service text not null,
  revision integer not null,
  hash text not null,
  definition text not null,
  registered_at timestamp with time zone not null,
  constraint service_revision_pkey PRIMARY KEY (service, revision),
  constraint service_revision_service_fkey FOREIGN KEY (service) REFERENCES tuntas.service(name) ON DELETE CASCADE
);

-- integration: A row a call to the outside: pending, succeeded, failed, unknown.
create table tuntas.side_effect (
  id bigint generated always as identity not null,
  provider text not null,
  operation text not null,
  key text not null,
  request_hash text not null,
  request text not null,
  state text not null,
  final boolean default false not null,
  subject text,
  caller text,
  calls integer default 1 not null,
  fence bigint not null,
  deadline timestamp with time zone not null,
  reference text,
  response text,
  failure_code text,
  failure_message text,
  settled_by text,
  created_at timestamp with time zone not null,
  called_at timestamp with time zone not null,
  asked_at timestamp with time zone,
  completed_at timestamp with time zone,
  constraint side_effect_provider_operation_key_key UNIQUE (provider, operation, key),
  constraint side_effect_pkey PRIMARY KEY (id),
  constraint side_effect_check CHECK (((completed_at IS NULL) = (state = ANY (ARRAY['pending'::text, 'unknown'::text])))),
  constraint side_effect_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text])))
);

-- control: Streams: what they are partitioned by, how long records are kept, who answers for them.
create table tuntas.stream (
  id integer generated always as identity not null,
  name text not null,
  key_meaning text not null,
  partitions integer not null,
  retention interval not null,
  owner text not null,
  runbook text not null,
  segment integer default 0 not null,
  constraint stream_name_key UNIQUE (name),
  constraint stream_pkey PRIMARY KEY (id),
  constraint stream_partitions_check CHECK (((partitions >= 1) AND (partitions <= 256)))
);

-- domain: Records that were appended in transactions of their callers, until they get their offsets.
create table tuntas.stream_arrival (
  stream_id integer not null,
  partition integer not null,
  id bigint generated always as identity not null,
  key text not null,
  body text not null,
  appended_at timestamp with time zone not null,
  known integer,
  constraint stream_arrival_pkey PRIMARY KEY (stream_id, partition, id),
  constraint stream_arrival_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE
);

-- control: How far each consumer has read each partition, and which process reads it now.
create table tuntas.stream_checkpoint (
  consumer_id integer not null,
  partition integer not null,
  stream_id integer not null,
  next_offset bigint not null,
  reached bigint not null,
  fence bigint default 0 not null,
  owner_id bigint,
  moved_at timestamp with time zone not null,
  attempts integer default 0 not null,
  retry_at timestamp with time zone,
  code text,
  reason text,
  stopped_at timestamp with time zone,
  suspect boolean default false not null,
  trying bigint,
  contested boolean default false not null,
  waiting_at timestamp with time zone,
  began bigint not null,
  constraint stream_checkpoint_pkey PRIMARY KEY (consumer_id, partition),
  constraint stream_checkpoint_consumer_id_fkey FOREIGN KEY (consumer_id) REFERENCES tuntas.stream_consumer(id) ON DELETE CASCADE
) with (fillfactor=50);

-- control: Consumers of streams, and how far behind each may be.
create table tuntas.stream_consumer (
  id integer generated always as identity not null,
  stream_id integer not null,
  name text not null,
  on_bad_record text not null,
  timeout interval not null,
  lag_within interval not null,
  constraint stream_consumer_stream_id_name_key UNIQUE (stream_id, name),
  constraint stream_consumer_pkey PRIMARY KEY (id),
  constraint stream_consumer_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE,
  constraint stream_consumer_on_bad_record_check CHECK ((on_bad_record = ANY (ARRAY['park'::text, 'stop'::text])))
);

-- control: Processes that share the partitions of a consumer among them.
create table tuntas.stream_member (
  consumer_id integer not null,
  process_id bigint not null,
  constraint stream_member_pkey PRIMARY KEY (consumer_id, process_id),
  constraint stream_member_consumer_id_fkey FOREIGN KEY (consumer_id) REFERENCES tuntas.stream_consumer(id) ON DELETE CASCADE,
  constraint stream_member_process_id_fkey FOREIGN KEY (process_id) REFERENCES tuntas.process(id) ON DELETE CASCADE
);

-- domain: Records that a consumer could not handle and has gone past, with the reason.
create table tuntas.stream_parked (
  id bigint generated always as identity not null,
  consumer_id integer not null,
  partition integer not null,
  offset bigint not null,
  key text not null,
  body text not null,
  attempts integer not null,
  code text not null,
  reason text not null,
  parked_at timestamp with time zone not null,
  replay_at timestamp with time zone,
  contested boolean default false not null,
  constraint stream_parked_consumer_id_partition_offset_key UNIQUE (consumer_id, partition, "offset"),
  constraint stream_parked_pkey PRIMARY KEY (id),
  constraint stream_parked_consumer_id_fkey FOREIGN KEY (consumer_id) REFERENCES tuntas.stream_consumer(id) ON DELETE CASCADE
);

-- control: Partitions of streams: the offset that the next record gets.
create table tuntas.stream_partition (
  stream_id integer not null,
  partition integer not null,
  next_offset bigint default 0 not null,
  constraint stream_partition_pkey PRIMARY KEY (stream_id, partition),
  constraint stream_partition_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE
) with (fillfactor=50);

-- domain: The form of the segments, which hold the records of streams; empty itself.
create table tuntas.stream_record (
  partition integer not null,
  offset bigint not null,
  key text not null,
  body text not null,
  appended_at timestamp with time zone not null,
  constraint stream_record_pkey PRIMARY KEY (partition, "offset")
);

-- control: Where streams got more partitions: the offset of each from which on it has other keys.
create table tuntas.stream_seam (
  stream_id integer not null,
  seam integer not null,
  partitions integer not null,
  offsets bigint[] not null,
  constraint stream_seam_pkey PRIMARY KEY (stream_id, seam),
  constraint stream_seam_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE
);

-- control: Segments of streams: the offsets and the instant from which each has the records.
create table tuntas.stream_segment (
  stream_id integer not null,
  segment integer not null,
  first_offsets bigint[] not null,
  began_at timestamp with time zone not null,
  constraint stream_segment_pkey PRIMARY KEY (stream_id, segment),
  constraint stream_segment_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE
);

-- control: Consumers of streams whose place another has taken: they are not declared again.
create table tuntas.stream_succession (
  stream_id integer not null,
  name text not null,
  successor text not null,
  swapped_at timestamp with time zone not null,
  constraint stream_succession_pkey PRIMARY KEY (stream_id, name),
  constraint stream_succession_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES tuntas.stream(id) ON DELETE CASCADE
);

-- control: What limits a tenant of a queue besides the messages of its that are held: its rate, its circuit breaker.
create table tuntas.tenant (
  queue_id integer not null,
  tenant text not null,
  next_at timestamp with time zone,
  failures integer default 0 not null,
  open_until timestamp with time zone,
  changed_at timestamp with time zone not null,
  constraint tenant_pkey PRIMARY KEY (queue_id, tenant)
) with (fillfactor=70);

-- observability: What each tenant has used: attempts of workers and requests, and the time that they took.
create table tuntas.usage (
  day date not null,
  work text not null,
  tenant text not null,
  uses bigint not null,
  seconds double precision not null,
  constraint usage_pkey PRIMARY KEY (day, work, tenant)
);

-- observability: Counts of usage that were written in the last day, so that none is added twice.
create table tuntas.usage_write (
  id uuid not null,
  written_at timestamp with time zone not null,
  constraint usage_write_pkey PRIMARY KEY (id)
);

-- control: What executions wait for outside: calls, workers, answers to tokens, which are kept hashed.
create table tuntas.workflow_call (
  execution_id bigint not null,
  key text not null,
  command text not null,
  owner_id bigint,
  token_hash bytea,
  activity_arn text,
  heartbeat_seconds integer,
  started boolean default false not null,
  pool bigint,
  constraint workflow_call_pkey PRIMARY KEY (execution_id, key)
) with (autovacuum_vacuum_scale_factor=0.02);

-- control: What of executions is due when.
create table tuntas.workflow_due (
  execution_id bigint not null,
  key text not null,
  due timestamp with time zone not null,
  taken_by bigint,
  constraint workflow_due_pkey PRIMARY KEY (execution_id, key)
) with (autovacuum_vacuum_scale_factor=0.02, fillfactor=70);

-- control: What task tokens are derived with.
create table tuntas.workflow_secret (
  value bytea not null
);

-- control: Executions that a command of an application has asked for.
create table tuntas.workflow_start (
  command_id text not null,
  pattern text not null,
  workflow text not null,
  execution_name text not null,
  input text not null,
  state text not null,
  execution_arn text,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  failure_message text,
  constraint workflow_start_workflow_execution_name_key UNIQUE (workflow, execution_name),
  constraint workflow_start_pkey PRIMARY KEY (command_id),
  constraint workflow_start_check CHECK (((state = 'started'::text) = (started_at IS NOT NULL))),
  constraint workflow_start_pattern_check CHECK ((pattern = ANY (ARRAY['A'::text, 'B'::text, 'C'::text]))),
  constraint workflow_start_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'started'::text, 'manual'::text])))
);

-- control: Tags of machines and activities.
create table tuntas.workflow_tag (
  arn text not null,
  key text not null,
  value text not null,
  constraint workflow_tag_pkey PRIMARY KEY (arn, key)
);

CREATE INDEX access_attempt_began ON tuntas.access_attempt USING btree (began_at);

CREATE INDEX access_session_expires ON tuntas.access_session USING btree (expires_at);

CREATE INDEX access_session_user ON tuntas.access_session USING btree (user_name);

CREATE INDEX alarm_history_at ON tuntas.alarm_history USING btree (at);

CREATE INDEX alarm_history_name ON tuntas.alarm_history USING btree (name, subject, id);

CREATE INDEX alarm_state_firing ON tuntas.alarm_state USING btree (since) WHERE (state = 'ALARM'::text);

CREATE INDEX approval_decider_name ON tuntas.approval_decider USING btree (kind, name);

CREATE INDEX approval_execution ON tuntas.approval USING btree (execution_arn);

CREATE INDEX approval_next ON tuntas.approval USING btree (next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX approval_pending ON tuntas.approval USING btree (due_at, id) WHERE (status = 'pending'::text);

CREATE INDEX approval_subject ON tuntas.approval USING btree (subject);

CREATE INDEX approval_untold ON tuntas.approval USING btree (ended_at) WHERE ((status <> 'pending'::text) AND (told_at IS NULL));

CREATE INDEX audit_at ON tuntas.audit USING btree (at);

CREATE INDEX audit_subject ON tuntas.audit USING btree (subject, id);

CREATE INDEX backfill_partition_open ON tuntas.backfill_partition USING btree (run, number) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX backfill_run_active ON tuntas.backfill_run USING btree (backfill) WHERE (state = ANY (ARRAY['running'::text, 'verifying'::text, 'rolling_back'::text]));

CREATE INDEX backfill_run_ended ON tuntas.backfill_run USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE UNIQUE INDEX backfill_run_scope ON tuntas.backfill_run USING btree (backfill, scope_hash) WHERE (ended_at IS NULL);

CREATE INDEX backfill_run_timed ON tuntas.backfill_run USING btree (id) WHERE ((state = 'running'::text) OR (pause = 'window'::text));

CREATE INDEX batch_job_ended ON tuntas.batch_job USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE UNIQUE INDEX batch_job_key ON tuntas.batch_job USING btree (batch, key) WHERE (state <> 'cancelled'::text);

CREATE INDEX batch_job_open ON tuntas.batch_job USING btree (batch, id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text, 'promoting'::text]));

CREATE INDEX batch_manifest_latest ON tuntas.batch_manifest USING btree (batch, job);

CREATE INDEX batch_partition_open ON tuntas.batch_partition USING btree (job, number) WHERE (ended_at IS NULL);

CREATE INDEX bundle_queue ON tuntas.bundle USING btree (queue_id);

CREATE INDEX command_expires ON tuntas.command USING btree (expires_at);

CREATE INDEX compensation_open ON tuntas.compensation USING btree (work, id) WHERE (state <> 'done'::text);

CREATE INDEX compensation_parked ON tuntas.compensation USING btree (id) WHERE (state = 'parked'::text);

CREATE INDEX consumer_queue ON tuntas.consumer USING btree (queue_id);

CREATE INDEX delayed_due ON tuntas.delayed USING btree (due);

CREATE INDEX delayed_group ON tuntas.delayed USING btree (queue_id, group_id, id) WHERE (group_id IS NOT NULL);

CREATE INDEX delayed_queue ON tuntas.delayed USING btree (queue_id);

CREATE INDEX discrepancy_run ON tuntas.discrepancy USING btree (run_id);

CREATE UNIQUE INDEX discrepancy_standing ON tuntas.discrepancy USING btree (name, key) WHERE (state = ANY (ARRAY['open'::text, 'manual'::text, 'approved'::text]));

CREATE INDEX execution_machine ON tuntas.execution USING btree (machine_id, id DESC) WHERE (map_run_id IS NULL);

CREATE INDEX execution_map_run ON tuntas.execution USING btree (map_run_id, item_index) WHERE (map_run_id IS NOT NULL);

CREATE INDEX fifo_duplicate_expires ON tuntas.fifo_duplicate USING btree (expires_at);

CREATE INDEX fifo_group_head ON tuntas.fifo_group USING btree (queue_id, head) WHERE (head IS NOT NULL);

CREATE INDEX handler_duration_hour ON tuntas.handler_duration USING btree (hour);

CREATE INDEX in_flight_expires ON tuntas.in_flight USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX in_flight_group ON tuntas.in_flight USING btree (queue_id, group_id, turn, id) WHERE (group_id IS NOT NULL);

CREATE INDEX in_flight_handed_over ON tuntas.in_flight USING btree (owner_id, fence) WHERE handed_over;

CREATE INDEX inbox_expires ON tuntas.inbox USING btree (expires_at);

CREATE INDEX machine_revision_machine ON tuntas.machine_revision USING btree (machine_id, id);

CREATE INDEX map_run_execution ON tuntas.map_run USING btree (execution_id);

CREATE UNIQUE INDEX move_task_running ON tuntas.move_task USING btree (source_queue_id) WHERE (status = ANY (ARRAY['RUNNING'::text, 'CANCELLING'::text]));

CREATE INDEX occurrence_begin ON tuntas.occurrence USING btree (begin_at) WHERE (begin_at IS NOT NULL);

CREATE INDEX occurrence_ended ON tuntas.occurrence USING btree (schedule, ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX occurrence_open ON tuntas.occurrence USING btree (schedule, due, run) WHERE (ended_at IS NULL);

CREATE INDEX offer_owner ON tuntas.offer USING btree (owner_id);

CREATE INDEX operation_command_run_command ON tuntas.operation_command_run USING btree (command, operation_id);

CREATE INDEX operation_command_run_open ON tuntas.operation_command_run USING btree (operation_id) WHERE ((closed_at IS NULL) AND (NOT dry_run));

CREATE INDEX operation_command_run_request ON tuntas.operation_command_run USING btree (request_hash, operation_id);

CREATE INDEX operation_running ON tuntas.operation USING btree (id) WHERE (state = 'running'::text);

CREATE INDEX outbox_holding ON tuntas.outbox USING btree (target_kind, target_name) WHERE ((parked_at IS NULL) AND ((claimed_until IS NOT NULL) OR (failure_code IS NOT NULL)));

CREATE INDEX outbox_parked ON tuntas.outbox USING btree (target_kind, target_name, id) WHERE (parked_at IS NOT NULL);

CREATE INDEX outbox_published_at ON tuntas.outbox_published USING btree (published_at);

CREATE INDEX outbox_waiting ON tuntas.outbox USING btree (target_kind, target_name, id) WHERE (parked_at IS NULL);

CREATE INDEX quarantine_queue ON tuntas.quarantine USING btree (queue_id, quarantined_at);

CREATE INDEX queue_dead_letter ON tuntas.queue USING btree (account, region, dead_letter_name) WHERE (dead_letter_name IS NOT NULL);

CREATE INDEX ready_group ON tuntas.ready USING btree (queue_id, group_id, turn, id) WHERE (group_id IS NOT NULL);

CREATE INDEX reconciliation_run_name ON tuntas.reconciliation_run USING btree (name, id);

CREATE INDEX rejection_queue ON tuntas.rejection USING btree (queue_id, rejected_at);

CREATE INDEX remote_task_expires ON tuntas.remote_task USING btree (expires_at);

CREATE INDEX remote_task_visit ON tuntas.remote_task USING btree (visit);

CREATE UNIQUE INDEX reservation_active ON tuntas.reservation USING btree (kind, resource, unit) WHERE (state = ANY (ARRAY['reserved'::text, 'confirmed'::text]));

CREATE INDEX reservation_due ON tuntas.reservation USING btree (expires_at) WHERE (state = 'reserved'::text);

CREATE UNIQUE INDEX reservation_holder ON tuntas.reservation USING btree (kind, resource, holder) WHERE (state = ANY (ARRAY['reserved'::text, 'confirmed'::text]));

CREATE INDEX reservation_untold ON tuntas.reservation USING btree (id) WHERE ((state = 'expired'::text) AND (notify_kind IS NOT NULL) AND (told_at IS NULL));

CREATE INDEX schedule_due ON tuntas.schedule USING btree (next_due) WHERE ((paused_at IS NULL) AND (next_due IS NOT NULL));

CREATE INDEX schedule_place ON tuntas.schedule USING btree (account, region, group_name, label);

CREATE INDEX series_mark_at ON tuntas.series_mark USING btree (at);

CREATE INDEX series_point_age ON tuntas.series_point USING btree (width_seconds, at);

CREATE INDEX service_deployment_service ON tuntas.service_deployment USING btree (service, id);

CREATE INDEX service_event_service ON tuntas.service_event USING btree (service, id);

CREATE INDEX service_instance_live ON tuntas.service_instance USING btree (service) WHERE (state <> 'stopped'::text);

CREATE INDEX service_instance_stopped ON tuntas.service_instance USING btree (stopped_at) WHERE (state = 'stopped'::text);

CREATE INDEX service_revision_hash ON tuntas.service_revision USING btree (service, hash);

CREATE INDEX side_effect_caller ON tuntas.side_effect USING btree (caller) WHERE ((state = ANY (ARRAY['pending'::text, 'unknown'::text])) AND (caller IS NOT NULL));

CREATE INDEX side_effect_open ON tuntas.side_effect USING btree (state, deadline) WHERE (state = ANY (ARRAY['pending'::text, 'unknown'::text]));

CREATE INDEX side_effect_subject ON tuntas.side_effect USING btree (subject) WHERE (subject IS NOT NULL);

CREATE INDEX stream_checkpoint_owner ON tuntas.stream_checkpoint USING btree (owner_id) WHERE (owner_id IS NOT NULL);

CREATE INDEX stream_member_process ON tuntas.stream_member USING btree (process_id);

CREATE INDEX stream_parked_replay ON tuntas.stream_parked USING btree (consumer_id, partition) WHERE (replay_at IS NOT NULL);

CREATE INDEX usage_tenant ON tuntas.usage USING btree (tenant, day);

CREATE INDEX workflow_call_activity ON tuntas.workflow_call USING btree (activity_arn, execution_id) WHERE (activity_arn IS NOT NULL);

CREATE INDEX workflow_call_owner ON tuntas.workflow_call USING btree (owner_id) WHERE (owner_id IS NOT NULL);

CREATE INDEX workflow_call_pool ON tuntas.workflow_call USING btree (pool, execution_id) WHERE ((owner_id IS NULL) AND (pool IS NOT NULL));

CREATE INDEX workflow_call_reference ON tuntas.workflow_call USING btree ("substring"(command, '"token":"([^"]*)"'::text)) WHERE (token_hash IS NOT NULL);

CREATE UNIQUE INDEX workflow_call_token ON tuntas.workflow_call USING btree (token_hash) WHERE (token_hash IS NOT NULL);

CREATE INDEX workflow_due_due ON tuntas.workflow_due USING btree (due);

CREATE INDEX workflow_due_taken ON tuntas.workflow_due USING btree (taken_by) WHERE (taken_by IS NOT NULL);

CREATE INDEX workflow_start_missing ON tuntas.workflow_start USING btree (created_at) WHERE (state = 'requested'::text);

CREATE OR REPLACE FUNCTION tuntas.admit(service_name text, tenants text[], asked integer[], rates double precision[], bursts integer[])
 RETURNS TABLE(tenant text, admitted integer, again_ms double precision)
 LANGUAGE plpgsql
AS $function$
  declare
    ask record;
    apart interval;
    latest timestamptz;
    free_at timestamptz;
  begin
    for ask in select * from unnest(tenants, asked, rates, bursts) as u(name, wanted, rate, burst) order by u.name loop
      apart := make_interval(secs => 1 / ask.rate);
      insert into tuntas.request_rate values (service_name, ask.name, tuntas.now()) on conflict do nothing;
      select r.next_at into free_at from tuntas.request_rate r
        where r.service = service_name and r.tenant = ask.name for update;
      latest := tuntas.now() + (ask.burst - 1) * apart;
      -- Later than this rate ever puts it: a slower one did, which was declared before. What it is instead is written too, or it
      -- would stay as far ahead of each instant.
      free_at := least(greatest(free_at, tuntas.now()), latest + apart);
      tenant := ask.name;
      admitted := greatest(0, least(ask.wanted,
        floor(extract(epoch from latest - free_at) * ask.rate + 1e-6)::integer + 1));
      free_at := free_at + admitted * apart;
      again_ms := greatest(0, extract(epoch from free_at - latest) * 1000);
      update tuntas.request_rate r set next_at = free_at
        where r.service = service_name and r.tenant = ask.name and r.next_at <> free_at;
      return next;
    end loop;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.append(queue integer, new_message_id uuid, body text, attributes text, sender text, trace_header text, delay integer, message_group text, deduplication text, OUT message_id uuid, OUT id bigint, OUT duplicate boolean, OUT due timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    q tuntas.queue;
    dedup_scope text;
  begin
    select * into q from tuntas.queue where queue.id = append.queue;
    if not found then
      return;
    end if;
    duplicate := false;
    id := nextval('tuntas.message_id_seq');
    message_id := new_message_id;
    if q.fifo then
      perform tuntas.lock_group(q.id, message_group);
      dedup_scope := case q.deduplication_scope when 'messageGroup' then message_group else '' end;
      insert into tuntas.fifo_duplicate as d (queue_id, scope, deduplication_id, message_id, id, expires_at)
        values (q.id, dedup_scope, deduplication, append.message_id, append.id, tuntas.now() + interval '5 minutes')
        on conflict (queue_id, scope, deduplication_id) do update
          set message_id = excluded.message_id, id = excluded.id, expires_at = excluded.expires_at
          where d.expires_at <= tuntas.now();
      if not found then
        select d.message_id, d.id into message_id, id from tuntas.fifo_duplicate d
          where d.queue_id = q.id and d.scope = dedup_scope and d.deduplication_id = deduplication;
        duplicate := true;
        -- Nobody else would ask whether anything is in the group.
        perform tuntas.refresh_groups(q.id, array[message_group]);
        return;
      end if;
    end if;
    insert into tuntas.message (id, message_id, sent_at, sender, body, attributes, trace_header, deduplication_id)
      values (append.id, append.message_id, tuntas.now(), append.sender, append.body, append.attributes,
        append.trace_header, deduplication);
    if coalesce(delay, q.delay_seconds) > 0 then
      due := tuntas.now() + make_interval(secs => coalesce(delay, q.delay_seconds));
      insert into tuntas.delayed (id, queue_id, due, turn, sent_at, group_id)
        values (append.id, q.id, append.due, 0, tuntas.now(), message_group);
    else
      insert into tuntas.ready (queue_id, turn, id, sent_at, group_id)
        values (q.id, case when q.fifo then 0 else tuntas.next_turn(q.id, message_group) end, append.id,
          tuntas.now(), message_group);
    end if;
    if q.fifo then
      perform tuntas.refresh_groups(q.id, array[message_group]);
    end if;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.batch_staged(staging text, of_job bigint, of_partition integer, OUT counted bigint, OUT hashed text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET extra_float_digits TO '1'
 SET bytea_output TO 'hex'
AS $function$
begin
  execute format(
    'select count(*), coalesce(sum(hashtextextended(s::text, 0)), 0)::text from %s s where s.job = $1 and s.partition = $2', staging)
    into counted, hashed using of_job, of_partition;
end
$function$
;

CREATE OR REPLACE FUNCTION tuntas.claim_fifo(queue integer, n integer, owner bigint, visibility integer, new_fence bigint)
 RETURNS TABLE(fate text, dead_letter_id integer, held tuntas.in_flight)
 LANGUAGE plpgsql
AS $function$
  declare
    q tuntas.queue;
    dead_letter integer;
    this_group text;
    before_id bigint;
    r tuntas.ready;
    taken integer := 0;
    group_taken integer;
    -- A worker runs what it gets side by side, so it gets one message of a group at a time; a receiver gets them in order.
    group_max integer := case when owner is null then n else 1 end;
  begin
    select * into q from tuntas.queue where id = claim_fifo.queue;
    select d.id into dead_letter from tuntas.queue d
      where d.account = q.account and d.region = q.region and d.name = q.dead_letter_name;
    for this_group in
      select g.group_id from tuntas.fifo_group g
      where g.queue_id = queue and g.head is not null order by g.head limit n for update skip locked
    loop
      before_id := tuntas.group_bound(queue, this_group);
      group_taken := 0;
      while taken < n and group_taken < group_max loop
        delete from tuntas.ready x where (x.queue_id, x.turn, x.id) = (
          select y.queue_id, y.turn, y.id from tuntas.ready y
          where y.queue_id = queue and y.group_id = this_group and y.id < before_id order by y.id limit 1)
          returning x.* into r;
        exit when not found;
        if r.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds) then
          delete from tuntas.message m where m.id = r.id;
          delete from tuntas.failure x where x.id = r.id;
          fate := 'expired';
          held := null;
          return next;
        elsif dead_letter is not null and r.receives >= q.receives_max then
          insert into tuntas.ready (queue_id, id, receives, sent_at, first_received_at, group_id, source_queue_id)
            values (dead_letter, r.id, r.receives, tuntas.now(), r.first_received_at, r.group_id, queue);
          update tuntas.message m set deduplication_id = m.message_id::text where m.id = r.id;
          perform tuntas.lock_group(dead_letter, r.group_id);
          perform tuntas.refresh_groups(dead_letter, array[r.group_id]);
          fate := 'dead';
          dead_letter_id := dead_letter;
          held := null;
          return next;
        else
          insert into tuntas.in_flight (queue_id, id, fence, owner_id, expires_at, claimed_at, turn, receives, sent_at,
            first_received_at, group_id, source_queue_id)
          values (queue, r.id, new_fence, owner,
            case when owner is null then tuntas.now() + make_interval(secs => coalesce(visibility, q.visibility_seconds)) end,
            tuntas.now(), r.turn, r.receives + 1, r.sent_at, coalesce(r.first_received_at, tuntas.now()), r.group_id, r.source_queue_id)
          returning in_flight.* into held;
          taken := taken + 1;
          group_taken := group_taken + 1;
          fate := null;
          dead_letter_id := null;
          return next;
        end if;
      end loop;
      perform tuntas.refresh_groups(queue, array[this_group]);
      exit when taken >= n;
    end loop;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.claim_tenants(queue integer, n integer, owner bigint, new_fence bigint, strays boolean, names text[], caps integer[], rates double precision[], failures_max integer)
 RETURNS TABLE(fate text, dead_letter_id integer, held tuntas.in_flight, on_trial boolean, again_ms double precision)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
  declare
    visits_max constant integer := 1000;
    q tuntas.queue;
    state tuntas.tenant;
    dead_letter integer;
    this_tenant text;
    own integer;
    cap integer;
    held_now integer;
    may integer;
    due integer;
    slack interval;
    free_at timestamptz;
    again_at timestamptz;
    visits integer := 0;
    begun text;
    reached text;
    wrapped boolean;
    tenants text[] := '{}';
    shares integer[] := '{}';
    trials text[] := '{}';
    chosen tid[] := '{}';
    more tid[];
    places integer;
  begin
    select * into q from tuntas.queue x where x.id = queue for no key update;
    begun := coalesce((select f.tenant from tuntas.fair_turn f where f.queue_id = queue), '');
    reached := begun;
    wrapped := begun = '';
    select d.id into dead_letter from tuntas.queue d
      where d.account = q.account and d.region = q.region and d.name = q.dead_letter_name;
    if strays then
      chosen := array(select r.ctid from tuntas.ready r where r.queue_id = queue and coalesce(r.group_id, '') = '' order by r.turn, r.id limit n);
    end if;
    places := n - cardinality(chosen);

    while cardinality(tenants) < places and visits < visits_max loop
      select r.group_id into this_tenant from tuntas.ready r
        where r.queue_id = queue and r.group_id > reached order by r.group_id limit 1;
      if not found then
        exit when wrapped;
        wrapped := true;
        reached := '';
        continue;
      end if;
      exit when wrapped and begun <> '' and this_tenant > begun;
      visits := visits + 1;
      reached := this_tenant;
      own := coalesce(array_position(names, this_tenant), 1);
      cap := caps[own];
      may := places;
      state := null;
      -- What is held, before how it is doing: a message that fails goes back after its failure is counted. The other way round
      -- both could come between the two looks, and its tenant would have one more while it stands still.
      if cap is not null or failures_max is not null then
        select count(*) into held_now from (
          select from tuntas.in_flight f where f.queue_id = queue and f.group_id = this_tenant limit coalesce(cap, 1)) f;
      end if;
      if failures_max is not null or rates[own] is not null then
        select * into state from tuntas.tenant t where t.queue_id = queue and t.tenant = this_tenant;
      end if;
      -- Whoever opened it, with whatever number of failures: while two deployments run side by side, their numbers may differ.
      if failures_max is not null and state.open_until > tuntas.now() then
        again_at := least(again_at, state.open_until);
        continue;
      end if;
      if state.failures >= failures_max then
        cap := 1;
      end if;
      if cap is not null then
        may := cap - held_now;
        continue when may <= 0;
      end if;
      if rates[own] is not null then
        -- A tenth of a second's worth at once, so that fast tenants need not be looked at for each message.
        slack := make_interval(secs => greatest(0, 0.1 - 1 / rates[own]));
        -- Later than this rate ever puts it: a slower one did, which was declared before, and it begins anew.
        free_at := greatest(state.next_at, tuntas.now());
        if free_at > tuntas.now() + slack + make_interval(secs => 1 / rates[own] + 0.001) then
          free_at := tuntas.now();
        end if;
        if free_at > tuntas.now() + slack then
          again_at := least(again_at, free_at - slack);
          continue;
        end if;
        due := floor(extract(epoch from tuntas.now() + slack - free_at) * rates[own] + 1e-6)::integer + 1;
        -- What waits behind these comes when it is due, and not when one of them has ended.
        if due < may then
          may := due;
          again_at := least(again_at, free_at + make_interval(secs => due / rates[own]) - slack);
        end if;
      end if;
      tenants := tenants || this_tenant;
      shares := shares || least(may, places);
      if state.failures > 0 then
        trials := trials || this_tenant;
      end if;
    end loop;
    -- Not all were seen: whoever asks goes on from there.
    if visits = visits_max and cardinality(tenants) < places then
      again_at := tuntas.now();
    end if;

    select array_agg(o.place), coalesce((array_agg(o.tenant))[count(*)], reached) into more, reached from (
      select c.place, u.tenant from unnest(tenants, shares) with ordinality as u(tenant, share, rank)
        cross join lateral (
          select r.ctid as place, row_number() over (order by r.turn, r.id) as lap from tuntas.ready r
          where r.queue_id = queue and r.group_id = u.tenant order by r.turn, r.id
          limit case when cardinality(tenants) < places then u.share else 1 end) c
      order by c.lap, u.rank limit places) o;
    chosen := chosen || more;

    return query
    with picked as (
      delete from tuntas.ready x where x.ctid = any(array(
        select r.ctid from tuntas.ready r where r.ctid = any(chosen) for update skip locked))
      returning x.*
    ), sorted as (
      select p.*, case
        when p.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds) then 'expired'
        when dead_letter is not null and p.receives >= q.receives_max then 'dead' end as ending
      from picked p
    ), expired as (
      delete from tuntas.message m where m.id = any(array(select s.id from sorted s where s.ending = 'expired'))
    ), forgotten as (
      delete from tuntas.failure x where x.id = any(array(select s.id from sorted s where s.ending = 'expired'))
    ), dead as (
      insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
      select dead_letter, tuntas.next_turn(dead_letter, s.group_id), s.id, s.receives, s.sent_at, s.first_received_at, s.group_id, queue
      from sorted s where s.ending = 'dead'
    ), taken as (
      insert into tuntas.in_flight as f (queue_id, id, fence, owner_id, claimed_at, turn, receives, sent_at, first_received_at,
        group_id, source_queue_id)
      select queue, s.id, new_fence, owner, tuntas.now(), s.turn, s.receives + 1, s.sent_at,
        coalesce(s.first_received_at, tuntas.now()), s.group_id, s.source_queue_id
      from sorted s where s.ending is null
      returning f as message, f.group_id
    ), spent as (
      insert into tuntas.tenant as t (queue_id, tenant, next_at, changed_at)
      select queue, k.group_id, tuntas.now() + make_interval(secs => count(*) / rates[coalesce(array_position(names, k.group_id), 1)]),
        tuntas.now()
      from taken k where k.group_id is not null and rates[coalesce(array_position(names, k.group_id), 1)] is not null
      group by k.group_id order by k.group_id
      on conflict on constraint tenant_pkey do update
        set next_at = case when t.next_at between tuntas.now() and tuntas.now() + make_interval(
            secs => greatest(0.1, 1 / rates[coalesce(array_position(names, t.tenant), 1)]) + 0.001) then t.next_at else tuntas.now() end
            + (excluded.next_at - tuntas.now()),
          changed_at = tuntas.now()
    ), advanced as (
      insert into tuntas.fair_turn as f (queue_id, turn, tenant)
      select queue, coalesce(max(p.turn), 0), reached from picked p having count(*) > 0 or visits = visits_max
      on conflict on constraint fair_turn_pkey do update set turn = greatest(f.turn, excluded.turn), tenant = excluded.tenant
    )
    select null::text, null::integer, k.message, coalesce(k.group_id = any(trials), false), null::float8 from taken k
    union all
    select s.ending, dead_letter, null, false, null from sorted s where s.ending is not null;

    fate := 'next';
    held := null;
    again_ms := extract(epoch from again_at - tuntas.now()) * 1000;
    return next;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.end_message(of_queue integer, ended bigint, owned bigint)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  received integer;
begin
  delete from tuntas.in_flight where queue_id = of_queue and id = ended and fence = owned
    returning receives into received;
  if not found then
    raise division_by_zero using message = 'the message belongs to another owner';
  end if;
  delete from tuntas.message where id = ended;
  if received > 1 then
    delete from tuntas.failure where id = ended;
  end if;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.forget_entity_locks(n integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  declare
    candidates record;
  begin
    for candidates in
      select l.queue_id, l.key from tuntas.entity_lock l
      where not exists (select from tuntas.in_flight f where f.queue_id = l.queue_id and f.id = l.id and f.fence = l.fence)
      limit n for update skip locked
    loop
      delete from tuntas.entity_lock l where l.queue_id = candidates.queue_id and l.key = candidates.key
        and not exists (select from tuntas.in_flight f where f.queue_id = l.queue_id and f.id = l.id and f.fence = l.fence);
    end loop;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.group_bound(queue integer, message_group text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    select coalesce(least(
      (select min(f.id) from tuntas.in_flight f where f.queue_id = queue and f.group_id = message_group),
      (select min(d.id) from tuntas.delayed d where d.queue_id = queue and d.group_id = message_group)),
      9223372036854775807)
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.is_replay()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (COALESCE(current_setting('tuntas.replay'::text, true), ''::text) = 'on'::text)
;

CREATE OR REPLACE FUNCTION tuntas.lock_entities(queue integer, keys text[], ids bigint[], fences bigint[])
 RETURNS SETOF bigint
 LANGUAGE plpgsql
AS $function$
  declare
    wanted record;
  begin
    for wanted in select * from unnest(keys, ids, fences) as u(key, id, fence) order by u.key, u.id loop
      insert into tuntas.entity_lock (queue_id, key, id, fence) values (queue, wanted.key, wanted.id, wanted.fence)
        on conflict do nothing;
      if not found then
        perform 1 from tuntas.entity_lock where queue_id = queue and key = wanted.key for update;
        update tuntas.entity_lock l set id = wanted.id, fence = wanted.fence
          where l.queue_id = queue and l.key = wanted.key and not exists (
            select from tuntas.in_flight f where f.queue_id = queue and f.id = l.id and f.fence = l.fence);
      end if;
      if found then
        return next wanted.id;
      end if;
    end loop;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.lock_group(queue integer, message_group text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  begin
    loop
      insert into tuntas.fifo_group (queue_id, group_id) values (queue, message_group) on conflict do nothing;
      perform 1 from tuntas.fifo_group where queue_id = queue and group_id = message_group for update;
      exit when found;
    end loop;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.lock_groups(queues integer[], groups text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  begin
    perform tuntas.lock_group(o.queue_id, o.group_id) from (
      select distinct u.queue_id, u.group_id from unnest(queues, groups) as u(queue_id, group_id)
        join tuntas.queue q on q.id = u.queue_id where q.fifo and u.group_id is not null
      order by u.queue_id, u.group_id) o;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.message_of(claimed bigint)
 RETURNS SETOF tuntas.message
 LANGUAGE plpgsql
 ROWS 1
AS $function$
  begin
    return query select * from tuntas.message m where m.id = claimed;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.move_messages(source integer, destination integer, n integer, only_ids bigint[], OUT moved integer, OUT missing integer, OUT queues integer[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
  declare
    r record;
    old tuntas.message;
    is_fifo boolean := (select fifo from tuntas.queue where id = source);
    targets integer[];
    groups text[];
  begin
    moved := 0;
    missing := 0;
    queues := '{}';
    if is_fifo then
      select array_agg(c.target), array_agg(c.group_id) into targets, groups from (
        select coalesce(destination, x.source_queue_id) as target, x.group_id from tuntas.ready x
        where x.queue_id = source and (only_ids is null or x.id = any(only_ids)) order by x.turn, x.id limit n) c;
      perform tuntas.lock_groups(targets, groups);
      perform 1 from tuntas.fifo_group g where g.queue_id = source and g.group_id = any(groups) order by g.group_id for update;
    end if;
    for r in
      select c.turn, c.id, c.group_id, q.id as target
      from tuntas.ready c left join tuntas.queue q on q.id = coalesce(destination, c.source_queue_id)
      where c.queue_id = source and (only_ids is null or c.id = any(only_ids)) and (not is_fifo or c.group_id = any(groups))
      order by c.turn, c.id limit n for update of c skip locked
    loop
      if r.target is null then
        missing := missing + 1;
        continue;
      end if;
      delete from tuntas.ready c where c.queue_id = source and c.turn = r.turn and c.id = r.id;
      delete from tuntas.failure f where f.id = r.id;
      delete from tuntas.message m where m.id = r.id returning * into old;
      perform tuntas.append(r.target, gen_random_uuid(), old.body, old.attributes, old.sender, old.trace_header, 0,
        r.group_id, old.message_id::text);
      moved := moved + 1;
      if not r.target = any(queues) then queues := queues || r.target; end if;
    end loop;
    if is_fifo then
      perform tuntas.refresh_groups(source, groups);
      perform tuntas.refresh_groups(t.id, groups) from (select distinct u.id from unnest(targets) u(id) where u.id is not null order by u.id) t;
    end if;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.next_turn(queue integer, message_group text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
    select greatest(
      coalesce((select turn from tuntas.fair_turn where queue_id = queue), 0),
      case when message_group is null then 0 else
        coalesce((select max(turn) + 1 from tuntas.ready where queue_id = queue and group_id = message_group), 0)
      end)
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$select pg_catalog.now()$function$
;

CREATE OR REPLACE FUNCTION tuntas.promote(n integer)
 RETURNS TABLE(queue integer, moved bigint)
 LANGUAGE plpgsql
AS $function$
  declare
    moves record;
    touched integer[] := '{}';
    counts bigint[] := '{}';
  begin
    for moves in
      with due as (
        delete from tuntas.delayed d where d.ctid = any(array(
          select c.ctid from tuntas.delayed c where c.due <= tuntas.now() order by c.due limit n for update skip locked))
        returning d.queue_id, d.id, d.turn, d.receives, d.sent_at, d.first_received_at, d.group_id, d.source_queue_id
      ), late as (
        delete from tuntas.in_flight f where f.ctid = any(array(
          select c.ctid from tuntas.in_flight c where c.expires_at <= tuntas.now() order by c.expires_at limit n for update skip locked))
        returning f.queue_id, f.id, f.turn, f.receives, f.sent_at, f.first_received_at, f.group_id, f.source_queue_id
      ), back as (
        insert into tuntas.ready (queue_id, id, turn, receives, sent_at, first_received_at, group_id, source_queue_id)
        select * from due union all select * from late
        returning queue_id, group_id
      )
      select b.queue_id, q.fifo, count(*) as moved,
        array_agg(distinct b.group_id order by b.group_id) filter (where b.group_id is not null) as groups
      from back b left join tuntas.queue q on q.id = b.queue_id
      group by b.queue_id, q.fifo order by b.queue_id
    loop
      if moves.fifo then
        perform tuntas.lock_group(moves.queue_id, g) from unnest(moves.groups) g;
        perform tuntas.refresh_groups(moves.queue_id, moves.groups);
      end if;
      touched := touched || moves.queue_id;
      counts := counts || moves.moved;
    end loop;
    return query select * from unnest(touched, counts);
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.refresh_groups(queue integer, groups text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
  begin
    perform 1 from tuntas.fifo_group
      where queue_id = queue and group_id = any(groups) order by group_id for update;
    update tuntas.fifo_group g set head = (
      select min(r.id) from tuntas.ready r
      where r.queue_id = queue and r.group_id = g.group_id and r.id < tuntas.group_bound(queue, g.group_id))
      where g.queue_id = queue and g.group_id = any(groups);
    delete from tuntas.fifo_group g
      where g.queue_id = queue and g.group_id = any(groups) and g.head is null
        and not exists (select from tuntas.ready r where r.queue_id = queue and r.group_id = g.group_id)
        and not exists (select from tuntas.in_flight f where f.queue_id = queue and f.group_id = g.group_id);
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.send(queue_name text, body text, attributes text DEFAULT NULL::text, delay_seconds integer DEFAULT NULL::integer, group_id text DEFAULT NULL::text, deduplication_id text DEFAULT NULL::text, account text DEFAULT '000000000000'::text, region text DEFAULT 'us-east-1'::text)
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
  declare
    q tuntas.queue;
    sent record;
  begin
    if tuntas.is_replay() then
      perform tuntas.suppress(1);
      return gen_random_uuid();
    end if;
    select * into q from tuntas.queue
      where queue.account = send.account and queue.region = send.region and queue.name = queue_name;
    if not found then
      raise exception 'queue % does not exist', queue_name using errcode = 'P0002',
        hint = 'Create it first, or see the names: select name from tuntas.queue.';
    end if;
    if body is null or body = '' then
      raise exception 'the body of a message to % is empty', queue_name using errcode = '22023';
    end if;
    if octet_length(body) + coalesce(octet_length(attributes), 0) > q.message_bytes_max then
      raise exception 'the message to % has % bytes, more than %', queue_name, octet_length(body), q.message_bytes_max
        using errcode = '22023';
    end if;
    if body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]' then
      raise exception 'the body of a message to % has a character that SQS refuses', queue_name using errcode = '22023';
    end if;
    if json_typeof(attributes::json) <> 'object' then
      raise exception 'the attributes of a message to % are %, expected an object: {"name":{"DataType":"String","StringValue":"…"}}',
        queue_name, json_typeof(attributes::json) using errcode = '22023';
    end if;
    if delay_seconds not between 0 and 900 then
      raise exception 'delay_seconds is %, expected 0 to 900', delay_seconds using errcode = '22023';
    end if;
    if q.fifo and group_id is null then
      raise exception 'queue % is FIFO: group_id is required', queue_name using errcode = '22023';
    end if;
    if q.fifo and deduplication_id is null then
      if not q.content_deduplication then
        raise exception 'queue % is FIFO without content deduplication: deduplication_id is required', queue_name
          using errcode = '22023';
      end if;
      deduplication_id := encode(sha256(convert_to(body, 'UTF8')), 'hex');
    end if;
    select * into sent from tuntas.append(q.id, gen_random_uuid(), body, attributes, session_user::text, null,
      case when q.fifo then null else delay_seconds end, group_id, deduplication_id);
    perform pg_notify('tuntas.ready', q.id::text);
    return sent.message_id;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.server_run(OUT run text, OUT began timestamp with time zone)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  select extract(epoch from s.started) || '/' || coalesce(extract(epoch from s.counted), 0), greatest(s.started, s.counted)
  from (select pg_postmaster_start_time() as started, pg_stat_get_bgwriter_stat_reset_time() as counted) s
$function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_append(of_stream integer, known integer, partitions integer[], keys text[], bodies text[])
 RETURNS TABLE(partition integer, first_offset bigint)
 LANGUAGE plpgsql
AS $function$
declare
  each integer;
  last integer;
  there integer;
begin
  -- All in one order, so that no two wait for each other.
  perform from tuntas.stream_partition p where p.stream_id = of_stream and p.partition = any (stream_append.partitions) order by p.partition for update;
  for each in select distinct a.partition from unnest(stream_append.partitions) as a(partition) where exists (
      select from tuntas.stream_arrival b where b.stream_id = of_stream and b.partition = a.partition)
  loop
    perform tuntas.stream_sequence(of_stream, each);
  end loop;
  select s.segment, s.partitions into last, there from tuntas.stream s where s.id = of_stream;
  if last is null then return; end if;
  if there <> known then
    return query select -1, there::bigint;
    return;
  end if;
  return query execute format('with given as materialized (
      select g.partition, g.key, g.body, row_number() over (partition by g.partition order by g.place) - 1 as step
      from unnest($2, $3, $4) with ordinality as g(partition, key, body, place)
    ), moved as materialized (
      update tuntas.stream_partition p set next_offset = p.next_offset + c.count
      from (select g.partition, count(*) as count from given g group by g.partition) c
      where p.stream_id = $1 and p.partition = c.partition returning p.partition, p.next_offset - c.count as first
    ), kept as (
      insert into tuntas.stream_record_%s_%s (partition, "offset", key, body, appended_at)
      select g.partition, m.first + g.step, g.key, g.body, tuntas.now() from given g join moved m on m.partition = g.partition
    )
    select m.partition, m.first from moved m', of_stream, last)
    using of_stream, stream_append.partitions, keys, bodies;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_append(of_stream integer, partitions integer[], keys text[], bodies text[])
 RETURNS TABLE(partition integer, first_offset bigint)
 LANGUAGE plpgsql
AS $function$
begin
  return query select a.partition, a.first_offset from tuntas.stream_append(of_stream,
    (select s.partitions from tuntas.stream s where s.id = of_stream), stream_append.partitions, keys, bodies) a where a.partition >= 0;
  -- Nobody adds partitions under the locks that it holds by now.
  perform tuntas.stream_refuse_older(of_stream);
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_began()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.began := coalesce(new.began, new.next_offset);
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_began_beyond()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.began := new.next_offset;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_older_arrival()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from tuntas.stream s where s.id = new.stream_id for key share;
  perform tuntas.stream_refuse_older(new.stream_id);
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_peek(of_stream integer, of_partition integer, from_offset bigint, most integer)
 RETURNS TABLE("offset" bigint, key text, body text, appended_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  each integer;
  found bigint;
  missing integer := most;
begin
  for each in select s.segment from tuntas.stream_segment s where s.stream_id = of_stream and s.segment >= coalesce(
      (select max(b.segment) from tuntas.stream_segment b where b.stream_id = of_stream and b.first_offsets[of_partition + 1] <= from_offset), 0)
    order by s.segment
  loop
    return query execute format('select r."offset", r.key, r.body, r.appended_at from tuntas.stream_record_%s_%s r
        where r.partition = $1 and r."offset" >= $2 order by r."offset" limit $3', of_stream, each)
      using of_partition, from_offset, missing;
    get diagnostics found = row_count;
    missing := missing - found;
    exit when missing <= 0;
  end loop;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_read(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint, most integer)
 RETURNS TABLE("offset" bigint, key text, body text, appended_at timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
declare
  until bigint;
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  until := tuntas.stream_until(of_consumer, of_stream, of_partition, from_offset);
  if until <= from_offset then
    update tuntas.stream_checkpoint c set waiting_at = tuntas.now() where c.consumer_id = of_consumer and c.partition = of_partition;
    return;
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset, least(most, coalesce(until - from_offset, most))::integer) r;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_read(of_stream integer, of_partition integer, from_offset bigint, most integer)
 RETURNS TABLE("offset" bigint, key text, body text, appended_at timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset,
    least(most, greatest(0, coalesce((select s.offsets[of_partition + 1] from tuntas.stream_seam s where s.stream_id = of_stream
      order by s.seam limit 1) - from_offset, most)))::integer) r;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_refuse_older(of_stream integer)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if exists (select from tuntas.stream_seam s where s.stream_id = of_stream) then
    raise exception 'stream % has more partitions than this process knows of', (select s.name from tuntas.stream s where s.id = of_stream)
      using errcode = 'object_not_in_prerequisite_state', hint = 'Its version of Tuntas is older than others that run: replace it.';
  end if;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_roll(of_stream integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  upcoming integer;
begin
  perform from tuntas.stream_partition p where p.stream_id = of_stream order by p.partition for update;
  update tuntas.stream s set segment = s.segment + 1 where s.id = of_stream returning s.segment into upcoming;
  execute format('create table tuntas.stream_record_%s_%s (like tuntas.stream_record including all)', of_stream, upcoming);
  insert into tuntas.stream_segment (stream_id, segment, first_offsets, began_at)
  select of_stream, upcoming, array_agg(p.next_offset order by p.partition), tuntas.now()
  from tuntas.stream_partition p where p.stream_id = of_stream;
  return upcoming;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_sequence(of_stream integer, of_partition integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  last integer;
begin
  perform from tuntas.stream_partition p where p.stream_id = of_stream and p.partition = of_partition for update;
  select s.segment into last from tuntas.stream s where s.id = of_stream;
  execute format('with gone as (
      delete from tuntas.stream_arrival a where a.stream_id = $1 and a.partition = $2 and a.id = any (array(
        select b.id from tuntas.stream_arrival b where b.stream_id = $1 and b.partition = $2 order by b.id limit 5000))
      returning a.id, a.key, a.body
    ), moved as (
      update tuntas.stream_partition p set next_offset = p.next_offset + (select count(*) from gone)
      where p.stream_id = $1 and p.partition = $2 returning p.next_offset - (select count(*) from gone) as first
    )
    insert into tuntas.stream_record_%s_%s (partition, "offset", key, body, appended_at)
    select $2, m.first + row_number() over (order by g.id) - 1, g.key, g.body, tuntas.now() from gone g, moved m', of_stream, last)
    using of_stream, of_partition;
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_until(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select min(u.until) from (
    select s.offsets[of_partition + 1] as until from tuntas.stream_seam s
    where s.stream_id = of_stream and s.offsets[of_partition + 1] > from_offset
    union all
    select from_offset from tuntas.stream_seam s join tuntas.stream_seam e on e.stream_id = s.stream_id and e.seam <= s.seam
    where s.stream_id = of_stream and s.offsets[of_partition + 1] <= from_offset and exists (
      select from tuntas.stream_checkpoint c where c.consumer_id = of_consumer and c.partition < e.partitions
        -- Their ranges of the hash overlap.
        and c.partition * cardinality(s.offsets) < (of_partition + 1) * e.partitions
        and of_partition * e.partitions < (c.partition + 1) * cardinality(s.offsets)
        and c.next_offset < e.offsets[c.partition + 1])) u
$function$
;

CREATE OR REPLACE FUNCTION tuntas.stream_widen(of_stream integer, into_partitions integer)
 RETURNS void
 LANGUAGE plpgsql
 SET lock_timeout TO '5s'
AS $function$
declare
  before integer;
begin
  select s.partitions into before from tuntas.stream s where s.id = of_stream for update;
  if before is null or before >= into_partitions then return; end if;
  perform from tuntas.stream_consumer k where k.stream_id = of_stream order by k.id for key share;
  perform from tuntas.stream_partition p where p.stream_id = of_stream order by p.partition for update;
  while exists (select from tuntas.stream_arrival a where a.stream_id = of_stream) loop
    perform tuntas.stream_sequence(of_stream, p) from generate_series(0, before - 1) p;
  end loop;
  insert into tuntas.stream_partition (stream_id, partition) select of_stream, n from generate_series(before, into_partitions - 1) n;
  insert into tuntas.stream_seam (stream_id, seam, partitions, offsets)
  select of_stream, (select count(*) from tuntas.stream_seam s where s.stream_id = of_stream), before, array_agg(p.next_offset order by p.partition)
  from tuntas.stream_partition p where p.stream_id = of_stream;
  insert into tuntas.stream_checkpoint (consumer_id, partition, stream_id, next_offset, reached, moved_at)
  select k.id, n, of_stream, 0, 0, tuntas.now() from tuntas.stream_consumer k, generate_series(before, into_partitions - 1) n
  where k.stream_id = of_stream;
  update tuntas.stream s set partitions = into_partitions where s.id = of_stream;
  perform tuntas.stream_roll(of_stream);
end $function$
;

CREATE OR REPLACE FUNCTION tuntas.suppress(announcements integer)
 RETURNS void
 LANGUAGE sql
AS $function$
    select set_config('tuntas.suppressed', (coalesce(nullif(current_setting('tuntas.suppressed', true), ''), '0')::int + announcements)::text, true)
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.suppress_announcement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  begin
    perform tuntas.suppress(1);
    return null;
  end
  $function$
;

CREATE OR REPLACE FUNCTION tuntas.take_out(fences bigint[], ids bigint[])
 RETURNS TABLE(n bigint, id bigint, queue_id integer, fence bigint, owner_id bigint, claimed_at timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
  declare
    b tuntas.bundle;
    wanted bigint[];
    whole boolean;
  begin
    for b in select * from tuntas.bundle x where x.fence = any(fences) order by x.fence for update loop
      wanted := array(select u.id from unnest(fences, ids) as u(fence, id) where u.fence = b.fence order by u.id);
      whole := wanted = b.ids;
      return query
        select u.n, u.id, b.queue_id, b.fence, b.owner_id, b.claimed_at
        from unnest(fences, ids) with ordinality as u(fence, id, n)
        where u.fence = b.fence and (whole or u.id = any(b.ids));
      if not whole then
        b.ids := array(select unnest(b.ids) except select unnest(wanted) order by 1);
      end if;
      if whole or b.ids = '{}' then
        delete from tuntas.bundle x where x.fence = b.fence;
      else
        update tuntas.bundle x set ids = b.ids where x.fence = b.fence;
      end if;
    end loop;
  end
  $function$
;

CREATE TRIGGER older BEFORE INSERT ON tuntas.stream_arrival FOR EACH ROW WHEN ((new.known IS NULL)) EXECUTE FUNCTION tuntas.stream_older_arrival();

CREATE TRIGGER outbox_replay BEFORE INSERT ON tuntas.outbox FOR EACH ROW WHEN ((current_setting('tuntas.replay'::text, true) = 'on'::text)) EXECUTE FUNCTION tuntas.suppress_announcement();

CREATE TRIGGER stream_began BEFORE INSERT ON tuntas.stream_checkpoint FOR EACH ROW WHEN ((new.began IS NULL)) EXECUTE FUNCTION tuntas.stream_began();

CREATE TRIGGER stream_began_beyond BEFORE UPDATE OF next_offset ON tuntas.stream_checkpoint FOR EACH ROW WHEN (((new.next_offset > old.next_offset) AND (new.fence > old.fence) AND (new.began = old.began))) EXECUTE FUNCTION tuntas.stream_began_beyond();
