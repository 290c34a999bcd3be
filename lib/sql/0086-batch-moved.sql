-- Since when a job is in its state: what has failed or is paused waits for a person, and how long is asked first.
alter table tuntas.batch_job add column moved_at timestamptz not null default tuntas.now();
update tuntas.batch_job set moved_at = coalesce(ended_at, begun_at, asked_at);
