-- Records that kill the process which reads them: whoever frees the partition of one that died counts it.
alter table tuntas.stream_checkpoint
  -- The last owner died with something to read: the records from here on are tried one by one.
  add column suspect boolean not null default false,
  -- The record that is being tried by itself.
  add column trying bigint;
