-- Streams: records in partitions, in the order of their commits, each read by any number of consumers from a checkpoint.
create table tuntas.stream (
  id integer generated always as identity primary key,
  name text not null unique,
  -- What records are partitioned by.
  key_meaning text not null,
  partitions integer not null check (partitions between 1 and 256),
  retention interval not null,
  owner text not null,
  runbook text not null,
  -- What is appended to; the last of its segments.
  segment integer not null default 0
);
comment on table tuntas.stream is 'control: Streams: what they are partitioned by, how long records are kept, who answers for them.';

create table tuntas.stream_partition (
  stream_id integer not null references tuntas.stream (id) on delete cascade,
  partition integer not null,
  -- What the next record gets. Whoever gives offsets holds this row until the commit: so they become visible in their
  -- order, and none is missing.
  next_offset bigint not null default 0,
  primary key (stream_id, partition)
) with (fillfactor = 50);
comment on table tuntas.stream_partition is 'control: Partitions of streams: the offset that the next record gets.';

-- A segment is a table of its own, stream_record_STREAM_SEGMENT, so that what has had its time is dropped and not deleted.
create table tuntas.stream_segment (
  stream_id integer not null references tuntas.stream (id) on delete cascade,
  segment integer not null,
  -- By partition.
  first_offsets bigint[] not null,
  began_at timestamptz not null,
  primary key (stream_id, segment)
);
comment on table tuntas.stream_segment is 'control: Segments of streams: the offsets and the instant from which each has the records.';

create table tuntas.stream_record (
  partition integer not null,
  "offset" bigint not null,
  key text not null,
  body text not null,
  appended_at timestamptz not null,
  primary key (partition, "offset")
);
comment on table tuntas.stream_record is 'domain: The form of the segments, which hold the records of streams; empty itself.';

-- What transactions of others append has no offset yet: nobody knows when they commit. Whoever looks next gives it one.
create table tuntas.stream_arrival (
  stream_id integer not null references tuntas.stream (id) on delete cascade,
  partition integer not null,
  id bigint generated always as identity,
  key text not null,
  body text not null,
  appended_at timestamptz not null,
  primary key (stream_id, partition, id)
);
comment on table tuntas.stream_arrival is 'domain: Records that were appended in transactions of their callers, until they get their offsets.';

create table tuntas.stream_consumer (
  id integer generated always as identity primary key,
  stream_id integer not null references tuntas.stream (id) on delete cascade,
  name text not null,
  on_bad_record text not null check (on_bad_record in ('park', 'stop')),
  timeout interval not null,
  lag_within interval not null,
  unique (stream_id, name)
);
comment on table tuntas.stream_consumer is 'control: Consumers of streams, and how far behind each may be.';

create table tuntas.stream_checkpoint (
  consumer_id integer not null references tuntas.stream_consumer (id) on delete cascade,
  partition integer not null,
  stream_id integer not null,
  -- What it reads next; written in the commit of the handler's writes.
  next_offset bigint not null,
  -- The furthest it has ever been; what it reads before that is a replay.
  reached bigint not null,
  -- New with each owner and each rewind: who settles must still hold it.
  fence bigint not null default 0,
  owner_id bigint,
  moved_at timestamptz not null,
  -- Of the record that it stands at.
  attempts integer not null default 0,
  retry_at timestamptz,
  code text,
  reason text,
  stopped_at timestamptz,
  primary key (consumer_id, partition)
) with (fillfactor = 50);
create index stream_checkpoint_owner on tuntas.stream_checkpoint (owner_id) where owner_id is not null;
comment on table tuntas.stream_checkpoint is 'control: How far each consumer has read each partition, and which process reads it now.';

create table tuntas.stream_member (
  consumer_id integer not null references tuntas.stream_consumer (id) on delete cascade,
  process_id bigint not null references tuntas.process (id) on delete cascade,
  primary key (consumer_id, process_id)
);
create index stream_member_process on tuntas.stream_member (process_id);
comment on table tuntas.stream_member is 'control: Processes that share the partitions of a consumer among them.';

create table tuntas.stream_parked (
  id bigint generated always as identity primary key,
  consumer_id integer not null references tuntas.stream_consumer (id) on delete cascade,
  partition integer not null,
  "offset" bigint not null,
  key text not null,
  body text not null,
  attempts integer not null,
  code text not null,
  reason text not null,
  parked_at timestamptz not null,
  -- Since when somebody wants it handled again.
  replay_at timestamptz,
  unique (consumer_id, partition, "offset")
);
create index stream_parked_replay on tuntas.stream_parked (consumer_id, partition) where replay_at is not null;
comment on table tuntas.stream_parked is 'domain: Records that a consumer could not handle and has gone past, with the reason.';

