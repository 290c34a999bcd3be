-- Processes of the version before seams, beside those of this one while they are replaced: they know of one number of partitions and
-- of no seam. Until a stream has one they go on as they were; from there on they append nothing, aloud, and read nothing.

-- By how many partitions its place was worked out; null where an older process has appended it.
alter table tuntas.stream_arrival add column known integer;

create function tuntas.stream_refuse_older(of_stream integer) returns void language plpgsql stable as $$
begin
  if exists (select from tuntas.stream_seam s where s.stream_id = of_stream) then
    raise exception 'stream % has more partitions than this process knows of', (select s.name from tuntas.stream s where s.id = of_stream)
      using errcode = 'object_not_in_prerequisite_state', hint = 'Its version of Tuntas is older than others that run: replace it.';
  end if;
end $$;

-- The foreign key's lock comes first: whoever adds partitions waits for this transaction, or this one for him.
create function tuntas.stream_older_arrival() returns trigger language plpgsql as $$
begin
  perform from tuntas.stream s where s.id = new.stream_id for key share;
  perform tuntas.stream_refuse_older(new.stream_id);
  return new;
end $$;
create trigger older before insert on tuntas.stream_arrival for each row when (new.known is null) execute function tuntas.stream_older_arrival();

create function tuntas.stream_append(of_stream integer, partitions integer[], keys text[], bodies text[])
  returns table (partition integer, first_offset bigint) language plpgsql as $$
begin
  return query select a.partition, a.first_offset from tuntas.stream_append(of_stream,
    (select s.partitions from tuntas.stream s where s.id = of_stream), stream_append.partitions, keys, bodies) a where a.partition >= 0;
  -- Nobody adds partitions under the locks that it holds by now.
  perform tuntas.stream_refuse_older(of_stream);
end $$;

-- What a consumer may read, by one snapshot: a record behind a seam is not seen without the seam.
create function tuntas.stream_read(of_consumer integer, of_stream integer, of_partition integer, from_offset bigint, most integer)
  returns table ("offset" bigint, key text, body text, appended_at timestamptz) language plpgsql as $$
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset,
    least(most, coalesce(tuntas.stream_until(of_consumer, of_stream, of_partition, from_offset) - from_offset, most))::integer) r;
end $$;

-- As older processes read: up to the first seam, where they wait until another takes the partition.
create or replace function tuntas.stream_read(of_stream integer, of_partition integer, from_offset bigint, most integer)
  returns table ("offset" bigint, key text, body text, appended_at timestamptz) language plpgsql as $$
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset,
    least(most, greatest(0, coalesce((select s.offsets[of_partition + 1] from tuntas.stream_seam s where s.stream_id = of_stream
      order by s.seam limit 1) - from_offset, most)))::integer) r;
end $$;
