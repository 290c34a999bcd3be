-- Which process works on which application's tables, and up to which of the application's migrations it knows them: a migration
-- that takes something away waits until none of them is left that may use it. A process has another id after each loss, so it
-- is known by its host and pid.
create table tuntas.application_process (
  host text not null,
  pid integer not null,
  schema_name text not null,
  through text,
  primary key (schema_name, host, pid)
);
comment on table tuntas.application_process is 'control: Processes by the application whose tables they work on, and the last of its migrations that they know.';
