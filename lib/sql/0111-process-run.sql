-- Whose lock is free is dead only where he had it from the server as it runs: after a restart, a crash of one of its sessions (which
-- ends them all) or a failover all locks are free at once. Which run that is, and when it began, as exactly as the server says it
-- itself: another server's clock, or one that was set, does not matter. Its statistics are begun anew after a crash; where a person
-- does so, the next beat of each process says so.
create function tuntas.server_run(out run text, out began timestamptz) language sql stable as $$
  select extract(epoch from s.started) || '/' || coalesce(extract(epoch from s.counted), 0), greatest(s.started, s.counted)
  from (select pg_postmaster_start_time() as started, pg_stat_get_bgwriter_stat_reset_time() as counted) s
$$;

alter table tuntas.process drop column locked_at, add column locked_on text;
