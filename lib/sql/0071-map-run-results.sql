-- Whether the ResultWriter of a map run has written what came of its children.
alter table tuntas.map_run add column results_written boolean not null default false;
