-- Tasks of workflows are measured as workers are: by "workflow/task" where a worker has its queue's name.
alter table tuntas.handler_duration rename column queue to handler;
