-- A schedule's name within its group, so that a page of a list is read from where the page before ended.
alter table tuntas.schedule
  alter column group_name type text collate "C",
  add column label text collate "C" generated always as (regexp_replace(name, '^.*/', '')) stored;
drop index tuntas.schedule_place;
create index schedule_place on tuntas.schedule (account, region, group_name, label);
alter table tuntas.schedule_group alter column name type text collate "C";
