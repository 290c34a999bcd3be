-- When it took the lock that tells of its death, by the server's own clock: who had it from the server as it runs could come back
-- for it, however short a time ago the server has started.
alter table tuntas.process add column locked_at timestamptz;
