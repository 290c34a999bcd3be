-- What each running instance takes, as its controller last measured it: for people, and for the scaling rule.
alter table tuntas.service_instance
  add column memory_bytes bigint,
  -- 1024 are one processor, on average since the measurement before.
  add column cpu_units integer,
  add column measured_at timestamptz;
