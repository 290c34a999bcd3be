-- Messages of queues that live elsewhere (Amazon SQS). Such a message has a row from its first receive until the queue
-- would have dropped it: the row's fence says which receive may end it, and that it has ended is written in the commit of
-- its work. So a receipt that has run out commits nothing, and a message that comes once more is known.
create table tuntas.inbox (
  queue_id integer not null,
  -- As the other service calls it.
  message_id uuid not null,
  -- As it is called here; of the same sequence as the messages that lie here, so that no two share one.
  id bigint not null unique,
  -- Null while nobody here works on it.
  fence bigint,
  receives integer not null,
  received_at timestamptz not null,
  -- What the last attempt came to, and why where that was no success.
  outcome text,
  code text,
  reason text,
  ended_at timestamptz,
  expires_at timestamptz not null,
  primary key (queue_id, message_id)
) with (fillfactor = 80);
create index inbox_expires on tuntas.inbox (expires_at);
comment on table tuntas.inbox is 'integration: Messages taken in from queues that live elsewhere: who may end each, and what it came to.';

-- How deep those queues are, as the other service counts: one process in a while asks it for all.
create table tuntas.remote_depth (
  queue_id integer primary key,
  ready double precision not null default 0,
  in_flight double precision not null default 0,
  delayed double precision not null default 0,
  dead double precision not null default 0,
  counted_at timestamptz not null
);
comment on table tuntas.remote_depth is 'observability: How many messages a queue has that lives elsewhere, as it was counted last.';
