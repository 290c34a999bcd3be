-- Map runs that are changed while they run, and redriven with their execution.
alter table tuntas.map_run
  -- How many children there are to be; item_count where items are not batched.
  add column child_count integer not null default 0,
  -- Items of each child, in order; null where each has one.
  add column batch_sizes integer[],
  -- JSON text of the StartMapRun command, for a redrive; gone when all went well.
  add column command text,
  add column changed_at timestamptz,
  add column redrive_count integer not null default 0,
  add column redriven_at timestamptz;
update tuntas.map_run r set child_count = greatest(r.item_count, (select count(*) from tuntas.execution e where e.map_run_id = r.id));
