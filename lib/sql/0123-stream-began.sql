-- From which offset on a consumer has read without a gap: it may take another's place only where that one has read up to there.
alter table tuntas.stream_checkpoint
  add column began bigint not null default 0;

-- Of those that there are nobody knows it any more; what they read next is certain.
update tuntas.stream_checkpoint set began = next_offset;

-- As before, and whoever finds that he must wait at a seam is noted as waiting: once it opens, his last move may be long past, and
-- he would be taken for blocked before he has looked again.
create or replace function tuntas.stream_read(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint, most integer)
  returns table ("offset" bigint, key text, body text, appended_at timestamptz) language plpgsql as $$
declare
  until bigint;
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  until := tuntas.stream_until(of_consumer, of_stream, of_partition, from_offset);
  if until <= from_offset then
    update tuntas.stream_checkpoint c set waiting_at = tuntas.now() where c.consumer_id = of_consumer and c.partition = of_partition;
    return;
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset, least(most, coalesce(until - from_offset, most))::integer) r;
end $$;
