-- Whose place has been taken: a deployment from before, which begins again, would declare that consumer anew, and it would read
-- all that its successor has read.
create table tuntas.stream_succession (
  stream_id integer not null references tuntas.stream on delete cascade,
  name text not null,
  successor text not null,
  swapped_at timestamptz not null,
  primary key (stream_id, name)
);
comment on table tuntas.stream_succession is 'control: Consumers of streams whose place another has taken: they are not declared again.';
