-- How long handlers took, by queue, hour and size: bucket n holds what took up to 2^(n/4) ms. Processes add to it once a
-- minute, for what ran meanwhile; a week is kept.
create table tuntas.handler_duration (
  queue text not null,
  hour timestamptz not null,
  bucket smallint not null,
  attempts bigint not null,
  primary key (queue, hour, bucket)
);
create index handler_duration_hour on tuntas.handler_duration (hour);
