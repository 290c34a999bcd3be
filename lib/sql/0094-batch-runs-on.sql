-- Which service's processes work on a batch; null for any.
alter table tuntas.batch add column runs_on text;
