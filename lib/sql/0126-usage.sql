-- What tenants have used, by day (UTC) and work. Processes add to it every ten seconds, for what ended meanwhile; thirteen months are
-- kept. What says of no tenant is counted under '', so that all rows of a day sum to all that was done.
create table tuntas.usage (
  day date not null,
  work text not null,
  tenant text not null,
  uses bigint not null,
  seconds float8 not null,
  primary key (day, work, tenant)
);
comment on table tuntas.usage is 'observability: What each tenant has used: attempts of workers and requests, and the time that they took.';
