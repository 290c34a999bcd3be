create table nightly_report.sale (at timestamptz not null, cents integer not null);

create table nightly_report.report (
  day timestamptz primary key, -- the start of its window
  sales integer not null,
  cents integer not null
);
