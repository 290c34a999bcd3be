-- More partitions of a stream that exists. From its seam on a partition has records whose keys were in others before: whoever
-- reads it waits there until he has read those, up to theirs.
create table tuntas.stream_seam (
  stream_id integer not null references tuntas.stream (id) on delete cascade,
  seam integer not null,
  -- How many partitions there were before.
  partitions integer not null,
  -- By partition, those that came with it included: the offset from which on it has the keys that are its own since.
  offsets bigint[] not null,
  primary key (stream_id, seam)
);
comment on table tuntas.stream_seam is 'control: Where streams got more partitions: the offset of each from which on it has other keys.';

-- Up to which offset a consumer may read a partition, without it: the next seam, or where it stands at one while it has not read
-- all that the partitions have before it whose keys may be here now. Null where there is none.
create function tuntas.stream_until(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint) returns bigint
  language sql stable as $$
  select min(u.until) from (
    select s.offsets[of_partition + 1] as until from tuntas.stream_seam s
    where s.stream_id = of_stream and s.offsets[of_partition + 1] > from_offset
    union all
    select from_offset from tuntas.stream_seam s where s.stream_id = of_stream and s.offsets[of_partition + 1] <= from_offset and exists (
      select from tuntas.stream_checkpoint c where c.consumer_id = of_consumer and c.partition < s.partitions
        -- Their ranges of the hash overlap.
        and c.partition * cardinality(s.offsets) < (of_partition + 1) * s.partitions
        and of_partition * s.partitions < (c.partition + 1) * cardinality(s.offsets)
        and c.next_offset < s.offsets[c.partition + 1])) u
$$;

-- Waits for transactions that have appended and are open: their records belong before the seam. Nobody else's append is under
-- way then, and none goes on with the old number.
create function tuntas.stream_widen(of_stream integer, into_partitions integer) returns void language plpgsql set lock_timeout = '5s' as $$
declare
  before integer;
begin
  select s.partitions into before from tuntas.stream s where s.id = of_stream for update;
  if before is null or before >= into_partitions then return; end if;
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

-- As before, for whoever knows how many partitions there are; where there are more by now it appends nothing, and answers how many
-- in the place of an offset.
drop function tuntas.stream_append(integer, integer[], text[], text[]);
create function tuntas.stream_append(of_stream integer, known integer, partitions integer[], keys text[], bodies text[])
  returns table (partition integer, first_offset bigint) language plpgsql as $$
declare
  each integer;
  last integer;
  there integer;
begin
  -- All in one order, so that no two wait for each other.
  perform from tuntas.stream_partition p where p.stream_id = of_stream and p.partition = any (stream_append.partitions) order by p.partition for update;
  for each in select distinct a.partition from unnest(stream_append.partitions) as a(partition) where exists (
      select from tuntas.stream_arrival b where b.stream_id = of_stream and b.partition = a.partition)
  loop
    perform tuntas.stream_sequence(of_stream, each);
  end loop;
  select s.segment, s.partitions into last, there from tuntas.stream s where s.id = of_stream;
  if last is null then return; end if;
  if there <> known then
    return query select -1, there::bigint;
    return;
  end if;
  return query execute format('with given as materialized (
      select g.partition, g.key, g.body, row_number() over (partition by g.partition order by g.place) - 1 as step
      from unnest($2, $3, $4) with ordinality as g(partition, key, body, place)
    ), moved as materialized (
      update tuntas.stream_partition p set next_offset = p.next_offset + c.count
      from (select g.partition, count(*) as count from given g group by g.partition) c
      where p.stream_id = $1 and p.partition = c.partition returning p.partition, p.next_offset - c.count as first
    ), kept as (
      insert into tuntas.stream_record_%s_%s (partition, "offset", key, body, appended_at)
      select g.partition, m.first + g.step, g.key, g.body, tuntas.now() from given g join moved m on m.partition = g.partition
    )
    select m.partition, m.first from moved m', of_stream, last)
    using of_stream, stream_append.partitions, keys, bodies;
end $$;
