-- How many records the work of an occurrence wrote, where its target knows: a batch by its manifest, an execution by its output.
alter table tuntas.occurrence add column records_written bigint check (records_written >= 0);
