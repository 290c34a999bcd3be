-- Suspects of several partitions are tried side by side; where their process dies, each is tried again with nothing beside it.
alter table tuntas.stream_checkpoint
  -- The record that it stands at was tried beside others when their process died.
  add column contested boolean not null default false,
  -- When its owner last said that it waits until it may begin.
  add column waiting_at timestamptz;
alter table tuntas.stream_parked
  add column contested boolean not null default false;
