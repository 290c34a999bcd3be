create table file_import.payment (reference text primary key, cents integer not null);

create table file_import.staging (
  job bigint not null,
  partition integer not null, -- these two are the batch's
  reference text not null,
  cents integer not null
);
create index on file_import.staging (job, partition);
