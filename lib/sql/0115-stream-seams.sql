-- As before, over several seams: who comes after one waits for all whose keys may be here, by each seam up to it. Where nothing had come
-- to a partition between two, it was past the second without having been let past the first, and so was who waited for it.
create or replace function tuntas.stream_until(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint) returns bigint
  language sql stable as $$
  select min(u.until) from (
    select s.offsets[of_partition + 1] as until from tuntas.stream_seam s
    where s.stream_id = of_stream and s.offsets[of_partition + 1] > from_offset
    union all
    select from_offset from tuntas.stream_seam s join tuntas.stream_seam e on e.stream_id = s.stream_id and e.seam <= s.seam
    where s.stream_id = of_stream and s.offsets[of_partition + 1] <= from_offset and exists (
      select from tuntas.stream_checkpoint c where c.consumer_id = of_consumer and c.partition < e.partitions
        -- Their ranges of the hash overlap.
        and c.partition * cardinality(s.offsets) < (of_partition + 1) * e.partitions
        and of_partition * e.partitions < (c.partition + 1) * cardinality(s.offsets)
        and c.next_offset < e.offsets[c.partition + 1])) u
$$;

-- As before, with the consumers held as they are: one that is forgotten meanwhile gets no checkpoints. They come before the partitions,
-- as for whoever rewinds one, so that neither waits for the other.
create or replace function tuntas.stream_widen(of_stream integer, into_partitions integer) returns void language plpgsql set lock_timeout = '5s' as $$
declare
  before integer;
begin
  select s.partitions into before from tuntas.stream s where s.id = of_stream for update;
  if before is null or before >= into_partitions then return; end if;
  perform from tuntas.stream_consumer k where k.stream_id = of_stream order by k.id for key share;
  perform from tuntas.stream_partition p where p.stream_id = of_stream order by p.partition for update;
  while exists (select from tuntas.stream_arrival a where a.stream_id = of_stream) loop
    perform tuntas.stream_sequence(of_stream, p) from generate_series(0, before - 1) p;
  end loop;
  insert into tuntas.stream_partition (stream_id, partition) select of_stream, n from generate_series(before, into_partitions - 1) n;
  insert into tuntas.stream_seam (stream_id, seam, partitions, offsets)
  select of_stream, (select count(*) from tuntas.stream_seam s where s.stream_id = of_stream), before, array_agg(p.next_offset order by p.partition)
  from tuntas.stream_partition p where p.stream_id = of_stream;
  insert into tuntas.stream_checkpoint (consumer_id, partition, stream_id, next_offset, reached, moved_at)
  select k.id, n, of_stream, 0, 0, tuntas.now() from tuntas.stream_consumer k, generate_series(before, into_partitions - 1) n
  where k.stream_id = of_stream;
  update tuntas.stream s set partitions = into_partitions where s.id = of_stream;
  perform tuntas.stream_roll(of_stream);
end $$;
