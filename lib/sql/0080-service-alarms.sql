-- A deployment that is tied to alarms is over once they have stayed quiet for a while after all was healthy.
alter table tuntas.service_deployment add column steady_at timestamptz;
