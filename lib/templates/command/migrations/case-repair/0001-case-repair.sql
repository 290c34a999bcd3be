create table case_repair.event (id bigint primary key, case_id text not null, cents integer not null);
create table case_repair.entry (event_id bigint primary key references case_repair.event, cents integer not null);

-- The command's own role. Roles are of the whole server, so it may be there already.
do $$
begin
  create role case_repair nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;
grant usage on schema case_repair to case_repair;
grant select on case_repair.event, case_repair.entry to case_repair;
grant insert on case_repair.entry to case_repair;