-- The records from an offset on, as the caller's snapshot has them.
create function tuntas.stream_peek(of_stream integer, of_partition integer, from_offset bigint, most integer)
  returns table ("offset" bigint, key text, body text, appended_at timestamptz) language plpgsql stable as $$
declare
  each integer;
  found bigint;
  missing integer := most;
begin
  for each in select s.segment from tuntas.stream_segment s where s.stream_id = of_stream and s.segment >= coalesce(
      (select max(b.segment) from tuntas.stream_segment b where b.stream_id = of_stream and b.first_offsets[of_partition + 1] <= from_offset), 0)
    order by s.segment
  loop
    return query execute format('select r."offset", r.key, r.body, r.appended_at from tuntas.stream_record_%s_%s r
        where r.partition = $1 and r."offset" >= $2 order by r."offset" limit $3', of_stream, each)
      using of_partition, from_offset, missing;
    get diagnostics found = row_count;
    missing := missing - found;
    exit when missing <= 0;
  end loop;
end $$;

-- Gives arrivals of a partition their offsets. Its row is held before what has arrived is looked at, so that of two who
-- come at once the second sees what the first has done.
create function tuntas.stream_sequence(of_stream integer, of_partition integer) returns void language plpgsql as $$
declare
  last integer;
begin
  perform from tuntas.stream_partition p where p.stream_id = of_stream and p.partition = of_partition for update;
  select s.segment into last from tuntas.stream s where s.id = of_stream;
  execute format('with gone as (
      delete from tuntas.stream_arrival a where a.stream_id = $1 and a.partition = $2 and a.id = any (array(
        select b.id from tuntas.stream_arrival b where b.stream_id = $1 and b.partition = $2 order by b.id limit 5000))
      returning a.id, a.key, a.body
    ), moved as (
      update tuntas.stream_partition p set next_offset = p.next_offset + (select count(*) from gone)
      where p.stream_id = $1 and p.partition = $2 returning p.next_offset - (select count(*) from gone) as first
    )
    insert into tuntas.stream_record_%s_%s (partition, "offset", key, body, appended_at)
    select $2, m.first + row_number() over (order by g.id) - 1, g.key, g.body, tuntas.now() from gone g, moved m', of_stream, last)
    using of_stream, of_partition;
end $$;

-- Gives what has arrived its offsets, then answers the records from an offset on.
create function tuntas.stream_read(of_stream integer, of_partition integer, from_offset bigint, most integer)
  returns table ("offset" bigint, key text, body text, appended_at timestamptz) language plpgsql as $$
begin
  if exists (select from tuntas.stream_arrival a where a.stream_id = of_stream and a.partition = of_partition) then
    perform tuntas.stream_sequence(of_stream, of_partition);
  end if;
  return query select r.* from tuntas.stream_peek(of_stream, of_partition, from_offset, most) r;
end $$;

-- Appends records, behind what has arrived; answers the first offset of each partition.
create function tuntas.stream_append(of_stream integer, partitions integer[], keys text[], bodies text[])
  returns table (partition integer, first_offset bigint) language plpgsql as $$
declare
  each integer;
  last integer;
begin
  -- All in one order, so that no two wait for each other.
  perform from tuntas.stream_partition p where p.stream_id = of_stream and p.partition = any (partitions) order by p.partition for update;
  for each in select distinct a.partition from unnest(partitions) as a(partition) where exists (
      select from tuntas.stream_arrival b where b.stream_id = of_stream and b.partition = a.partition)
  loop
    perform tuntas.stream_sequence(of_stream, each);
  end loop;
  select s.segment into last from tuntas.stream s where s.id = of_stream;
  if last is null then return; end if;
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
    using of_stream, partitions, keys, bodies;
end $$;

-- Begins a segment: whoever appends from now on finds it.
create function tuntas.stream_roll(of_stream integer) returns integer language plpgsql as $$
declare
  upcoming integer;
begin
  perform from tuntas.stream_partition p where p.stream_id = of_stream order by p.partition for update;
  update tuntas.stream s set segment = s.segment + 1 where s.id = of_stream returning s.segment into upcoming;
  execute format('create table tuntas.stream_record_%s_%s (like tuntas.stream_record including all)', of_stream, upcoming);
  insert into tuntas.stream_segment (stream_id, segment, first_offsets, began_at)
  select of_stream, upcoming, array_agg(p.next_offset order by p.partition), tuntas.now()
  from tuntas.stream_partition p where p.stream_id = of_stream;
  return upcoming;
end $$;
