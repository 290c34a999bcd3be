-- Which process works on which queue, so that a message that waits can say whether anybody will ever take it, and
-- whether a cap on the handlers of all processes together keeps it waiting. The row goes with its process.
create table tuntas.consumer (
  process_id bigint not null references tuntas.process on delete cascade,
  queue_id integer not null,
  concurrency integer not null,
  global_concurrency integer,
  primary key (process_id, queue_id)
);
create index consumer_queue on tuntas.consumer (queue_id);
